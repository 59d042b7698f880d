"""What TensorFlow Lite makes of operators that TensorFlow Lite Micro lacks."""

from __future__ import annotations

import numpy as np

from tests.support.kernels.drawing import Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc


def tiled(made: Case) -> Array:
    return np.tile(made.inputs[0], made.graph.tensors[1].as_array())


@needs_gcc
def test_tiles_equal_those_of_tensorflow_lite(runner: Runner) -> None:
    for number, made in enumerate(draw("TILE")):
        (output,) = runner.run(made.graph, kernel_of(made), made.inputs)
        np.testing.assert_array_equal(output, tiled(made), f"case {number}")
