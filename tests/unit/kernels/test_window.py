"""Windows: how many of their taps are pixels."""

from hypothesis import given
from hypothesis import strategies as st

from usmp_build.kernels.window import Slide, taps_inside

SMALL = st.integers(1, 6)


@given(size=SMALL, window=SMALL, stride=SMALL, dilation=SMALL, output=SMALL, before=st.integers(0, 6))
def test_taps_inside_are_those_that_one_counts(
    size: int, window: int, stride: int, dilation: int, output: int, before: int
) -> None:
    pixels = [place * stride - before + tap * dilation for place in range(output) for tap in range(window)]
    counted = sum(0 <= pixel < size for pixel in pixels)
    assert taps_inside(Slide(output, before), size, window, stride, dilation) == counted
