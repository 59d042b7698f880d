"""Random models of operators that resize images; see `cases`."""

from collections.abc import Callable, Sequence

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Case, Random, activation, case, constant, pick, span
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Options
from usmp_build.operators.resizing import ResizeBilinear, ResizeNearest


def resized(kind: str, options: Callable[..., Options], dtypes: Sequence[DType]) -> Callable[[Random], Case]:
    """Any sizes; mostly multiples of each other, or once as high and wide again less one."""

    def make(r: Random) -> Case:
        dtype = pick(r, dtypes)
        images, channels = pick(r, [1, 1, 2]), span(r, 1, 5)
        before = span(r, 1, 7), span(r, 1, 7)
        factor = pick(r, [1, 2, 2, 2, 3, 4])
        ways = [lambda size: size * factor, lambda size: size * factor - factor + 1, lambda _: span(r, 1, 20)]
        after = [pick(r, ways)(size) for size in before]
        if r.integers(5) == 0:
            before, after = (after[0], after[1]), [*before]
        source = activation("x", (images, *before, channels), dtype, 0.1, 3)
        output = activation("y", (images, *after, channels), dtype, 0.1, 3)
        aligned, centered = pick(r, [(False, True), (False, True), (False, False), (True, False)])
        if kind == "RESIZE_NEAREST_NEIGHBOR" and r.integers(8) == 0:
            aligned = centered = True
        sizes = constant("size", np.array(after, np.int32))
        return case(r, kind, (source, sizes), output, options(align_corners=aligned, half_pixel_centers=centered))

    return make


CASES: dict[str, Callable[[Random], Case]] = {
    "RESIZE_BILINEAR": resized("RESIZE_BILINEAR", ResizeBilinear, [INT8, INT8, FLOAT]),
    "RESIZE_NEAREST_NEIGHBOR": resized("RESIZE_NEAREST_NEIGHBOR", ResizeNearest, [INT8, INT16, FLOAT]),
}
