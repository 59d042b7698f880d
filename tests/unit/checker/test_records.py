"""Records of a plan that mean two things, or nothing: whichever the firmware takes, it is not what was checked."""

from typing import Any

import numpy as np
import pytest

from checker.main import check
from checker.model import Model, Wrong
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]
CHAIN = draft.file(
    [fb.tensor(name, [4]) for name in "xay"],
    [fb.operator("TANH", [0], [1]), fb.operator("LOGISTIC", [1], [2])], [0], [2],
)  # fmt: skip


def chain(**more: Any) -> Document:
    """A right plan of two operators, all of whose tensors lie apart."""
    lives = {"x": (0, 2), "a": (1, 3), "y": (2, 4)}
    buffers = [draft.buffer(name, 4 * at, 4, life) for at, (name, life) in enumerate(lives.items())]
    tensors = [draft.tensor(t, name) for t, name in enumerate("xay")]
    model = draft.model([draft.operator(0, [0], [1]), draft.operator(1, [1], [2])], tensors)
    return draft.plan(["enter", "TANH 0", "LOGISTIC 1", "leave"], [model], buffers, **more)


def test_an_operator_is_there_once() -> None:
    """Of two records with one number, firmware might follow either."""
    plan = chain()
    assert draft.verdict(plan, CHAIN) == ""
    operators = plan["models"][0]["operators"]
    for number, reads in ((1, [1]), (1, [0]), (-1, [1])):
        operators[2:] = [draft.operator(number, reads, [2])]
        assert draft.verdict(plan, CHAIN) == "wrong: m: an operator is there twice, or has no number"


def test_no_operator_is_counted_from_the_end() -> None:
    plan = chain()
    plan["models"][0]["operators"][1]["operator"] = plan["steps"][2]["operator"] = -1
    assert draft.verdict(plan, CHAIN) == "wrong: m: an operator is there twice, or has no number"


@pytest.mark.parametrize("place", ["a", "x", "y"])
def test_a_tensor_has_one_place(place: str) -> None:
    plan = chain()
    plan["models"][0]["tensors"].insert(0, draft.tensor(1, place))
    assert draft.verdict(plan, CHAIN) == "wrong: m: tensor 1 has two places"


@pytest.mark.parametrize("written", [[], [1]])
def test_what_is_written_has_a_place(written: list[int]) -> None:
    plan = chain()
    plan["models"][0]["operators"][0]["writes"] = written
    del plan["models"][0]["tensors"][1]
    assert draft.verdict(plan, CHAIN) == 'wrong: step 1, "m: TANH 0", writes nothing, or what has no place'


def test_models_that_are_named_are_there() -> None:
    plan = chain()
    plan["buffers"].append(draft.buffer("o", 32, 4, (0, 1), model="n"))
    assert draft.verdict(plan, CHAIN) == "wrong: there is no model n"
    assert draft.verdict(chain(concurrent=[["m", "k"], ["m", "l"]]), CHAIN) == "wrong: there is no model k, l"


@pytest.mark.parametrize(("alignment", "is_right"), [(1, False), (2, False), (4, True), (8, True)])
def test_constants_are_aligned_to_their_elements(alignment: int, is_right: bool) -> None:
    """Biases of four bytes, of which weights, of a byte, have as many."""
    tensors = [fb.tensor("x", [1, 4]), fb.tensor("w", [1, 4], Buffer=1), fb.tensor("b", [1], "INT32", Buffer=2)]
    node = fb.operator("FULLY_CONNECTED", [0, 1, 2], [3])
    weights = np.array([[1, 2, 3, 4]], np.int8), np.array([5], np.int32)
    file = Model(draft.file([*tensors, fb.tensor("y", [1, 1])], [node], [0], [3], *weights))
    model = draft.model([draft.operator(0, [0], [3])], [draft.tensor(0, "x"), draft.tensor(3, "y")])
    buffers = [draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("y", 4, 1, (1, 3), kind="output")]
    for name, at, unit in (("w", 8, 1), ("b", 16, alignment)):
        buffers.append(draft.buffer(name, at, 4, (0, 3), kind="constant", reason="of the model", alignment=unit))
    plan = draft.plan(["enter", "FULLY_CONNECTED 0", "leave"], [model], buffers)
    if is_right:
        assert check(plan, [file]) == []
        return
    with pytest.raises(Wrong, match="the plan has 0 for the 1 constants of 4 bytes of m"):
        check(plan, [file])
