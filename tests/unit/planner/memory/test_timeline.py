"""Which arrays are a timeline: none that would be planned wrongly."""

import numpy as np
import numpy.typing as npt
import pytest

from usmp_build.planner.memory.timeline import Timeline, most_together
from usmp_build.units import MAX_SUM

GOOD = {"lower": [0, 1], "upper": [2, 2], "size": [8, 0], "alignment": [1, 16]}


def stated(columns: dict[str, list[int]]) -> Timeline:
    return Timeline(**{name: np.array(column, np.int64) for name, column in columns.items()})


def test_the_peak_is_where_the_topmost_buffer_ends() -> None:
    assert stated(GOOD).peak(np.array([16, 20])) == 24
    assert stated(GOOD).peak(np.array([16, 32])) == 32
    assert stated({name: [] for name in GOOD}).peak(np.zeros(0, np.int64)) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"upper": [2, 1]}, "alive for a step"),
        ({"upper": [2, 0]}, "alive for a step"),
        ({"size": [8, -1]}, "no size is negative"),
        ({"alignment": [1, 0]}, "powers of two"),
        ({"alignment": [1, 3]}, "powers of two"),
        ({"alignment": [1, -4]}, "powers of two"),
        ({"size": [8]}, '"size" has to be an array of int64'),
        ({"alignment": [1, 1, 1]}, '"alignment" has to be an array of int64'),
    ],
)
def test_what_no_buffer_has_is_refused(change: dict[str, list[int]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stated(GOOD | change)


def test_other_numbers_are_refused_although_there_are_as_many() -> None:
    columns: dict[str, npt.NDArray[np.int32]] = {name: np.array(column, np.int32) for name, column in GOOD.items()}
    with pytest.raises(ValueError, match='"lower" has to be an array of int64'):
        Timeline(**columns)  # type: ignore[arg-type]


def test_all_sizes_and_alignments_can_be_added_up_as_often_as_there_are_buffers() -> None:
    assert most_together(1) == most_together(64) == MAX_SUM // 64
    assert most_together(65) == MAX_SUM // 65
    most = most_together(2) - sum(GOOD["alignment"])
    assert stated(GOOD | {"size": [most - 1, 1]}).size.sum() == most
    with pytest.raises(ValueError, match="added up in 64 bits"):
        stated(GOOD | {"size": [most, 1]})
