"""Drawing images and the windows over them."""

from tests.support.kernels.drawing import Random, pick, span
from usmp_build.ir import options as o


def slid(padding: o.Padding, size: int, reach: int, stride: int) -> int:
    """Return how many places a window has; less than 1 when it does not fit."""
    return -(-size // stride) if padding is o.Padding.SAME else (size - reach) // stride + 1


def geometry(
    r: Random, most_dilation: int, most_taps: int = 4, most_pixels: int = 9
) -> tuple[o.Padding, tuple[int, int], tuple[int, int], dict[str, int], tuple[int, int]]:
    """Draw an image's size, a window over it, and the size of what comes out."""
    while True:
        padding = pick(r, list(o.Padding))
        size = span(r, 1, most_pixels), span(r, 1, most_pixels)
        kernel = span(r, 1, most_taps), span(r, 1, most_taps)
        numbers = {f"stride_{axis}": span(r, 1, 3) for axis in "hw"}
        numbers |= {f"dilation_{axis}": pick(r, [1, 1, span(r, 1, most_dilation)]) for axis in "hw"}
        reach = [(k - 1) * numbers[f"dilation_{axis}"] + 1 for k, axis in zip(kernel, "hw", strict=True)]
        result = [slid(padding, s, c, numbers[f"stride_{a}"]) for s, c, a in zip(size, reach, "hw", strict=True)]
        if min(result) >= 1:
            return padding, size, kernel, numbers, (result[0], result[1])
