"""Operators that add up in scratch: each row once, with room for the sums, which nothing overwrites too early."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]

POOL = fb.Node("Pool2DOptions", Padding=1, StrideH=1, StrideW=1, FilterHeight=3, FilterWidth=2)
AVERAGE = fb.write(
    fb.model(
        fb.subgraph(
            [fb.tensor("x", [1, 3, 2, 2]), fb.tensor("y", [1, 1, 1, 2])],
            [fb.operator("AVERAGE_POOL_2D", [0], [1], POOL)], [0], [1],
        )
    )
)  # fmt: skip
STEPS = [f"AVERAGE_POOL_2D 0, row {row}" for row in range(3)]


def added_up(steps: Sequence[str], y: int = 12, written: int = 0, others: Sequence[str] = (), **sums: Any) -> str:
    """Check a mean over three rows, which are added up one by one; y is alive from step `written` on."""
    scratch = [draft.buffer(name, 40, 4, kind="scratch", alignment=4) for name in ("sums", *others)]
    scratch[0] |= {"offset": 16, "size": 8} | sums
    buffers = [draft.buffer("x", 0, 12, kind="input"), draft.buffer("y", y, 2, kind="output"), *scratch]
    for buffer in buffers:
        buffer["intervals"] = [[written if buffer["name"] == "y" else 0, len(steps) + 2]]
    tensors = [draft.tensor(0, "x"), draft.tensor(1, "y")]
    model = draft.model([draft.operator(0, [0], [1], "sums", *others)], tensors)
    return draft.verdict(draft.plan(["enter", *steps, "leave"], [model], buffers), AVERAGE)


def test_each_row_is_added_up_once() -> None:
    assert added_up(STEPS) == added_up(STEPS[::-1]) == ""
    again = f'wrong: step 4, "m: {STEPS[1]}", does not add up each row once'
    assert added_up([*STEPS, STEPS[1]]) == again
    assert added_up(STEPS[:2]) == f'wrong: step 1, "m: {STEPS[0]}", does not add up each row once'


def test_sums_have_room() -> None:
    no_room = f'wrong: step 1, "m: {STEPS[0]}", needs scratch of 8 bytes at a multiple of 4'
    assert added_up(STEPS, size=7) == added_up(STEPS, offset=18, alignment=1) == no_room
    assert added_up(STEPS, alignment=2) == no_room
    assert added_up(STEPS, size=12) == ""


def test_sums_of_channels_that_are_left_out_need_no_room() -> None:
    graph = fb.subgraph(
        [fb.tensor("x", [1, 2, 1, 2]), fb.tensor("axes", [1], "INT32", Buffer=1),
         fb.tensor("a", [1, 1, 2]), fb.tensor("y", [1, 1, 2])],
        [fb.operator("MEAN", [0, 1], [2]), fb.operator("TANH", [2], [3])], [0], [3],
    )  # fmt: skip
    data = fb.write(fb.model(graph, data=[np.array([1], np.int32).tobytes()]))
    buffers = [
        draft.buffer("x", 0, 4, (0, 4)), draft.buffer("a", 4, 1, (0, 4)), draft.buffer("y", 8, 2, (0, 4)),
        draft.buffer("sums", 16, 4, (0, 4), kind="scratch", alignment=4),
    ]  # fmt: skip
    places = [draft.tensor(0, "x"), draft.tensor(2, "a", channels=[1]), draft.tensor(3, "y")]
    model = draft.model([draft.operator(0, [0], [2], "sums"), draft.operator(1, [2], [3])], places)
    plan = draft.plan(["enter", "MEAN 0", "TANH 1", "leave"], [model], buffers)
    assert draft.verdict(plan, data) == "not checked: m: that all channels of tensor 2 but [1] are constant"
    places[1]["channels"], buffers[1]["size"] = [], 2
    assert draft.verdict(plan, data) == 'wrong: step 1, "m: MEAN 0", needs scratch of 8 bytes at a multiple of 4'


def test_the_output_is_written_with_the_last_row() -> None:
    """Each element where sums have been read, all of it where the input was."""
    assert added_up(STEPS, written=3) == added_up(STEPS, y=0) == added_up(STEPS, y=11) == ""
    last = f'step 3, "m: {STEPS[2]}",'
    assert added_up(STEPS, written=4) == f'wrong: {last} touches "y", which the plan says is not alive then'
    for y in range(15, 25):
        assert added_up(STEPS, y=y) == (f"wrong: {last} overwrites sum 1 before it is read" if 20 <= y < 24 else "")
    assert added_up(STEPS, y=24, size=16) == ""
    assert (
        added_up(STEPS, y=16, others=["more"])
        == f'wrong: step 1, "m: {STEPS[0]}", needs scratch of 8 bytes at a multiple of 4'
    )


def rows(name: str, offsets: Sequence[int], size: int, *lives: tuple[int, int], **more: Any) -> Document:
    buffer = draft.buffer(name, 0, 0, *lives, **more)
    return buffer | {"offsets": [*offsets], "row_size": size}


def test_rows_that_are_added_up_may_arrive_in_one_place() -> None:
    arrivals = [f"row {row} of x arrives" for row in range(3)]

    def verdict(order: Sequence[int], width: str = "INT8") -> str:
        """Let the rows be added up in this order, each after the arrival of the row of that turn."""
        size = 4 if width == "INT8" else 8
        file = fb.subgraph(
            [fb.tensor("x", [1, 3, 2, 2], width), fb.tensor("y", [1, 1, 1, 2], width)],
            [fb.operator("AVERAGE_POOL_2D", [0], [1], POOL)], [0], [1],
        )  # fmt: skip
        steps = [each for turn, row in enumerate(order) for each in (arrivals[turn], STEPS[row])]
        lives = [(2 * row + 1, 2 * row + 3) for row in range(3)]
        buffers = [
            rows("x", [0, 0, 0], size, *lives, kind="input", alignment=2),
            draft.buffer("y", 32, 4, (6, 8), kind="output", alignment=2),
            draft.buffer("sums", 40, 8, (0, 8), kind="scratch", alignment=4),
        ]
        tensors = [draft.tensor(0, "x[0]"), draft.tensor(1, "y")]
        model = draft.model([draft.operator(0, [0], [1], "sums")], tensors, inputs_by_rows=["x"])
        return draft.verdict(draft.plan(["enter", *steps, "leave"], [model], buffers), fb.write(fb.model(file)))

    assert verdict([0, 1, 2]) == verdict([0, 1, 2], "INT16") == ""
    assert verdict([1, 0, 2]).startswith(f'wrong: step 2, "m: {STEPS[1]}", touches "x[1]"')
    assert verdict([0, 2, 1], "INT16").startswith(f'wrong: step 4, "m: {STEPS[2]}", touches "x[2]"')


def test_sums_stay_until_the_last_row() -> None:
    """Another operator writes between two rows, where the last byte of the sums is, or beside it."""
    graph = fb.subgraph(
        [fb.tensor("x", [1, 3, 2, 2]), fb.tensor("y", [1, 1, 1, 2]), fb.tensor("v", [2]), fb.tensor("w", [2])],
        [fb.operator("AVERAGE_POOL_2D", [0], [1], POOL), fb.operator("TANH", [2], [3])], [0, 2], [1, 3],
    )  # fmt: skip
    operators = [draft.operator(0, [0], [1], "sums"), draft.operator(1, [2], [3])]
    tensors = [draft.tensor(t, name) for t, name in enumerate("xyvw")]
    model = draft.model(operators, tensors, inputs=["x", "v"], outputs=["y", "w"])

    def verdict(w: int) -> str:
        places = (("x", 0, 12), ("y", 12, 2), ("v", 14, 2), ("w", w, 2))
        buffers = [draft.buffer(name, at, size, (0, 6)) for name, at, size in places]
        buffers.append(draft.buffer("sums", 20, 8, (0, 6), kind="scratch", alignment=4))
        steps = ["enter", STEPS[0], "TANH 1", *STEPS[1:], "leave"]
        return draft.verdict(draft.plan(steps, [model], buffers), fb.write(fb.model(graph)))

    assert verdict(18) == verdict(28) == ""
    for w in (19, 20, 27):
        assert verdict(w) == f'wrong: step 3, "m: {STEPS[1]}", needs its sums in "sums", which were overwritten'


def reduced(shape: Sequence[int], axis: int, y: int, backward: bool = False, kind: str = "MEAN", **sums: Any) -> str:
    """Check a mean along an axis, or another reduction, with y at this place; without any sums, it has no scratch."""
    kept = [n for i, n in enumerate(shape) if i != axis % len(shape)]
    graph = fb.subgraph(
        [fb.tensor("x", shape), fb.tensor("axis", [1], "INT32", Buffer=1), fb.tensor("y", kept)],
        [fb.operator(kind, [0, 1], [2])], [0], [2],
    )  # fmt: skip
    data = fb.write(fb.model(graph, data=[np.array([axis], np.int32).tobytes()]))
    operator = draft.operator(0, [0], [2], *(["sums"] if sums else []))
    model = draft.model([operator], [draft.tensor(0, "x"), draft.tensor(2, "y")], backward=[0] if backward else [])
    buffers = [draft.buffer("x", 0, prod(shape), (0, 3)), draft.buffer("y", y, prod(kept), (0, 3))]
    if sums:
        buffers.append(draft.buffer("sums", 32, 16, (0, 3), kind="scratch", alignment=4) | sums)
    return draft.verdict(draft.plan(["enter", f"{kind} 0", "leave"], [model], buffers), data)


def wrong_places(shape: Sequence[int], axis: int, *more: Any, **sums: Any) -> tuple[set[int], set[int]]:
    """Return where y may not be: because of the input, and because of the sums."""
    verdicts = {y: reduced(shape, axis, y, *more, **sums) for y in range(50)}
    places = {y for y, text in verdicts.items() if text}
    of_sums = {y for y in places if "overwrites sum" in verdicts[y]}
    assert all("before it has read it" in verdicts[y] for y in places - of_sums)
    return places - of_sums, of_sums


def test_a_reduction_with_sums_reads_an_image_before_it_writes() -> None:
    """Of one image, the output may be anywhere in the input; of two, the first must not be in the second image."""
    assert wrong_places([1, 2, 4], 1, size=16) == (set(), {*range(36, 48)})
    assert wrong_places([2, 2, 4], 1, size=16) == ({*range(5, 16)}, {*range(29, 48)})
    assert wrong_places([2, 2, 4], 1, True, size=16) == ({*range(4)}, {*range(25, 44)})


def test_without_sums_each_element_is_read_when_it_is_written() -> None:
    assert wrong_places([1, 2, 4], 1, False, "REDUCE_MAX") == ({1, 2, 3, 5, 6, 7}, set())


@pytest.mark.parametrize(
    ("shape", "axis", "size"),
    [([2, 2, 4], 1, 16), ([2, 1, 4], 1, 16), ([1, 2, 4], 0, 16)],
)
def test_sums_have_room_for_an_image(shape: Sequence[int], axis: int, size: int) -> None:
    for same in (axis, axis - len(shape)):
        assert reduced(shape, same, 48, size=size) == ""
        needed = f'wrong: step 1, "m: MEAN 0", needs scratch of {size} bytes at a multiple of 4'
        assert reduced(shape, same, 48, size=size - 1) == reduced(shape, same, 48) == needed


def test_along_the_innermost_axis_no_sums_are_kept() -> None:
    assert reduced([2, 2, 4], 2, 48) == ""
    assert reduced([2, 2, 4], 2, 48, size=4) == 'wrong: step 1, "m: MEAN 0", needs scratch of no bytes'
