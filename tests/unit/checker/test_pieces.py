"""Plans written by hand whose tensors lie in pieces, are copies, come by rows, or outlive a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]


TANH = draft.file([fb.tensor("x", [1, 2, 2, 2], "INT16"), fb.tensor("y", [1, 2, 2, 2], "INT16")],
            [fb.operator("TANH", [0], [1])], [0], [1])  # fmt: skip


def one(x: Document, y: Document, *buffers: Document, **more: Any) -> str:
    """Check a plan of one operator of 16 bytes."""
    model = draft.model([draft.operator(0, [0], [1])], [x, y])
    return draft.verdict(draft.plan(["enter", "TANH 0", "leave"], [model], buffers, **more), TANH)


def test_pixels_with_gaps() -> None:
    """Four pixels of 4 bytes, one every 6 bytes: the last one ends at 22."""
    x, y = draft.tensor(0, "x"), draft.tensor(1, "y", offset=2, pitch=6)
    given = draft.buffer("x", 64, 16, (0, 2), kind="input", alignment=2)
    target = draft.buffer("y", 0, 24, (1, 3), kind="output", alignment=2)
    assert one(x, y, given, target) == ""
    assert one(x, y, given, {**target, "size": 23}) == 'wrong: m: tensor 1 ends 24 bytes into "y", which has 23'
    assert one(x, {**y, "pitch": 2}, given, target) == 'wrong: m: tensor 1 ends 12 bytes into "y", which has 24'
    assert one(x, {**y, "pitch": 4}, given, target) == ""
    assert one(x, {**y, "pitch": 5}, given, target) == "wrong: m: tensor 1 is not aligned to its elements"
    assert one(x, y, {**given, "offset": 8}, target) == ""
    assert one(x, y, {**given, "offset": 6}, target) == (
        'wrong: step 1, "m: TANH 0", overwrites element 7 of tensor 0 at p+20 before it has read it for the last time'
    )
    assert one(x, y, {**given, "offset": 0}, target) == (
        'wrong: step 1, "m: TANH 0", overwrites element 1 of tensor 0 at p+2 before it has read it for the last time'
    )


def rows(name: str, offsets: list[int], size: int, *lives: tuple[int, int], **more: Any) -> Document:
    usual = {
        "model": "m",
        "shared_with": [],
        "kind": "intermediate",
        "reason": "",
        "pool": "p",
        "alignment": 2,
        "cache_line": 0,
    }
    return {"name": name, "offsets": offsets, "row_size": size, "intervals": [*map(list, lives)]} | usual | more


def test_rows_in_places_of_their_own() -> None:
    x, y = draft.tensor(0, "x"), draft.tensor(1, "y[0]")
    given = draft.buffer("x", 64, 16, (0, 2), kind="input", alignment=2)
    target = rows("y", [32, 8], 8, (1, 3), (1, 3))
    assert one(x, y, given, target) == ""
    assert one(x, y, given, {**target, "row_size": 12}) == ""
    assert one(x, y, given, {**target, "row_size": 7}) == "wrong: m: tensor 1 does not fit into its rows"
    assert one(x, {**y, "offset": 2}, given, target) == "wrong: m: tensor 1 does not fit into its rows"
    third = rows("y", [32, 8, 0], 8, (1, 3), (1, 3), (1, 3))
    assert one(x, y, given, third) == "wrong: m: tensor 1 does not fit into its rows"
    dead = rows("y", [32, 8, 24, 16], 4, (1, 3), (2, 3), (1, 3), (1, 3))
    verdict_on = 'wrong: step 1, "m: TANH 0", touches "y[1]", which the plan says is not alive then'
    assert one(x, y, given, dead) == verdict_on
    twice = rows("y", [32, 8], 8, (1, 2), (2, 3), (1, 3))
    assert one(x, y, given, twice) == 'wrong: "y" has not one interval for each offset'
    assert one(x, y, given, rows("y", [32, 8], 8, (1, 3))) == 'wrong: "y" has not one interval for each offset'
    lines = rows("y", [32, 16], 8, (1, 3), (1, 3), cache_line=16)
    assert one(x, y, given, lines) == ""
    assert one(x, y, given, {**lines, "offsets": [32, 40]}) == 'wrong: "y[1]" at p+40 is not aligned'
    beside = draft.buffer("s", 40, 8, (1, 3))
    assert one(x, y, given, lines, beside) == 'wrong: "y[0]" and "s" share bytes of pool "p"'
    far = rows("y", [32, 250], 8, (1, 3), (1, 3))
    assert one(x, y, given, far) == 'wrong: "y[1]" ends at p+258, and the pool has 256 bytes'
    pools = [draft.pool(40), draft.pool(8, "q")]
    two = rows("y", [32, 0], 8, (1, 3), (1, 3), pool=["p", "q"])
    assert one(x, y, {**given, "offset": 0}, two, pools=pools) == ""
    assert one(x, y, {**given, "offset": 0}, {**two, "pool": ["q", "p"]}, pools=pools) == (
        'wrong: "y[0]" ends at q+40, and the pool has 8 bytes'
    )


def test_cache_lines_are_nobody_elses() -> None:
    """Two inputs that are alive together: 6 bytes have a line of 8, which nothing may share, nor end in."""
    data = draft.file(
        [fb.tensor("x", [6]), fb.tensor("z", [6]), fb.tensor("y", [6])], [fb.operator("ADD", [0, 1], [2])], [0, 1], [2],
    )  # fmt: skip
    tensors = [draft.tensor(t, name) for t, name in enumerate("xzy")]
    model = draft.model([draft.operator(0, [0, 1], [2])], tensors, inputs=["x", "z"])

    def verdict_on(z: int, line: int = 8, size: int = 64, x: int = 8) -> str:
        buffers = [
            draft.buffer("x", x, 6, (0, 2), kind="input", cache_line=line),
            draft.buffer("z", z, 6, (0, 2), kind="input"),
            draft.buffer("y", 40, 6, (1, 3), kind="output"),
        ]
        return draft.verdict(draft.plan(["enter", "ADD 0", "leave"], [model], buffers, pools=[draft.pool(size)]), data)

    shared = 'wrong: "x" and "z" share bytes of pool "p"'
    assert [verdict_on(z) for z in (16, 2)] == ["", ""]
    assert [verdict_on(z) for z in (15, 14)] == [shared, shared]
    assert verdict_on(3) == 'wrong: "z" and "x" share bytes of pool "p"'
    assert verdict_on(14, line=0) == ""
    assert verdict_on(16, x=4) == 'wrong: "x" at p+4 is not aligned'
    assert verdict_on(0, size=64, x=56) == ""
    assert verdict_on(0, size=63, x=56) == 'wrong: "x" ends at p+64, and the pool has 63 bytes'


def test_cache_lines_are_shared_in_turn() -> None:
    """What is written in a line is safe when nothing else is alive in it: before, or after."""
    x, y = draft.tensor(0, "x"), draft.tensor(1, "y")
    buffers = [
        draft.buffer("x", 64, 16, (0, 2), kind="input", alignment=2, cache_line=32),
        draft.buffer("y", 0, 16, (1, 3), kind="output", alignment=2),
    ]
    for place in (64, 88):
        for life, is_apart in (((2, 3), True), ((1, 3), False), ((0, 1), False)):
            other = draft.buffer("a", place, 8, life)
            assert (one(x, y, *buffers, other) == "") == is_apart


def test_constants_and_concurrent_models_lie_apart() -> None:
    buffers = [
        draft.buffer("x", 0, 16, (0, 2), kind="input", alignment=2),
        draft.buffer("y", 16, 16, (1, 3), kind="output", alignment=2),
    ]
    x, y = draft.tensor(0, "x"), draft.tensor(1, "y")
    constant = draft.buffer("c", 24, 16, (0, 1), kind="constant")
    assert one(x, y, *buffers, constant) == 'wrong: "y" and "c" share bytes of pool "p"'
    believed = 'not checked: that "c" has its size, and what it holds'
    assert one(x, y, *buffers, {**constant, "offset": 32}) == believed
    assert one(x, y, *buffers, {**constant, "size": 0}) == believed
    other = draft.buffer("o", 24, 16, (0, 1), model="n", shared_with=["k"])
    kept = 'wrong: m overwrites "o", which must outlive its runs'
    assert one(x, y, *buffers, other) == one(x, y, *buffers, other, concurrent=[["k", "n"]]) == kept
    assert one(x, y, *buffers, other, concurrent=[["k", "m"]]) == 'wrong: "y" and "o" share bytes of pool "p"'


def conv(width: int, dtype: str) -> bytes:
    """Return a file of two layers of three rows of 2 bytes."""
    tensors = [fb.tensor(name, [1, 3, 1, width], dtype) for name in "xay"]
    tensors.append(fb.tensor("w", [width, 1, 1, width], Buffer=1))
    options = fb.Node("Conv2DOptions", StrideH=1, StrideW=1)
    nodes = [fb.operator("CONV_2D", [0, 3], [1], options), fb.operator("TANH", [1], [2])]
    return draft.file(tensors, nodes, [0], [2], np.ones(width * width, np.int8))


CONV = {False: conv(2, "INT8"), True: conv(1, "INT16")}


def by_rows(*steps: str, by: tuple[str, ...] = (), wide: bool = False) -> str:
    """Two layers of three rows of 2 bytes; those of a take two places in turn, those of x that arrive only one."""
    count = len(steps) + 2
    pieces = rows("a", [8, 10, 8], 2, *[(1, count)] * 3)
    given = rows("x", [0, 0, 0], 2, *((at, at + 2) for at in (1, 4, 7)), kind="input")
    buffers = [
        given if by else draft.buffer("x", 0, 6, (0, count), kind="input", alignment=2), pieces,
        draft.buffer("y", 16, 6, (1, count), kind="output", alignment=2),
    ]  # fmt: skip
    places = [draft.tensor(0, "x[0]" if by else "x"), draft.tensor(1, "a[0]"), draft.tensor(2, "y")]
    model = draft.model([draft.operator(0, [0], [1]), draft.operator(1, [1], [2])], places, inputs_by_rows=[*by])
    return draft.verdict(draft.plan(["enter", *steps, "leave"], [model], buffers), CONV[wide])


C, T = [f"CONV_2D 0, row {row}" for row in range(3)], [f"TANH 1, row {row}" for row in range(3)]


@pytest.mark.parametrize("wide", [False, True])
def test_layers_run_row_by_row(wide: bool) -> None:
    assert by_rows(C[0], T[0], C[1], T[1], C[2], T[2], wide=wide) == ""
    assert by_rows(C[0], C[1], T[0], C[2], T[1], T[2], wide=wide) == ""
    assert by_rows(C[0], C[1], C[2], T[0], T[1], T[2], wide=wide) == (
        'wrong: step 4, "m: TANH 1, row 0", needs byte 0 of tensor 1 at p+8, where byte 4 of tensor 1 of m is'
    )
    assert by_rows(C[0], T[0], C[1], T[1], T[2], C[2], wide=wide) == (
        'wrong: step 5, "m: TANH 1, row 2", needs byte 4 of tensor 1 at p+8, where byte 0 of tensor 1 of m is'
    )


@pytest.mark.parametrize("wide", [False, True])
def test_rows_arrive_from_outside(wide: bool) -> None:
    arrivals = [f"row {row} of x arrives" for row in range(3)]
    in_turn = [each for row in zip(arrivals, C, T, strict=True) for each in row]
    assert by_rows(*in_turn, by=("x",), wide=wide) == ""
    late = [in_turn[1], in_turn[0], *in_turn[2:]]
    assert by_rows(*late, by=("x",), wide=wide) == (
        'wrong: step 1, "m: CONV_2D 0, row 0", needs byte 0 of tensor 0 at p+0, where nothing has been written yet'
    )


CHANNELS = draft.file(
    [fb.tensor("x", [1, 1, 2, 4]), fb.tensor("a", [1, 1, 2, 4]), fb.tensor("y", [1, 1, 2, 4])],
    [fb.operator("TANH", [0], [1]), fb.operator("LOGISTIC", [1], [2])], [0], [2],
)  # fmt: skip


def with_channels(a: list[int], size: int, **changes: Any) -> str:
    """The tensor between two operators has only some of its channels; the others are constant."""
    buffers = [
        draft.buffer("x", 0, 8, (0, 2), kind="input"),
        draft.buffer("a", 16, size, (1, 3)),
        draft.buffer("y", 32, 8, (2, 4), kind="output"),
    ]
    buffers[1].update(changes)
    places = [draft.tensor(0, "x"), draft.tensor(1, "a", channels=a), draft.tensor(2, "y")]
    model = draft.model([draft.operator(0, [0], [1]), draft.operator(1, [1], [2])], places)
    return draft.verdict(draft.plan(["enter", "TANH 0", "LOGISTIC 1", "leave"], [model], buffers), CHANNELS)


def test_channels_that_are_left_out() -> None:
    believed = "not checked: m: that all channels of tensor 1 but {} are constant"
    assert with_channels([], 8) == ""
    assert with_channels([1, 3], 4) == with_channels([1, 3], 4, offset=36) == believed.format([1, 3])
    assert with_channels([2], 2) == believed.format([2])
    assert with_channels([1, 3], 3) == 'wrong: m: tensor 1 ends 4 bytes into "a", which has 3'
    assert with_channels([], 7) == 'wrong: m: tensor 1 ends 8 bytes into "a", which has 7'
    for offset in range(8):  # over x, whose elements 1, 3, 5 and 7 are needed, each before what it makes is written
        is_overwritten = offset > 2
        assert with_channels([1, 3], 4, offset=offset).startswith("wrong: ") == is_overwritten
    for offset, element, at in ((35, 3, 38), (33, 1, 34), (32, 0, 32)):
        assert with_channels([1, 3], 4, offset=offset) == (
            f'wrong: step 2, "m: LOGISTIC 1", overwrites element {element} of tensor 1 at p+{at} before it has read it '
            "for the last time"
        )


def test_pages_may_be_longer_than_the_tensor() -> None:
    """Two rows of 8 bytes, each in a page of 24."""
    pages = [draft.buffer(f"y[{row}]", 24 * row + 24, 24, (1, 3), kind="output", alignment=8) for row in range(2)]
    given = draft.buffer("x", 0, 16, (0, 2), kind="input", alignment=2)
    assert one(draft.tensor(0, "x"), draft.tensor(1, "y[0]"), given, *pages) == ""
    pages[1]["intervals"] = [[2, 3]]
    verdict_on = 'wrong: step 1, "m: TANH 0", touches "y[1]", which the plan says is not alive then'
    for size in (24, 16, 8):  # 16: as long as the whole tensor, which is in both pages all the same
        sized = [page | {"size": size} for page in pages]
        assert one(draft.tensor(0, "x"), draft.tensor(1, "y[0]"), given, *sized) == verdict_on


@pytest.mark.parametrize("kind", ["intermediate", "constant", "scratch"])
def test_what_others_have_is_no_row(kind: str) -> None:
    """Tensors of a file may be called t[0] and t[1]: each lies in a buffer of that name."""
    names = ("x", "t[0]", "t[1]" if kind == "intermediate" else "u", "y")
    nodes = [fb.operator("TANH", [t], [t + 1]) for t in range(3)]
    data = draft.file([fb.tensor(name, [4]) for name in names], nodes, [0], [3])
    buffers = [draft.buffer(name, 4 * t, 4, (t, t + 2)) for t, name in enumerate(names)]
    if kind != "intermediate":
        buffers.append(draft.buffer("t[1]", 16, 4, (4, 5), kind=kind))
    places = [draft.tensor(t, name) for t, name in enumerate(names)]
    model = draft.model([draft.operator(t, [t], [t + 1]) for t in range(3)], places)
    plan = draft.plan(["enter", "TANH 0", "TANH 1", "TANH 2", "leave"], [model], buffers)
    assert not draft.verdict(plan, data).startswith("wrong")


def test_copies_of_copies_are_the_tensor() -> None:
    """The output is copied twice, to tensors that the file does not have."""
    operators = [draft.operator(0, [0], [3]), draft.operator(1, [3], [2]), draft.operator(2, [2], [1])]
    places = [draft.tensor(0, "x"), *(draft.tensor(t, name) for t, name in ((3, "a"), (2, "b"), (1, "y")))]
    buffers = [draft.buffer(name, 16 * i, 16, (0, 5), alignment=2) for i, name in enumerate("xaby")]
    steps = ["enter", "TANH 0", "COPY 1", "COPY 2", "leave"]
    plan = draft.plan(steps, [draft.model(operators, places)], buffers)
    assert draft.verdict(plan, TANH) == ""
    plan["steps"][2:4] = [draft.step("COPY 2"), draft.step("COPY 1")]
    assert "nothing has been written yet" in draft.verdict(plan, TANH)


@pytest.mark.parametrize("second", [2, 3])
def test_a_copy_of_a_tensor_is_the_tensor(second: int) -> None:
    """Operator 1 reads a copy, number 3, that operator 2 of the plan makes; or what is not a copy yet."""
    data = draft.file([fb.tensor(name, [4]) for name in "xay"],
                [fb.operator("TANH", [0], [1]), fb.operator("LOGISTIC", [1], [2])], [0], [2])  # fmt: skip
    operators = [draft.operator(0, [0], [1]), draft.operator(second, [1], [3]), draft.operator(1, [3], [2])]
    places = [draft.tensor(0, "x"), draft.tensor(1, "a"), draft.tensor(3, "c"), draft.tensor(2, "y")]
    buffers = [
        draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("a", 4, 4, (1, 3)), draft.buffer("c", 8, 4, (2, 4)),
        draft.buffer("y", 12, 4, (3, 5), kind="output"),
    ]  # fmt: skip
    steps = ["enter", "TANH 0", f"COPY {second}", "LOGISTIC 1", "leave"]
    plan = draft.plan(steps, [draft.model(operators, places)], buffers)
    assert draft.verdict(plan, data) == ""
    operators[1]["writes"] = [4]
    assert draft.verdict(plan, data) == "not covered: m: tensor 3 is neither in the file nor a copy of one that is"
    operators[1]["reads"], operators[1]["writes"] = [4], [3]
    assert draft.verdict(plan, data) == f"wrong: m: copy {second} has no tensor of the file"
    operators[1]["reads"] = []
    assert draft.verdict(plan, data) == f"not covered: m: copy {second} of a constant"
    operators[1]["reads"] = [1]
    buffers[2]["offset"] = 5
    assert draft.verdict(plan, data) == (
        f'wrong: step 2, "m: COPY {second}", overwrites element 1 of tensor 1 at p+5 before it has read it for the last'
        " time"
    )


def test_scratch_is_nobody_elses() -> None:
    x, y = draft.tensor(0, "x"), draft.tensor(1, "y")
    buffers = [
        draft.buffer("x", 0, 16, (0, 2), kind="input", alignment=2),
        draft.buffer("y", 16, 16, (1, 3), kind="output", alignment=2),
        draft.buffer("s", 32, 8, (1, 2), kind="scratch"),
        draft.buffer("t", 40, 8, (1, 2), kind="scratch"),
    ]

    def verdict_on(
        *names: str, targets: Sequence[Document] = (draft.OURS | {"kernels": "extern"},), **changes: Any
    ) -> str:
        model = draft.model([draft.operator(0, [0], [1], *names)], [x, y])
        changed = [*buffers[:3], {**buffers[3], **changes}]
        return draft.verdict(draft.plan(["enter", "TANH 0", "leave"], [model], changed, targets=targets), TANH)

    step = 'step 1, "m: TANH 0",'
    believed = "not checked: m: scratch of operator 0, which may be of another library"
    assert verdict_on("s", "t") == believed
    assert verdict_on("s", "t", targets=[draft.OURS]) == f"wrong: {step} needs scratch of no bytes"
    assert verdict_on("u") == f'wrong: {step} has scratch "u", which is no buffer'
    assert verdict_on("s", "t", offset=39) == f"wrong: {step} has scratch twice"
    assert verdict_on("t", offset=8) == f"wrong: {step} reads tensor 0 where its scratch is"
    assert verdict_on("t", offset=24) == f"not covered: {step} whose output overlaps its scratch"
    assert verdict_on("t", intervals=[[2, 3]]) == f'wrong: {step} touches "t", which the plan says is not alive then'


STATE = draft.file(
    [fb.tensor("x", [4]), fb.tensor("s", [4], IsVariable=True), fb.tensor("y", [4])],
    [fb.operator("CUMSUM", [0, 1], [2])], [0], [2],
)  # fmt: skip


def test_variables_keep_what_they_hold() -> None:
    """Between runs, too: over one that is not alive there is nothing left in the second run."""
    places = [draft.tensor(0, "x"), draft.tensor(1, "s"), draft.tensor(2, "y")]
    model = draft.model([draft.operator(0, [0, 1], [2])], places)
    buffers = [
        draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("s", 4, 4, (0, 3), kind="variable"),
        draft.buffer("y", 8, 4, (1, 3), kind="output"),
    ]  # fmt: skip
    plan = draft.plan(["enter", "CUMSUM 0", "leave"], [model], buffers)
    assert draft.verdict(plan, STATE) == ""
    buffers[2]["offset"] = 0
    assert draft.verdict(plan, STATE) == 'not covered: step 1, "m: CUMSUM 0", whose output overlaps what it reads'
    buffers[2]["offset"], buffers[0]["offset"] = 8, 6
    assert draft.verdict(plan, STATE) == (
        'wrong: step 1, "m: CUMSUM 0", needs byte 2 of tensor 1 at p+6, where byte 0 of tensor 0 of m is'
    )


def test_a_variable_may_lie_in_a_place_that_is_not_kept() -> None:
    """It has its first value before the first step, and nobody has to keep what nobody reads."""
    places = [draft.tensor(0, "x"), draft.tensor(1, "s"), draft.tensor(2, "y")]
    model = draft.model([draft.operator(0, [0], [2])], places)
    graph = [fb.tensor("x", [4]), fb.tensor("s", [4], IsVariable=True), fb.tensor("y", [4])]
    data = draft.file(graph, [fb.operator("TANH", [0], [2])], [0], [2])
    buffers = [
        draft.buffer("x", 0, 4, (0, 2)), draft.buffer("s", 4, 4, (0, 1), kind="variable"),
        draft.buffer("y", 4, 4, (1, 3)),
    ]  # fmt: skip
    plan = draft.plan(["enter", "TANH 0", "leave"], [model], buffers)
    assert draft.verdict(plan, data) == ""
    buffers[1]["intervals"] = [[1, 3]]
    assert draft.verdict(plan, data) == 'wrong: step 0, "m: enter", touches "s", which the plan says is not alive then'


def test_a_model_reads_what_another_one_wrote() -> None:
    first = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "c")])
    second = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "c"), draft.tensor(1, "z")], name="n")
    buffers = [
        draft.buffer("x", 0, 16, (0, 2), kind="input", alignment=2),
        draft.buffer("c", 16, 16, (0, 6), kind="connection", alignment=2, shared_with=["n"]),
        draft.buffer("z", 32, 16, (4, 6), kind="output", alignment=2, model="n"),
    ]
    steps = ["m: enter", "m: TANH 0", "m: leave", "n: enter", "n: TANH 0", "n: leave"]
    plan = draft.plan(steps, [first, second], buffers)
    assert draft.verdict(plan, TANH, TANH) == ""
    buffers[1]["intervals"] = [[1, 5]]
    assert draft.verdict(plan, TANH, TANH) == ""
    buffers[2]["offset"] = 24
    assert draft.verdict(plan, TANH, TANH) == (
        'wrong: step 4, "n: TANH 0", overwrites element 4 of tensor 0 at p+24 before it has read it for the last time'
    )
    buffers[2]["offset"], buffers[0]["offset"] = 32, 20
    plan["steps"] = [*plan["steps"][3:], *plan["steps"][:3]]
    assert draft.verdict(plan, TANH, TANH) == "wrong: m is not entered"
