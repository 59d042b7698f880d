"""Bounds of pools: what the operator of one step needs at once, by its turns, and what is read after it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from checker.replay import Load
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]


def test_bytes_that_a_turn_needs() -> None:
    """Two bytes are read in turns 1 and 2, before two are written there; one of those, and a third, are read later."""
    load = Load({10, 11, 12}, {10: 1, 11: 2}, 0)
    load.written = {20: 1, 21: 2}
    load.later([12, 20, 99])
    assert load.most() == 3
    load.later([21, 10])
    assert load.most() == 4
    load.besides = 5
    assert load.most() == 9


def test_what_has_been_read_makes_room() -> None:
    load = Load({10}, {10: 1}, 0)
    load.written = {20: 2, 21: 2}
    load.later([20, 21])
    assert load.most() == 2


def test_bytes_that_are_only_held_are_needed() -> None:
    load = Load({10, 11}, {}, 0)
    load.later([10])
    assert load.most() == 1


OTHERS = draft.OURS | {"kernels": "extern"}
BELIEVED = "not checked: m: scratch of operator 0, which may be of another library"


def least(file: bytes, model: Document, steps: Sequence[str], step: str, *buffers: Document) -> int:
    """Return the largest bound that the checker can see at a step, of the first two buffers and those for scratch."""
    names = [b["name"] for number, b in enumerate(buffers) if number < 2 or b["kind"] == "scratch"]
    total = sum(b["size"] for b in buffers if b["name"] in names)
    certificate = {"step": f"m: {step}", "buffers": names}
    verdict_text = {}
    for bound in range(total + 1):
        pools = [draft.pool(256, bound=bound, certificate=certificate)]
        plan = draft.plan(["enter", *steps, "leave"], [model], buffers, pools=pools, targets=[OTHERS])
        verdict_text[bound] = draft.verdict(plan, file).removeprefix(BELIEVED)
    seen = max(bound for bound, text in verdict_text.items() if not text)
    only = f'not checked: bound of "p": only {seen} bytes can be seen to be needed at once'
    assert [verdict_text[bound] for bound in verdict_text if bound > seen] == [only] * (total - seen)
    return seen


WIDER = fb.write(
    fb.model(
        fb.subgraph(
            [fb.tensor("x", [1, 8]), fb.tensor("y", [3, 8]), fb.tensor("z", [3, 8]),
             fb.tensor("shape", [2], "INT32", Buffer=1)],
            [fb.operator("BROADCAST_TO", [0, 3], [1]), fb.operator("ADD", [1, 0], [2])], [0], [2],
        ), data=[np.array([3, 8], np.int32).tobytes()],
    )
)  # fmt: skip


def test_what_is_held_written_and_scratch_are_needed_together() -> None:
    """x is read again, y is written, s is scratch of the first step; in the second one z may be where x and y were."""
    tensors = [draft.tensor(t, name) for t, name in enumerate("xyz")]
    steps, places = ["BROADCAST_TO 0", "ADD 1"], (("x", 0, 20), ("y", 20, 24), ("z", 44, 24))
    buffers = [draft.buffer(name, at, size, (0, 4)) for name, at, size in places]
    scratch = draft.buffer("s", 80, 6, (0, 4), kind="scratch")
    second = draft.operator(1, [1, 0], [2])
    plain, model = (draft.model([draft.operator(0, [0], [1], *s), second], tensors) for s in ((), ("s",)))
    assert least(WIDER, plain, steps, steps[0], *buffers) == 8 + 24
    assert least(WIDER, model, steps, steps[0], *buffers, scratch) == 8 + 24 + 6
    assert least(WIDER, plain, steps, steps[1], *buffers) == 8 + 24


@pytest.mark.parametrize(("kind", "step"), [("MEAN", "MEAN 0"), ("AVERAGE_POOL_2D", "AVERAGE_POOL_2D 0, row 1")])
def test_sums_are_not_counted(kind: str, step: str) -> None:
    """The output may take their place."""
    options = fb.Node("Pool2DOptions", Padding=1, StrideH=1, StrideW=1, FilterHeight=3, FilterWidth=2)
    graph = fb.subgraph(
        [fb.tensor("x", [1, 3, 2, 2]), fb.tensor("y", [1, 1, 1, 2]), fb.tensor("axes", [2], "INT32", Buffer=1)],
        [fb.operator(kind, [0, 2][: 1 + (kind == "MEAN")], [1], None if kind == "MEAN" else options)], [0], [1],
    )  # fmt: skip
    file = fb.write(fb.model(graph, data=[np.array([1, 2], np.int32).tobytes()]))
    model = draft.model([draft.operator(0, [0], [1], "s")], [draft.tensor(0, "x"), draft.tensor(1, "y")])
    rows = [f"{kind} 0, row {row}" for row in range(3)]
    steps = ["MEAN 0"] if kind == "MEAN" else rows
    life = (0, len(steps) + 2)
    x, y = draft.buffer("x", 0, 16, life, kind="input"), draft.buffer("y", 16, 2, life, kind="output")
    scratch = draft.buffer("s", 20, 8, life, kind="scratch", alignment=4)
    assert least(file, model, steps, step, x, scratch, y) == (12 if kind == "MEAN" else 8)


def test_what_the_next_run_reads_is_needed() -> None:
    """A variable, where the last operator makes z of y in place."""
    graph = fb.subgraph(
        [fb.tensor("s", [4], IsVariable=True), fb.tensor("y", [5]), fb.tensor("x", [5]), fb.tensor("z", [5])],
        [fb.operator("CUMSUM", [2, 0], [1]), fb.operator("TANH", [1], [3])], [2], [3],
    )  # fmt: skip
    file = fb.write(fb.model(graph))
    tensors = [draft.tensor(t, name) for t, name in enumerate("syxz")]
    model = draft.model([draft.operator(0, [2, 0], [1]), draft.operator(1, [1], [3])], tensors)
    buffers = [draft.buffer(name, 16 * at, 5, (0, 4)) for at, name in enumerate("syxz")]
    buffers[0]["kind"] = "variable"
    assert least(file, model, ["CUMSUM 0", "TANH 1"], "TANH 1", *buffers) == 4 + 5
