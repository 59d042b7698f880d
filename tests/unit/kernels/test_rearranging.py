"""What TensorFlow Lite makes of operators that TensorFlow Lite Micro lacks."""

import numpy as np

from tests.support.kernels.drawing import Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc


def tiled(example: Case) -> Array:
    return np.tile(example.inputs[0], example.graph.tensors[1].as_array())


@needs_gcc
def test_tiles_equal_those_of_tensorflow_lite(runner: Runner) -> None:
    for number, example in enumerate(draw("TILE")):
        (output,) = runner.run(example.graph, kernel_of(example), example.inputs)
        np.testing.assert_array_equal(output, tiled(example), f"case {number}")
