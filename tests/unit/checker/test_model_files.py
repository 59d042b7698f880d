"""What the checker knows of TensorFlow Lite, and what it reads of its files."""

import contextlib
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite.TensorType import TensorType

from checker import model as codes
from checker.main import USAGE, check, main, of_manifest
from checker.model import NAMES, RANDOM, STATEFUL, WIDTHS, Fuel, Model, NotCovered, Table, Wrong
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft
from usmp_build.importers.tflite.enums import OPERATORS

KINDS = dict(enumerate(OPERATORS))
GROUPS = {
    "POOL": "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D",
    "PAD": "PAD PADV2",
    "RESHAPE": "RESHAPE SQUEEZE EXPAND_DIMS",
    "BROADCAST_TO": "BROADCAST_TO TILE",
    "RECURRENT": "SVDF UNIDIRECTIONAL_SEQUENCE_LSTM",
    "REDUCE": "MEAN SUM ARG_MAX ARG_MIN REDUCE_MAX REDUCE_MIN REDUCE_PROD REDUCE_ANY REDUCE_ALL",
    "BY_ROWS": "SOFTMAX L2_NORMALIZATION LOG_SOFTMAX",
    "ELEMENTS": """ADD ADD_N SUB MUL DIV MAXIMUM MINIMUM RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 LOGISTIC TANH HARD_SWISH
        ELU LEAKY_RELU PRELU QUANTIZE DEQUANTIZE CAST ABS NEG EXP LOG SQRT RSQRT SQUARE SIN COS FLOOR CEIL ROUND POW
        GELU FLOOR_DIV FLOOR_MOD SQUARED_DIFFERENCE EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL LOGICAL_AND
        LOGICAL_OR LOGICAL_NOT SELECT SELECT_V2 SIGN""",
}
OF_STATE = "IF WHILE CALL CALL_ONCE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE"
NEVER_CONSTANT = "CUSTOM RANDOM_STANDARD_NORMAL RANDOM_UNIFORM MULTINOMIAL"


def test_kinds_are_those_of_the_schema() -> None:
    grouped = {name: group for group, members in GROUPS.items() for name in members.split()}
    kinds = {KINDS[number]: kind for number, kind in NAMES.items()}
    assert kinds == {name: grouped.get(name, name) for name in kinds}
    assert grouped.keys() <= kinds.keys()
    assert len(kinds) == 92
    assert {KINDS[number]: name for number, name in STATEFUL.items()} == {n: n for n in OF_STATE.split()}
    assert {KINDS[number] for number in RANDOM} == set(NEVER_CONSTANT.split())
    for name in ("ADD", "L2_POOL_2D", "MUL", "SVDF", "CUSTOM", "MEAN", "ARG_MAX", "SUM", "SHAPE", "ARG_MIN", "RANK"):
        assert KINDS[getattr(codes, name.removesuffix("_2D"))] == name
    assert KINDS[codes.LSTM] == "UNIDIRECTIONAL_SEQUENCE_LSTM"


def test_sizes_are_those_of_the_types() -> None:
    types = {number: name.lower() for name, number in vars(TensorType).items() if not name.startswith("_")}
    of_numpy = {"bool": "?", "bfloat16": "uint16"}
    for number, size in WIDTHS.items():
        assert size == np.dtype(of_numpy.get(types[number], types[number])).itemsize, types[number]
    left_out = {name for number, name in types.items() if number not in WIDTHS}
    assert left_out >= {"string", "int4", "variant", "resource"}
    assert not left_out & {"float32", "float16", "int8", "uint8", "int16", "int32", "int64", "uint32", "uint16", "bool"}


def read(*tensors: fb.Node, data: tuple[bytes, ...] = (), **more: object) -> Any:
    return Model(fb.write(fb.model(fb.subgraph(tensors, [], [0], [0]), data=data, **more)))


def test_tensors_are_read() -> None:
    scale = fb.quantization([0.5, 2.0], [3, -1])
    model = read(
        fb.tensor("x", [2, 3], "INT16", IsVariable=True),
        fb.tensor("c", [2], "INT32", Buffer=1, Quantization=scale),
        fb.tensor("d", [1], "INT64", Buffer=2),
        fb.tensor("s", [3], "STRING"),
        fb.tensor("e", [], "FLOAT32"),
        data=(np.array([5, -6], np.int32).tobytes(), np.array([1 << 40], np.int64).tobytes()),
    )
    x, c, d, s, e = model.tensors
    assert (x.shape, x.type, x.width, x.elements, x.is_variable, x.data) == ([2, 3], TensorType.INT16, 2, 6, True, b"")
    assert (c.integers, d.integers, c.is_variable) == ([5, -6], [1 << 40], False)
    assert (s.width, e.elements, e.width) == (0, 1, 4)
    assert c.kind == (TensorType.INT32, [2], [0.5, 2.0], [3, -1])
    assert x.kind == (TensorType.INT16, [2, 3], [], [])
    assert model.constants == {1, 2}


@pytest.mark.parametrize(
    "node",
    [fb.tensor("x", [-1]), fb.tensor("x", [1], Buffer=2), fb.tensor("x", [1] * 17)],
    ids=["a negative side", "no such buffer", "too many dimensions"],
)
def test_damaged_tensors_are_refused(node: fb.Node) -> None:
    with pytest.raises(Wrong):
        read(node, data=(b"1",))


def test_tensors_at_the_edge_are_read() -> None:
    read(fb.tensor("x", [1] * 16), fb.tensor("y", [0], Buffer=1), data=(b"1",))
    read(fb.tensor("x"))


FILE = fb.write(
    fb.model(
        fb.subgraph(
            [fb.tensor("x"), fb.tensor("w", [4], Buffer=1, Quantization=fb.quantization([1.0], [0])), fb.tensor("y")],
            [fb.operator("ADD", [0, 1], [2], fb.Node("AddOptions", PotScaleInt16=True))],
            [0], [2],
        ), data=[b"abcd"],
    )
)  # fmt: skip


def test_a_file_that_is_cut_off_is_damaged_and_no_more_is_read_than_there_is() -> None:
    whole = Model(FILE)
    assert whole.tensors[1].data == b"abcd"
    for length in range(4, len(FILE), 3):
        with contextlib.suppress(Wrong, IndexError):
            Model(FILE[:length])
    table = Table(FILE, int.from_bytes(FILE[:4], "little"))
    end = len(FILE)
    for kind, at, number, is_there in (
        ("I", end - 4, 1, True), ("I", end - 3, 1, False), ("B", -1, 1, False), ("B", 0, 1, True),
        ("B", 0, end, True), ("B", 1, end, False), ("B", 0, end + 1, False), ("s", 4, 4, True),
        ("H", end - 4, 2, True), ("H", end - 4, 3, False),
    ):  # fmt: skip
        if is_there:
            assert table.unpack(kind, at, number)
        else:
            with pytest.raises(Wrong, match="the model file is damaged"):
                table.unpack(kind, at, number)
    assert table.unpack("s", 4, 4) == [b"TFL3"]
    assert table.unpack("B", 4, 4) == [*b"TFL3"]
    assert table.unpack("B", 4)[0] == ord("T")
    assert table.unpack("I", end - 4)[0] == int.from_bytes(FILE[-4:], "little")


def test_operators_are_read() -> None:
    add = fb.operator("ADD", [0, 1], [2], fb.Node("AddOptions", FusedActivationFunction=3))
    custom = fb.operator("CUSTOM:mine", [0], [3])
    new = fb.operator("GELU", [0], [4])
    graph = fb.subgraph([fb.tensor(str(t)) for t in range(5)], [add, custom, new], [0, 1], [2, 3, 4])
    model = Model(fb.write(fb.model(graph)))
    assert [(op.code, op.kind) for op in model.operators] == [(0, "ELEMENTS"), (32, "OTHER"), (150, "ELEMENTS")]
    assert [(op.inputs, op.outputs) for op in model.operators] == [([0, 1], [2]), ([0], [3]), ([0], [4])]
    assert [model.operators[0].option(0, "b"), model.operators[0].option(1), model.operators[0].option(9)] == [3, 0, 0]
    assert model.operators[1].option(0, "b", 7) == 7
    assert (model.inputs, model.outputs) == ([0, 1], [2, 3, 4])
    assert model.producer[3] == (model.operators[1], 0)


def test_operators_of_older_files_have_their_code_in_one_place() -> None:
    node = fb.operator("TANH", [0], [1])
    codes = [fb.Node("OperatorCode", DeprecatedBuiltinCode=28)]
    graph = fb.subgraph([fb.tensor("x"), fb.tensor("y")], [node], [0], [1])
    assert Model(fb.write(fb.model(graph, OperatorCodes=codes))).operators[0].code == 28


def test_what_follows_from_constants_is_constant() -> None:
    kinds = {"SHAPE": True, "RANK": True, "TANH": False}
    tensors = [fb.tensor("x"), fb.tensor("c", [4], Buffer=1), *(fb.tensor(kind) for kind in kinds)]
    tensors += [fb.tensor(name) for name in "turvdo"]
    operators = [
        fb.operator("TANH", [1], [5]),
        *(fb.operator(kind, [0], [2 + number]) for number, kind in enumerate(kinds)),
        fb.operator("ADD", [5, -1], [6]),
        fb.operator("RANDOM_UNIFORM", [1], [7]),
        fb.operator("CALL_ONCE", [1], [8]),
        fb.operator("CUSTOM:TFLM_DECODE", [1], [9]),
        fb.operator("CUSTOM:OTHER", [1], [10]),
    ]
    model = Model(fb.write(fb.model(fb.subgraph(tensors, operators, [0], [8]), data=[b"abcd"])))
    assert model.constants == {1, 2, 3, 5, 6, 9}


def test_equal_operators_make_equal_tensors() -> None:
    """Of one kind, with the same options, types and inputs, in either order where that does not matter."""
    relu, strides = {"FusedActivationFunction": 1}, ((0, 2), (2, 0), (2, 1), (2, 3), (0, 2))
    buffers = [
        ("ADD", [0, 1], fb.Node("AddOptions")), ("ADD", [1, 0], fb.Node("AddOptions")),
        ("ADD", [0, 1], fb.Node("AddOptions", **relu)),
        ("SUB", [0, 1], fb.Node("SubOptions")), ("SUB", [1, 0], fb.Node("SubOptions")),
        ("SUB", [0, 1], fb.Node("SubOptions")),
        ("TANH", [2], None), ("TANH", [3], None), ("TANH", [4], None),
        ("RANDOM_UNIFORM", [0], None), ("RANDOM_UNIFORM", [0], None),
        ("TANH", [5], None), ("TANH", [5], None),
        ("PRELU", [0, -1], None), ("PRELU", [0, -1], None),
        *(("ADD", [0, 2], fb.Node("AddOptions", FusedActivationFunction=function)) for function in (1, 3, 1)),
        *(("MAX_POOL_2D", [0], fb.Node("Pool2DOptions", StrideW=w, StrideH=h)) for w, h in strides),
    ]  # fmt: skip
    tensors = [
        fb.tensor("a"), fb.tensor("b"), fb.tensor("c", [4], Buffer=1), fb.tensor("d", [4], Buffer=2),
        fb.tensor("e", [2, 2], Buffer=1), fb.tensor("f", IsVariable=True),
    ]  # fmt: skip
    results = range(len(tensors), len(tensors) + len(buffers))
    operators = [
        fb.operator(kind, inputs, [t], given) for t, (kind, inputs, given) in zip(results, buffers, strict=True)
    ]
    graph = fb.subgraph([*tensors, *(fb.tensor(f"t{t}") for t in results)], operators, [0, 1], [*results])
    same = Model(fb.write(fb.model(graph, data=[b"abcd", b"abcd"]))).same
    first = [same[t] - len(tensors) for t in results]
    assert first == [0, 0, 2, 3, 4, 3, 6, 6, 8, 9, 10, 11, 12, 13, 13, 15, 16, 15, 18, 19, 20, 21, 18]
    assert [same[t] for t in range(len(tensors))] == [0, 1, 2, 2, 4, 5]


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fuel, "left", 5)
    Fuel.spend(3)
    Fuel.spend(2)
    assert Fuel.left == 0
    with pytest.raises(NotCovered):
        Fuel.spend(1)
    model = Model(FILE)  # each file, and the plan, may take as much as there is
    used = Fuel.MOST - Fuel.left
    assert len(FILE) / 5 < used < 4 * len(FILE)
    monkeypatch.setattr(Fuel, "left", 0)
    record = draft.model([draft.operator(0, [0], [2])], [draft.tensor(0, "x"), draft.tensor(2, "y")])
    buffers = [draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("y", 4, 4, (1, 3), kind="output")]
    assert check(draft.plan(["enter", "ADD 0", "leave"], [record], buffers), [model]) == []


def outcome_of(*arguments: str) -> tuple[int, str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main([*arguments])
    return code, printed.getvalue()


def test_the_program_checks_a_plan_against_its_files(tmp_path: Path) -> None:
    """It finds the files by what they hold, and says what it has not checked."""
    file, other, path = tmp_path / "m.tflite", tmp_path / "other.tflite", tmp_path / "plan.json"
    file.write_bytes(FILE)
    other.write_bytes(b"another model")
    record = draft.model([draft.operator(0, [0], [2])], [draft.tensor(0, "x"), draft.tensor(2, "y")])
    record["sha256"] = hashlib.sha256(FILE).hexdigest()
    buffers = [draft.buffer("x", 0, 4, (0, 2), kind="input"), draft.buffer("y", 4, 4, (1, 3), kind="output")]
    pool = draft.pool(8, bound=8)

    def printed(**changes: object) -> tuple[int, str]:
        steps = ["enter", "ADD 0", "leave"]
        path.write_text(json.dumps(draft.plan(steps, [{**record, **changes}], buffers, pools=[pool])))
        return outcome_of(str(path), str(file), str(other))

    right = "right: everything that an operator needs is in its place when it is read\n"
    manifest = (
        'not checked: that pool "p" is rw, of "generated", in region "", and has {}\n'
        "not checked: m: that x are its inputs and y its outputs, by name; that none of them come or go by rows, and no"
        " more are kept between runs\n"
        "not checked: that no operator needs a constant beside those of the plan\n"
        "not checked: that of all models only these run at the same time: none\n"
    )
    assert printed() == (0, right + 'not checked: bound of "p": a search proved it\n' + manifest.format("no limit"))
    assert outcome_of(str(path), str(other), str(file)) == printed()
    assert printed(on_demand=True) == (3, "not covered: m: a program, or a model without operators\n")
    pool["bound"] = 0
    assert printed() == (0, right + manifest.format("no limit"))
    pool["limit"] = 9
    assert printed() == (0, right + manifest.format("a limit of 9 bytes"))
    plan = {"concurrent": [["a", "b"], ["b", "c"]], "pools": [], "models": []}
    pairs = "that of all models only these run at the same time: a and b, b and c"
    assert [*of_manifest(plan)] == ["that no operator needs a constant beside those of the plan", pairs]
    ports = {"inputs": ["a", "b"], "outputs": ["c", "d"], "inputs_by_rows": ["b"], "outputs_by_rows": ["c"]}
    message_for = (
        "m: that a, b are its inputs and c, d its outputs, by name; that b, c of them come or go by rows, and no more"
    )
    assert [*of_manifest(plan | {"models": [{"name": "m", **ports}]})] == [
        f"{message_for} are kept between runs",
        "that no operator needs a constant beside those of the plan",
        pairs,
    ]
    buffers[1]["offset"] = 5
    assert printed() == (1, 'wrong: "y" ends at p+9, and the pool has 8 bytes\n')


def test_what_the_program_says(tmp_path: Path) -> None:
    usage = outcome_of()
    assert usage == outcome_of("plan.json") == (2, f"{USAGE}\n")
    plan, file = tmp_path / "plan.json", tmp_path / "m.tflite"
    file.write_bytes(FILE)
    plan.write_text(json.dumps({"models": [{"name": "kws", "sha256": "0" * 64}]}))
    lost = "wrong: none of the files is the one that kws was planned from\n"
    assert outcome_of(str(plan), str(file)) == (1, lost)
    plan.write_text("{}")
    assert outcome_of(str(plan), str(file)) == (1, "wrong: this is no plan, or no model: KeyError: 'models'\n")
    assert outcome_of(str(plan), str(tmp_path / "none"))[0] == 1
    plan.write_text(json.dumps({"models": [{"name": "k\x1b" * 2_000, "sha256": ""}]}))
    code, text = outcome_of(str(plan), str(file))
    assert (code, len(text)) == (1, len("\n") + 1_000 + 3 * text.count("\\x1b"))
