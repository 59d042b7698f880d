"""What must outlive runs: connections, variables, and inputs and outputs that the application keeps."""

from itertools import permutations
from typing import Any

import pytest

from checker.main import check
from checker.model import Model, Wrong
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]


def file(dtype: str = "INT8", shape: tuple[int, ...] = (4,), scale: float = 0.5, zero: int = 0) -> bytes:
    """Return TANH of x, whose result is quantized in this way."""
    like: dict[str, Any] = {"Quantization": fb.quantization([scale], [zero])}
    tensors = [fb.tensor(name, shape, dtype, **like) for name in "xy"]
    return draft.file(tensors, [fb.operator("TANH", [0], [1])], [0], [1])


PORTS = {"m": ("x", "c"), "k": ("v", "y"), "n": ("c", "z"), "l": ("c", "w")}
"""The buffers of inputs and outputs: m writes what n and l read, and k has nothing to do with them."""
PLACES = {"x": 0, "c": 4, "v": 8, "y": 12, "z": 16, "w": 20}


def ran(*names: str, **changes: Document) -> str:
    """Check models that are in the plan in this order, with changes of buffers and, by "file_n", of files."""
    steps = [f"{name}: {step}" for name in names for step in ("enter", "TANH 0", "leave")]
    models, buffers = [], dict[str, Document]()
    for name in names:
        given, output = PORTS[name]
        tensors = [draft.tensor(0, given), draft.tensor(1, output)]
        models.append(draft.model([draft.operator(0, [0], [1])], tensors, name=name))
        first = steps.index(f"{name}: enter")
        lives = {given: ("input", (first, first + 2)), output: ("output", (first + 1, first + 3))}
        for each, (kind, life) in lives.items():
            buffers.setdefault(each, draft.buffer(each, PLACES[each], 4, life, kind=kind, model=name))
    readers = [name for name in names if PORTS[name][0] == "c"]
    if readers and "m" in names:
        buffers["c"] |= {"model": "m", "shared_with": readers, "kind": "connection", "intervals": [[0, len(steps)]]}
    plan = draft.plan(steps, models, [each | changes.get(name, {}) for name, each in buffers.items()])
    return draft.verdict(plan, *(changes.get(f"file_{name}", {}).get("data", file()) for name in names))


@pytest.mark.parametrize("names", permutations("mkn"))
def test_a_connection_is_kept_whichever_model_runs_in_between(names: tuple[str, ...]) -> None:
    """Wherever k is in the plan, it may run between m and n."""
    assert ran(*names) == ""
    lost = 'wrong: k overwrites "c", which must outlive its runs'
    for place in (1, 4, 7):
        assert ran(*names, y={"offset": place}) == ran(*names, v={"offset": place}) == lost
    assert ran(*names, y={"offset": 0}) == ran(*names, v={"offset": 16}) == ""


def test_a_connection_with_two_readers_is_kept_by_both() -> None:
    """Either may run first; one reader may write its output where it has read."""
    assert ran("m", "n", "l") == ran("n", "l", "m") == ""
    assert ran("m", "n", "l", c={"intervals": [[1, 9]]}) == ""
    late = 'wrong: step 8, "n: leave", touches "c", which the plan says is not alive then'
    assert ran("m", "l", "n", c={"intervals": [[0, 8]]}) == late
    for changes in ({"z": {"offset": 4}}, {"z": {"offset": 1}}, {"w": {"offset": 7}}):
        assert "of tensor 0 at p+" in ran("m", "n", "l", **changes)


def test_a_reader_keeps_what_the_plan_says_it_keeps() -> None:
    consumed = [[0, 5]]
    assert ran("m", "n", c={"intervals": consumed}, z={"offset": 4}) == ""
    assert ran("m", "n", z={"offset": 4}) == (
        'wrong: step 5, "n: leave", needs byte 0 of tensor 0 at p+4, where byte 0 of tensor 1 of n is'
    )


def test_a_connection_is_alive_while_others_run() -> None:
    for name, life in (("k", [0, 5]), ("k", [0, 4]), ("k", [4, 9])):
        lives = [life, [6, 9]] if life[0] == 0 else [[0, 3], life]
        verdict_text = f'wrong: "c" is not said to be alive while {name} runs'
        assert ran("m", "k", "n", c={"intervals": lives}) == verdict_text
    assert ran("m", "k", "n", c={"intervals": [[1, 8]]}) == ""
    late = 'wrong: step 0, "n: enter", touches "c", which the plan says is not alive then'
    assert ran("n", "m", c={"intervals": [[1, 6]]}) == late


def test_ends_of_a_connection_are_alike() -> None:
    unlike = "wrong: n: input 0 is in a buffer of m, which has no such output there"
    assert ran("m", "n", file_n={"data": file(shape=(2, 2))}) == unlike
    assert ran("m", "n", file_n={"data": file(scale=0.25)}) == unlike
    assert ran("m", "n", file_n={"data": file(zero=1)}) == unlike
    assert ran("m", "n", file_n={"data": file("UINT8")}) == unlike
    assert ran("m", "n", file_n={"data": file(shape=(1, 4, 1))}) == ""


def test_inputs_of_one_output_have_one_value() -> None:
    """n reads the outputs of m, or one of them twice."""
    tensors = [fb.tensor(name) for name in ("x", "c", "d")]
    first = draft.file(tensors, [fb.operator("TANH", [0], [1]), fb.operator("RELU", [0], [2])], [0], [1, 2])
    second = draft.file([fb.tensor(name) for name in "cdz"], [fb.operator("ADD", [0, 1], [2])], [0, 1], [2])
    steps = ["m: enter", "m: TANH 0", "m: RELU 1", "m: leave", "n: enter", "n: ADD 0", "n: leave"]

    def verdict(given: str, z: int = 12) -> str:
        places = [[draft.tensor(t, name) for t, name in enumerate(names)] for names in ("xcd", f"{given}z")]
        operators = [draft.operator(0, [0], [1]), draft.operator(1, [0], [2])]
        models = [
            draft.model(operators, places[0], outputs=["c", "d"]),
            draft.model([draft.operator(0, [0, 1], [2])], places[1], name="n", inputs=["c", "d"]),
        ]
        shared = {"kind": "connection", "shared_with": ["n"]}
        buffers = [
            draft.buffer("x", 0, 4, (0, 3), kind="input"), draft.buffer("c", 4, 4, (0, 7), **shared),
            draft.buffer("d", 8, 4, (0, 7), **shared if "d" in given else {"kind": "output"}),
            draft.buffer("z", z, 4, (5, 7), kind="output", model="n"),
        ]  # fmt: skip
        return draft.verdict(draft.plan(steps, models, buffers), first, second)

    assert verdict("cd") == verdict("cc") == ""
    assert verdict("cd", 6) != ""
    assert verdict("cc", 6) != ""


def test_a_connection_has_both_ends() -> None:
    """What no model writes, or another part of it, is none; nor is a buffer that another model only says it shares."""
    unlike = "wrong: n: input 0 is in a buffer of m, which has no such output there"
    shared = {"model": "m", "shared_with": ["n"], "kind": "connection", "intervals": [[0, 6]]}
    assert ran("m", "n", x=shared, c={"shared_with": []} | {"size": 4}).startswith("wrong: ")
    alone = ran("m", "k", "n", c={"shared_with": ["n", "k"]})
    assert alone == 'wrong: "c" is not used by all that share it'
    assert ran("m", "k", x={"shared_with": ["k"]}) == 'wrong: "x" is not used by all that share it'
    first, second = (
        draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, a, at), draft.tensor(1, b)], name=name)
        for name, a, at, b in (("m", "x", 0, "c"), ("n", "c", 4, "z"))
    )
    steps = [f"{name}: {step}" for name in "mn" for step in ("enter", "TANH 0", "leave")]
    buffers = [
        draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("c", 4, 8, **shared),
        draft.buffer("z", 16, 4, (4, 6), kind="output", model="n"),
    ]  # fmt: skip
    plan = draft.plan(steps, [first, second], buffers)
    assert draft.verdict(plan, file(), file()) == unlike
    second["tensors"][0]["offset"] = 0
    assert draft.verdict(plan, file(), file()) == ""


def test_nobody_else_writes_where_a_connection_is() -> None:
    """Not even one who says that it shares the buffer, or that this is scratch."""
    steps = [f"{name}: {step}" for name in "mnk" for step in ("enter", "TANH 0", "leave")]
    models = []
    for name, ports in {"m": "xc", "n": "cz", "k": "vc"}.items():
        tensors = [draft.tensor(t, port) for t, port in enumerate(ports)]
        models.append(draft.model([draft.operator(0, [0], [1])], tensors, name=name))
    shared = {"shared_with": ["n", "k"], "kind": "connection"}
    buffers = [
        draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("c", 4, 4, (0, 9), **shared),
        draft.buffer("z", 8, 4, (4, 6), kind="output", model="n"),
        draft.buffer("v", 12, 4, (6, 8), kind="input", model="k"),
    ]  # fmt: skip
    plan = draft.plan(steps, models, buffers)
    assert draft.verdict(plan, *[file()] * 3) == 'wrong: k: tensor 1 is in "c", which is of m'
    models[2]["tensors"][1]["buffer"], buffers[1]["shared_with"] = "v", ["n"]
    models[2]["operators"][0]["scratch"], buffers[1]["kind"] = ["c"], "scratch"
    assert draft.verdict(plan, *[file()] * 3) == 'wrong: "c" is scratch, and has a tensor'
    models[2]["name"] = "m"
    assert draft.verdict(plan, *[file()] * 3) == "wrong: two models have one name"


def test_a_variable_that_another_model_reads_is_kept_by_it() -> None:
    """The output of m is a variable, which n reads, over which it writes its own output."""
    tensors = [fb.tensor("x", [4]), fb.tensor("s", [4], IsVariable=True), fb.tensor("y", [4])]
    first = draft.file(tensors, [fb.operator("ADD", [0, 1], [2])], [0], [2, 1])
    steps = [f"{n}: {step}" for n, kind in (("m", "ADD"), ("n", "TANH")) for step in ("enter", f"{kind} 0", "leave")]
    models = [
        draft.model([draft.operator(0, [0, 1], [2])], [draft.tensor(t, name) for t, name in enumerate("xsy")]),
        draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "s"), draft.tensor(1, "z")], name="n"),
    ]
    second = draft.file([fb.tensor("x"), fb.tensor("y")], [fb.operator("TANH", [0], [1])], [0], [1])

    def verdict(z: int, first_step: int, end: int) -> str:
        buffers = [
            draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("y", 4, 4, (1, 3), kind="output"),
            draft.buffer("s", 8, 4, (first_step, end), kind="variable", shared_with=["n"]),
            draft.buffer("z", z, 4, (4, 6), kind="output", model="n"),
        ]  # fmt: skip
        return draft.verdict(draft.plan(steps, models, buffers), first, second)

    assert verdict(12, 0, 6) == ""
    lost = "needs byte 0 of tensor 0 at p+8, where byte 0 of tensor 1 of n is"
    assert verdict(8, 0, 6) == f'wrong: step 5, "n: leave", {lost}'
    for z in (8, 12):
        assert verdict(z, 0, 5) == 'wrong: step 5, "n: leave", touches "s", which the plan says is not alive then'


KINDS = {"x": "input", "c": "connection", "y": "output", "z": "output"}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_what_the_models_make_of_them(name: str) -> None:
    assert ran("m", "k", "n", **{name: {"kind": KINDS[name]}}) == ""
    for kind in ("input", "output", "connection", "variable", "scratch", "constant"):
        if kind != KINDS[name]:
            verdict_text = ran("m", "k", "n", **{name: {"kind": kind}})
            assert verdict_text == f'wrong: "{name}" is said to be "{kind}", and is "{KINDS[name]}"', kind


def test_a_part_of_an_intermediate_buffer_may_be_a_port() -> None:
    """Two outputs, joined in one buffer with what nobody asked for."""
    tensors = [fb.tensor("x", [2]), fb.tensor("a", [2]), fb.tensor("y", [4])]
    nodes = [fb.operator("TANH", [0], [1]), fb.operator("CONCATENATION", [1, 1], [2], fb.Node("ConcatenationOptions"))]
    data = draft.file(tensors, nodes, [0], [1])
    places = [draft.tensor(0, "x"), draft.tensor(1, "j"), draft.tensor(2, "j")]
    model = draft.model([draft.operator(0, [0], [1])], places)

    def verdict(kind: str, *left: Document, of_x: str = "input") -> str:
        buffers = [draft.buffer("x", 0, 2, (0, 2), kind=of_x), draft.buffer("j", 4, 4, (1, 3), kind=kind)]
        plan = draft.plan(["enter", "TANH 0", "leave"], [model | {"tensors": [*left]}], buffers)
        try:
            return "".join(check(plan, [Model(data)]))
        except Wrong as wrong:
            return str(wrong)

    assert verdict("output", *places) == verdict("intermediate", *places) == ""
    assert verdict("variable", *places) == '"j" is said to be "variable", and is "output"'
    assert verdict("intermediate", *places[:2]) == '"j" is said to be "intermediate", and is "output"'
    alone = '"x" is said to be "intermediate", and is "input"'
    assert verdict("output", *places, of_x="intermediate") == alone


def test_a_variable_is_no_intermediate_buffer() -> None:
    """Whatever else is in its buffer."""
    tensors = [fb.tensor("x", [2]), fb.tensor("s", [2], IsVariable=True), fb.tensor("v", [2]), fb.tensor("y", [2])]
    nodes = [fb.operator("RESHAPE", [1], [2]), fb.operator("ADD", [0, 2], [3])]
    file = Model(draft.file(tensors, nodes, [0], [3]))
    places = [draft.tensor(t, name) for t, name in enumerate("xssy")]
    model = draft.model([draft.operator(1, [0, 2], [3])], places)
    buffers = [
        draft.buffer("x", 0, 2, (0, 2), kind="input"), draft.buffer("s", 2, 2, (0, 3), kind="variable"),
        draft.buffer("y", 4, 2, (1, 3), kind="output"),
    ]  # fmt: skip
    plan = draft.plan(["enter", "ADD 1", "leave"], [model], buffers)
    assert check(plan, [file]) == []
    buffers[1]["kind"] = "intermediate"
    with pytest.raises(Wrong, match='"s" is said to be "intermediate", and is "variable"'):
        check(plan, [file])


STATE = draft.file(
    [fb.tensor("v", [4]), fb.tensor("s", [4], IsVariable=True), fb.tensor("y", [4])],
    [fb.operator("ADD", [0, 1], [2])], [0], [2],
)  # fmt: skip


def with_state(**changes: Document) -> str:
    """Check m, and k, which has a variable."""
    steps = [
        f"{name}: {step}" for name, kind in (("m", "TANH"), ("k", "ADD")) for step in ("enter", f"{kind} 0", "leave")
    ]
    first = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "c")])
    places = [draft.tensor(t, name) for t, name in enumerate("vsy")]
    second = draft.model([draft.operator(0, [0, 1], [2])], places, name="k")
    buffers = {
        "x": draft.buffer("x", 0, 4, (0, 2), kind="input"), "c": draft.buffer("c", 4, 4, (1, 3), kind="output"),
        "v": draft.buffer("v", 0, 4, (3, 5), kind="input", model="k"),
        "s": draft.buffer("s", 8, 4, (0, 6), kind="variable", model="k"),
        "y": draft.buffer("y", 4, 4, (4, 6), kind="output", model="k"),
    }  # fmt: skip
    plan = draft.plan(steps, [first, second], [each | changes.get(name, {}) for name, each in buffers.items()])
    return draft.verdict(plan, file(), STATE)


def test_variables_of_other_models_are_kept() -> None:
    assert with_state() == ""
    for name in "xc":
        assert with_state(**{name: {"offset": 11}}) == 'wrong: m overwrites "s", which must outlive its runs'
    assert with_state(s={"intervals": [[3, 6]]}) == 'wrong: "s" is not said to be alive while m runs'
    assert with_state(s={"kind": "intermediate"}) == 'wrong: "s" is said to be "intermediate", and is "variable"'


def test_what_the_application_keeps_lies_apart_from_other_models() -> None:
    """As far as the plan says that it is alive while they run; a part of their steps is as good as all."""
    for lives in ([[0, 6]], [[0, 4]], [[0, 2], [5, 6]]):
        assert with_state(x={"intervals": lives}, v={"offset": 12}, c={"offset": 16}) == ""
        lost = 'wrong: k overwrites "x", which must outlive its runs'
        assert with_state(x={"intervals": lives}, c={"offset": 16}) == lost
    assert with_state(c={"intervals": [[1, 6]]}) == 'wrong: k overwrites "c", which must outlive its runs'
    assert with_state(c={"intervals": [[1, 3]]}, x={"intervals": [[0, 3]]}) == ""
    assert with_state(v={"intervals": [[0, 6]]}) == 'wrong: m overwrites "v", which must outlive its runs'


def test_what_is_kept_counts_for_the_bound() -> None:
    """While k runs, c is held for n: the 4 bytes of c, and 4 of y or v, which may be in one place."""
    steps = [f"{name}: {step}" for name in "mnk" for step in ("enter", "TANH 0", "leave")]
    models, places = [], {"x": (0, (0, 2)), "z": (0, (4, 6)), "v": (0, (6, 8)), "y": (0, (7, 9))}
    for name in "mnk":
        tensors = [draft.tensor(t, port) for t, port in enumerate(PORTS[name])]
        models.append(draft.model([draft.operator(0, [0], [1])], tensors, name=name))
    owner = {"x": "m", "z": "n", "v": "k", "y": "k"}
    buffers = [
        draft.buffer(name, at, 4, life, model=owner[name], kind="input" if name in "xv" else "output")
        for name, (at, life) in places.items()
    ]
    buffers.append(draft.buffer("c", 4, 4, (1, 5), (6, 9), shared_with=["n"], kind="connection"))
    for bound, verdict_text in (
        (8, ""),
        (9, 'not checked: bound of "p": only 8 bytes can be seen to be needed at once'),
    ):
        proof = {"step": "k: TANH 0", "buffers": ["v", "y", "c"]}
        pools = [draft.pool(12, bound=bound, certificate=proof)]
        assert draft.verdict(draft.plan(steps, models, buffers, pools=pools), *[file()] * 3) == verdict_text
