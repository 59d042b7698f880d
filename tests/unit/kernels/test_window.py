"""Windows: how many of their taps are pixels."""

from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.kernels.window import Slide

SMALL = st.integers(1, 6)


@settings(deadline=None)
@given(size=SMALL, window=SMALL, stride=SMALL, dilation=SMALL, output=SMALL, before=st.integers(0, 6))
def test_pixels_inside_are_those_that_one_counts(
    size: int, window: int, stride: int, dilation: int, output: int, before: int
) -> None:
    slide = Slide(size, output, window, stride, dilation, before)
    pixels = [slide.first(position) + tap * dilation for position in range(output) for tap in range(window)]
    assert slide.inside == sum(0 <= pixel < size for pixel in pixels)


@settings(deadline=None)
@given(size=SMALL, window=SMALL, stride=SMALL, output=SMALL, before=st.integers(0, 6))
def test_a_transposed_window_slides_along_outputs(
    size: int, window: int, stride: int, output: int, before: int
) -> None:
    slide = Slide(size, output, window, stride, before=before, is_transposed=True)
    reached = [pixel * stride - before + tap for pixel in range(size) for tap in range(window)]
    assert slide.inside == sum(0 <= place < output for place in reached)
