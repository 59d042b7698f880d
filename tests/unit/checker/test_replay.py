"""Plans written by hand, each right as it is, and with one fact changed: what the checker says, word by word."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from checker.model import Model, Wrong
from checker.plan import flat_buffers
from checker.replay import Replay
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


CHAIN = draft.file(
    [fb.tensor(name, shape, "INT16") for name, shape in (("x", [8]), ("a", [8]), ("v", [2, 4]), ("y", [2, 4]))],
    [fb.operator("TANH", [0], [1]), fb.operator("RESHAPE", [1], [2]), fb.operator("LOGISTIC", [2], [3])],
    [0], [3],
)  # fmt: skip


def chain() -> Document:
    """x at 0, a at 16 seen as v, y at 0 again."""
    return draft.plan(
        ["enter", "TANH 0", "LOGISTIC 2", "leave"],
        [draft.model(
            [draft.operator(0, [0], [1]), draft.operator(2, [2], [3])],
            [draft.tensor(0, "x"), draft.tensor(1, "a"), draft.tensor(2, "a"), draft.tensor(3, "y")],
        )],
        [
            draft.buffer("x", 0, 16, (0, 2), kind="input", alignment=2),
            draft.buffer("a", 16, 16, (1, 3), alignment=2),
            draft.buffer("y", 0, 16, (2, 4), kind="output", alignment=2),
        ],
        pools=[draft.pool(32, bound=16, certificate={"step": "m: TANH 0", "buffers": ["x", "a"]})],
        promises=True,
    )  # fmt: skip


def in_place(document: Document) -> None:
    """Put a where x is, which TANH allows."""
    document["buffers"][1]["offset"] = 0


Change = Callable[[Document], object]


def buffers(number: int, **changes: Any) -> Change:
    return lambda plan: plan["buffers"][number].update(changes)


def pools(**changes: Any) -> Change:
    return lambda plan: plan["pools"][0].update(changes)


def tensors(number: int, **changes: Any) -> Change:
    return lambda plan: plan["models"][0]["tensors"][number].update(changes)


def operators(number: int, **changes: Any) -> Change:
    return lambda plan: plan["models"][0]["operators"][number].update(changes)


def models(**changes: Any) -> Change:
    return lambda plan: plan["models"][0].update(changes)


def proof(**changes: Any) -> Change:
    return lambda plan: plan["pools"][0]["certificate"].update(changes)


def steps(*names: str) -> Change:
    return lambda plan: plan.update(steps=[draft.step(name) for name in names])


TANH, LOGISTIC = 'step 1, "m: TANH 0",', 'step 2, "m: LOGISTIC 2",'
SAID: dict[str, tuple[Change, str]] = {
    "nothing changed": (lambda plan: None, ""),
    "in place": (in_place, ""),
    "another version": (lambda plan: plan.update(version=2), "wrong: this is a plan of another version"),
    "a program": (models(on_demand=True), "not covered: m: a program, or a model without operators"),
    "nothing runs": (models(operators=[]), "not covered: m: a program, or a model without operators"),
    "one name twice": (buffers(1, name="x"), "wrong: two buffers have one name"),
    "in no pool": (buffers(1, pool="q"), 'wrong: "a" is in "q", which is no pool'),
    "beyond the pool": (pools(size=31), 'wrong: "a" ends at p+32, and the pool has 31 bytes'),
    "before the pool": (buffers(0, offset=-2), 'wrong: "x" ends at p+14, and the pool has 32 bytes'),
    "a negative size": (buffers(0, size=-2), 'wrong: "x" ends at p+-2, and the pool has 32 bytes'),
    "not aligned": (buffers(1, offset=8, alignment=16), 'wrong: "a" at p+8 is not aligned'),
    "aligned to nothing": (buffers(1, alignment=0), 'wrong: "a" at p+16 is not aligned'),
    "aligned to one": (buffers(1, alignment=1), "wrong: m: tensor 1 is not aligned to its elements"),
    "a pool aligned to less": (pools(alignment=1), 'wrong: pool "p" is aligned to less than "x"'),
    "a pool aligned to as much": (pools(alignment=2), ""),
    "a pool aligned to one": (lambda plan: plan["pools"].append(draft.pool(16, "q", alignment=1)), ""),
    "a pool aligned to nothing": (pools(alignment=0), 'wrong: pool "p" is not aligned'),
    "a pool aligned to less than nothing": (pools(alignment=-16), 'wrong: pool "p" is not aligned'),
    "a pool aligned to 24": (pools(alignment=24), 'wrong: pool "p" is not aligned'),
    "a pool at no multiple of its alignment": (pools(origin=40), 'wrong: pool "p" is not aligned'),
    "a pool in the last bytes of another": (
        lambda plan: (pools(origin=0)(plan), plan["pools"].append(draft.pool(16, "q", origin=16))),
        'wrong: pools "p" and "q" share addresses',
    ),
    "a pool after another": (
        lambda plan: (pools(origin=0)(plan), plan["pools"].append(draft.pool(16, "q", origin=32))),
        "",
    ),
    "a cache line below zero": (buffers(1, cache_line=-16), 'wrong: "a" at p+16 is not aligned'),
    "a buffer of another model": (buffers(1, model="n"), 'wrong: m: tensor 1 is in "a", which is of n'),
    "a buffer of two models": (buffers(1, model="n", shared_with=["m"]), 'wrong: m: tensor 1 is in "a", which is of n'),
    "aligned to 24": (lambda plan: (buffers(1, alignment=24, offset=24)(plan), pools(size=40, alignment=8)(plan)), ""),
    "alive before it begins": (buffers(0, intervals=[[-1, 2]]), 'wrong: "x" is alive outside of the steps'),
    "alive for no step": (buffers(0, intervals=[[2, 2]]), 'wrong: "x" is alive outside of the steps'),
    "alive after the end": (buffers(2, intervals=[[2, 5]]), 'wrong: "y" is alive outside of the steps'),
    "a limit": (pools(limit=32), ""),
    "beyond the limit": (pools(limit=31), 'wrong: pool "p" is larger than its limit'),
    "too short": (buffers(1, size=14), 'wrong: m: tensor 1 ends 16 bytes into "a", which has 14'),
    "of no buffer": (tensors(1, buffer="b"), 'wrong: m: tensor 1 is in "b", which is no buffer'),
    "at an odd byte": (tensors(1, offset=1), "wrong: m: tensor 1 is not aligned to its elements"),
    "at no byte": (tensors(1, offset=-2), 'wrong: m: tensor 1 ends 14 bytes into "a", which has 16'),
    "a place too far": (tensors(1, offset=2), 'wrong: m: tensor 1 ends 18 bytes into "a", which has 16'),
    "the view elsewhere": (
        tensors(2, buffer="x"),
        f'wrong: {LOGISTIC} touches "x", which the plan says is not alive then',
    ),
    "an input that is not there": (
        tensors(0, buffer="a"),
        'wrong: step 0, "m: enter", touches "a", which the plan says is not alive then',
    ),
    "born too late": (
        buffers(1, intervals=[[2, 3]]),
        f'wrong: {TANH} touches "a", which the plan says is not alive then',
    ),
    "dead too soon": (
        buffers(1, intervals=[[1, 2]]),
        f'wrong: {LOGISTIC} touches "a", which the plan says is not alive then',
    ),
    "an output that is dead": (
        buffers(2, intervals=[[2, 3]]),
        'wrong: step 3, "m: leave", touches "y", which the plan says is not alive then',
    ),
    "two lives": (lambda plan: (buffers(2, intervals=[[1, 2], [2, 4]])(plan), buffers(1, offset=0)(plan)), ""),
    "an output that is kept where the input comes": (
        buffers(2, intervals=[[0, 1], [2, 4]]),
        'wrong: step 0, "m: enter", needs byte 0 of tensor 3 at p+0, where byte 0 of tensor 0 of m is',
    ),
    "an input that is kept where the output comes": (
        buffers(0, intervals=[[0, 4]]),
        'wrong: step 3, "m: leave", needs byte 0 of tensor 0 at p+0, where byte 0 of tensor 3 of m is',
    ),
    "overwritten within the operator": (
        buffers(1, offset=2, intervals=[[1, 3]]),
        f"wrong: {TANH} overwrites element 1 of tensor 0 at p+2 before it has read it for the last time",
    ),
    "backward it is not": (
        lambda plan: (buffers(1, offset=2)(plan), models(backward=[0])(plan), pools(bound=0)(plan)),
        "",
    ),
    "no operator": (steps("enter", "TANH 0", "TANH", "leave"), 'wrong: step 2, "m: TANH", is no operator of the plan'),
    "an unknown one": (
        steps("enter", "TANH 0", "TANH 1", "leave"),
        'wrong: step 2, "m: TANH 1", is no operator of the plan',
    ),
    "never entered": (steps("leave", "TANH 0", "LOGISTIC 2", "leave"), "wrong: m is not entered"),
    "never left": (
        lambda plan: (steps("enter", "TANH 0", "LOGISTIC 2", "LOGISTIC 2")(plan), buffers(1, intervals=[[1, 4]])(plan)),
        "wrong: m never ends",
    ),
    "more steps": (steps("enter", "TANH 0", "LOGISTIC 2", "leave", "leave"), "wrong: there are steps of no model"),
    "reads nothing": (
        operators(0, reads=[]),
        "wrong: m: operator 0 needs tensor 0, which the plan does not let it read",
    ),
    "reads something else": (
        operators(1, reads=[0]),
        "wrong: m: operator 2 needs tensor 1, which the plan does not let it read",
    ),
    "a tensor of nobody": (
        tensors(1, tensor=9),
        "not covered: m: tensor 9 is neither in the file nor a copy of one that is",
    ),
    "an input of an operator without a place": (
        lambda plan: plan["models"][0]["tensors"].pop(2),
        f"wrong: {LOGISTIC} reads tensor 2, which has no place",
    ),
    "a larger bound": (
        pools(size=64, bound=33),
        'wrong: the buffers of the certificate of "p" have 32 bytes, and its bound is 33',
    ),
    "a bound beyond the pool": (pools(bound=33), 'wrong: pool "p" has 32 bytes, and its bound is 33'),
    "a bound below zero": (pools(bound=-1), 'wrong: pool "p" has 32 bytes, and its bound is -1'),
    "no certificate": (pools(certificate=None), 'not checked: bound of "p": a search proved it'),
    "no certificate, nor a bound": (pools(certificate=None, bound=0), ""),
    "a pool that is read-only": (pools(access="ro"), 'wrong: "x" is in "p", which is read-only'),
    "a buffer counted twice": (
        proof(buffers=["x", "x"]),
        'wrong: the certificate of "p" has a buffer twice, or one that is none',
    ),
    "a buffer that is none": (
        proof(buffers=["x", "b"]),
        'wrong: the certificate of "p" has a buffer twice, or one that is none',
    ),
    "a buffer of another time": (
        proof(buffers=["x", "y"]),
        'wrong: the certificate of "p" counts "y", which holds nothing then',
    ),
    "a buffer that nobody touches": (
        lambda plan: (
            plan["buffers"].append(draft.buffer("u", 32, 16, (1, 3))),
            proof(buffers=["x", "u"])(plan),
            pools(size=48)(plan),
        ),
        'wrong: the certificate of "p" counts "u", which holds nothing then',
    ),
    "a buffer that is kept": (
        lambda plan: (
            proof(buffers=["a", "y"])(plan),
            buffers(2, intervals=[[0, 4]], offset=32)(plan),
            pools(size=48, bound=17)(plan),
        ),
        'not checked: bound of "p": only 16 bytes can be seen to be needed at once',
    ),
    "a buffer that is kept from its first step on": (
        lambda plan: (
            proof(buffers=["a", "y"])(plan),
            buffers(2, intervals=[[1, 4]], offset=32)(plan),
            pools(size=48)(plan),
        ),
        'not checked: bound of "p": it counts "y", which the application is said to keep',
    ),
    "a buffer of another pool": (
        lambda plan: (buffers(1, pool="q", offset=0)(plan), plan["pools"].append(draft.pool(16, "q"))),
        'wrong: the certificate of "p" has buffers of another pool',
    ),
    "a tensor that is kept": (
        lambda plan: (
            proof(buffers=["a", "y"])(plan),
            buffers(2, intervals=[[1, 4]], offset=32, kind="tensor")(plan),
            pools(size=48)(plan),
        ),
        'wrong: "y" is said to be "tensor", and is "output"',
    ),
    "a proof without a step": (
        proof(step=None),
        'not checked: bound of "p": it is of models that run at the same time',
    ),
    "a proof at another step": (
        proof(step="m: TANH 1"),
        'not checked: bound of "p": it is of models that run at the same time',
    ),
    "as much as its buffers, of which one may be in the other": (
        pools(bound=32),
        'not checked: bound of "p": only 16 bytes can be seen to be needed at once',
    ),
    "a caller's array": (lambda plan: (tensors(0, buffer="")(plan), pools(bound=0, certificate=None)(plan)), ""),
    "no operator in the file": (operators(1, operator=3), f"wrong: {LOGISTIC} is no operator of the plan"),
}


@pytest.mark.parametrize("name", SAID)
def test_verdicts_on_a_chain(name: str) -> None:
    plan = chain()
    change, verdict_text = SAID[name]
    change(plan)
    assert draft.verdict(plan, CHAIN) == verdict_text


def test_what_is_overwritten_between_operators() -> None:
    """A third buffer, written by an operator of the same step's neighbor, over bytes 4 to 8 of a."""
    data = draft.file(
        [fb.tensor(name, [8]) for name in "xabyz"],
        [fb.operator("TANH", [0], [1]), fb.operator("LOGISTIC", [0], [2]), fb.operator("ADD", [1, 2], [3])], [0], [3],
    )  # fmt: skip
    model = draft.model(
        [draft.operator(0, [0], [1]), draft.operator(1, [0], [2]), draft.operator(2, [1, 2], [3])],
        [draft.tensor(0, "x"), draft.tensor(1, "a"), draft.tensor(2, "b"), draft.tensor(3, "y")],
    )
    places = [
        draft.buffer("x", 0, 8, (0, 3), kind="input"), draft.buffer("a", 8, 8, (1, 4)),
        draft.buffer("b", 12, 8, (2, 4)), draft.buffer("y", 24, 8, (3, 5), kind="output"),
    ]  # fmt: skip
    plan = draft.plan(["enter", "TANH 0", "LOGISTIC 1", "ADD 2", "leave"], [model], places)
    assert draft.verdict(plan, data) == (
        'wrong: step 3, "m: ADD 2", needs byte 4 of tensor 1 at p+12, where byte 0 of tensor 2 of m is'
    )
    plan["steps"][1:3] = [draft.step("LOGISTIC 1"), draft.step("TANH 0")]
    places[1]["intervals"] = places[2]["intervals"] = [[1, 4]]
    assert draft.verdict(plan, data) == (
        'wrong: step 3, "m: ADD 2", needs byte 0 of tensor 2 at p+12, where byte 4 of tensor 1 of m is'
    )
    places[2]["offset"] = 16
    assert draft.verdict(plan, data) == ""
    plan["steps"].remove(draft.step("LOGISTIC 1"))
    places[3]["intervals"] = [[2, 4]]
    places[0]["intervals"] = [[0, 2]]
    places[1]["intervals"] = places[2]["intervals"] = [[1, 3]]
    assert draft.verdict(plan, data) == (
        'wrong: step 2, "m: ADD 2", needs byte 0 of tensor 2 at p+16, where nothing has been written yet'
    )


def test_a_byte_within_an_element_is_named() -> None:
    """The upper byte of a, of 16 bits, which b, of 8 bits, has overwritten."""
    tensors = [fb.tensor(name, [1], "INT16" if name in "xay" else "INT8") for name in "xavby"]
    nodes = [fb.operator("TANH", [0], [1]), fb.operator("TANH", [2], [3]), fb.operator("LOGISTIC", [1], [4])]
    data = draft.file(tensors, nodes, [0, 2], [3, 4])
    operators = [draft.operator(0, [0], [1]), draft.operator(1, [2], [3]), draft.operator(2, [1], [4])]
    places = {"x": (0, 2), "a": (4, 2), "v": (8, 1), "b": (5, 1), "y": (12, 2)}
    buffers = [draft.buffer(name, at, size, (0, 5), alignment=size) for name, (at, size) in places.items()]
    model = draft.model(operators, [draft.tensor(t, name) for t, name in enumerate(places)])
    verdict_text = draft.verdict(
        draft.plan(["enter", "TANH 0", "TANH 1", "LOGISTIC 2", "leave"], [model], buffers), data
    )
    late = "needs byte 1 of tensor 1 at p+5, where byte 0 of tensor 3 of m is"
    assert verdict_text == f'wrong: step 3, "m: LOGISTIC 2", {late}'


def test_what_an_earlier_run_has_left_is_old() -> None:
    """y reads a before it is written: first nothing is there, then what the first run wrote."""
    data = draft.file(
        [fb.tensor(name, [4]) for name in "xay"],
        [fb.operator("TANH", [0], [1]), fb.operator("LOGISTIC", [1], [2])], [0], [2],
    )  # fmt: skip
    model = draft.model(
        [draft.operator(0, [0], [1]), draft.operator(1, [1], [2])],
        [draft.tensor(0, "x"), draft.tensor(1, "a"), draft.tensor(2, "y")],
    )
    whole = [
        draft.buffer(name, 4 * i, 4, (0, 4), kind=kind)
        for i, (name, kind) in enumerate([("x", "input"), ("a", "intermediate"), ("y", "output")])
    ]
    plan = draft.plan(["enter", "LOGISTIC 1", "TANH 0", "leave"], [model], whole)
    verdict_text = 'wrong: step 1, "m: LOGISTIC 1", needs byte 0 of tensor 1 at p+4, where '
    assert draft.verdict(plan, data) == verdict_text + "nothing has been written yet"
    shorter = {**plan, "steps": plan["steps"][:1] + plan["steps"][2:]}
    replay = Replay(shorter, [Model(data)], [*flat_buffers(plan)])
    with pytest.raises(Wrong, match="needs byte 0 of tensor 2 at p\\+8, where nothing"):
        replay.run(replay.models[0], 0)


def test_an_output_that_is_an_input_is_filled_anew() -> None:
    """It is kept from one run to the next, and when the next begins, the application has given it another value."""
    data = draft.file([fb.tensor(name, [4]) for name in "xy"], [fb.operator("TANH", [0], [1])], [0], [0, 1])
    model = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "y")])
    model["outputs"] = ["x", "y"]
    buffers = [draft.buffer("x", 0, 4, (0, 3), kind="input"), draft.buffer("y", 4, 4, (0, 3), kind="output")]
    plan = draft.plan(["enter", "TANH 0", "leave"], [model], buffers, promises=True)
    assert draft.verdict(plan, data) == ""


def test_a_variable_that_a_run_overwrites_is_not_there_in_the_next() -> None:
    """The sum of x and the state s, and y in place of s."""
    data = draft.file(
        [fb.tensor("x", [4]), fb.tensor("s", [4], IsVariable=True), fb.tensor("a", [4]), fb.tensor("y", [4])],
        [fb.operator("ADD", [0, 1], [2]), fb.operator("TANH", [2], [3])], [0], [3],
    )  # fmt: skip
    model = draft.model(
        [draft.operator(0, [0, 1], [2]), draft.operator(1, [2], [3])],
        [draft.tensor(t, name) for t, name in enumerate("xsay")],
    )
    buffers = [draft.buffer(name, 4 * at, 4, (0, 4)) for at, name in enumerate("xsay")]
    buffers[1]["kind"] = "variable"
    plan = draft.plan(["enter", "ADD 0", "TANH 1", "leave"], [model], buffers)
    assert draft.verdict(plan, data) == ""
    buffers[3]["offset"] = 4
    assert draft.verdict(plan, data) == (
        'wrong: step 1, "m: ADD 0", needs byte 0 of tensor 1 at p+4, where bytes of an earlier run are'
    )
