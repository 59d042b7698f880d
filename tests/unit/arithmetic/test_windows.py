"""Windows along an axis, counted pixel by pixel."""

from hypothesis import given
from hypothesis import strategies as st

from usmp_build.arithmetic.windows import places_in_frame, reach, same_padding, sees_pixels

SMALL = st.integers(1, 9)


@given(size=SMALL, window=SMALL, dilation=SMALL, stride=SMALL)
def test_same_pads_what_hangs_over(size: int, window: int, dilation: int, stride: int) -> None:
    """The last place begins at the last multiple of the stride; what pads is halved, the odd pixel behind."""
    whole = reach(window, dilation)
    before, behind = same_padding(size, whole, stride)
    last = max(start for start in range(size) if start % stride == 0)
    assert before + behind == max(0, last + whole - size)
    assert behind - before in (0, 1)


@given(size=SMALL, before=SMALL, behind=SMALL, whole=SMALL, stride=SMALL)
def test_windows_in_a_frame(size: int, before: int, behind: int, whole: int, stride: int) -> None:
    starts = [start for start in range(before + size + behind) if start % stride == 0]
    inside = [start for start in starts if start + whole <= before + size + behind]
    assert places_in_frame(size, (before, behind), whole, stride) == len(inside)
    covered = [range(max(start, before), min(start + whole, before + size)) for start in inside]
    if inside:
        assert sees_pixels(size, before, len(inside), whole, stride) == all(covered)
