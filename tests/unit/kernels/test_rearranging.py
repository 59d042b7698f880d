"""What TensorFlow Lite makes of operators that TensorFlow Lite Micro lacks, or does not define."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.kernels.drawing import Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc


def tiled(made: Case) -> Array:
    return np.tile(made.inputs[0], made.graph.tensors[1].as_array())


def in_batches(made: Case) -> Array:
    """A border of the output's zero point, of which TensorFlow Lite Micro sets no number; then blocks."""
    source, output = made.graph.tensors[0], made.graph.tensors[-1]
    blocks, borders = (made.graph.tensors[position].as_array() for position in (1, 2))
    around = [(0, 0), *map(tuple, borders), (0, 0)]
    zero = output.quantization.zero_points[0] if output.quantization else 0
    whole = np.pad(made.inputs[0], around, constant_values=zero)
    shape = [source.shape[0]]
    for size, block in zip(whole.shape[1:], blocks, strict=False):
        shape += [size // block, block]
    places = [*range(2, len(shape), 2)]
    others = [axis for axis in range(len(shape)) if axis not in places]
    return whole.reshape(*shape, -1).transpose(*places, *others, len(shape)).reshape(output.shape)


@needs_gcc
@pytest.mark.parametrize(("kind", "expected"), [("SPACE_TO_BATCH_ND", in_batches), ("TILE", tiled)])
def test_outputs_equal_those_of_tensorflow_lite(kind: str, expected: Callable[[Case], Array], runner: Runner) -> None:
    for number, made in enumerate(draw(kind)):
        (output,) = runner.run(made.graph, kernel_of(made), made.inputs)
        np.testing.assert_array_equal(output, expected(made), f"case {number}")
