"""Pixels that lie apart: convolutions read and write channels of wider images, and make the same."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.kernels.drawing import pick, span
from tests.support.kernels.driver import Runner
from tests.support.kernels.samples import draw, first_kernel, kernel_of
from tests.support.tools import needs_gcc
from usmp_build.interfaces.kernels import Input, Output
from usmp_build.ir.graph import Subgraph

SOURCES = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 0, "TRANSPOSE_CONV": 2}
"""Which input is the image."""

pytestmark = needs_gcc


@pytest.mark.parametrize("kind", SOURCES)
def test_channels_of_wider_images_are_convolved_alike(
    kind: str, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_constant_weights = (case for case in draw(kind) if len(case.inputs) == 1)
    for number, case in enumerate(with_constant_weights):
        r, graph = np.random.default_rng(number), case.graph
        (image,) = case.inputs
        wider = {graph.inputs[0]: span(r, 1, 5), graph.outputs[0]: pick(r, [0, span(r, 1, 5)])}
        shapes = {
            index: (*graph.tensors[index].shape[:-1], graph.tensors[index].shape[-1] + wider[index]) for index in wider
        }
        pitches = {index: shapes[index][-1] * graph.tensors[index].dtype.bits // 8 for index in wider}
        with monkeypatch.context() as patched:
            patched.setattr(Subgraph, "pitches", pitches)  # in place of what follows from views of wider images
            kernel = first_kernel(graph)
        assert kernel.pitched == {Input(SOURCES[kind]), Output(0)}
        around = np.full(shapes[graph.inputs[0]], 77, image.dtype)
        around[..., : image.shape[-1]] = image
        whole = [replace(each, shape=shapes.get(i, each.shape)) for i, each in enumerate(graph.tensors)]
        (expected,) = runner.run(graph, kernel_of(case), case.inputs)
        assert kernel.backward is not None
        for each in (kernel, kernel.backward):
            (output,) = runner.run(replace(graph, tensors=tuple(whole)), each, (around,))
            np.testing.assert_array_equal(output[..., : expected.shape[-1]], expected, f"case {number}")
