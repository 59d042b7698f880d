"""Models of one operator of int16 that LiteRT runs, and TensorFlow Lite Micro does not."""

from dataclasses import replace

import numpy as np

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import INT8, INT16, Case, activation, case
from tests.support.kernels.pictures import REDUCED, pictures
from usmp_build.operators.unary import Gelu

WIDENED = ("REDUCE_MAX", "REDUCE_MIN", "RESIZE_BILINEAR")
"""Kinds whose int16 is computed as their int8 is."""
INTERPOLATED = ("EXP", "GELU", "LOG")


def widened(example: Case) -> Case | None:
    """Return a case of int8 with int16 in its place; None for cases of other types."""
    if example.inputs[0].dtype != np.int8:
        return None
    tensors = (replace(each, dtype=INT16) if each.dtype is INT8 else each for each in example.graph.tensors)
    return Case(replace(example.graph, tensors=tuple(tensors)), (example.inputs[0].astype(np.int16),))


def of_int16(kind: str, scale: float = 1 / 8192, output_scale: float = 1 / 512) -> Case:
    """Return a function of all int16: with the scales that are the default, from -4 to 4, with values up to 64."""
    given = np.arange(-32768, 32768).astype(np.int16).reshape(2, 32768)
    source, output = (activation(n, given.shape, INT16, s, 0) for n, s in (("x", scale), ("y", output_scale)))
    example = case(np.random.default_rng(1), kind, (source,), output, Gelu() if kind == "GELU" else None)
    return Case(example.graph, (given,))


def cases() -> list[Case]:
    """Return cases of all these kinds, also of images."""
    drawn = [CASES[kind](np.random.default_rng(seed)) for kind in WIDENED for seed in range(12)]
    images = [example for kind in REDUCED for example in pictures(kind, 12)]
    wide = (widened(example) for example in (*drawn, *images))
    return [*(example for example in wide if example), *(of_int16(kind) for kind in (*INTERPOLATED, "SQRT"))]
