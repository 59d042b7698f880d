"""Refused files, and the messages: at least one file for each code of docs/errors/models.md."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from tests.support.flatbuffer import (
    Node,
    identity,
    model,
    operator,
    operator_code,
    quantization,
    subgraph,
    tensor,
    write,
)
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.check import check
from usmp_build.ir.graph import Port

ROOT = Path(__file__).parents[3]
Case = tuple[str, bytes | Node, str]


def only(*tensors: Node, **fields: object) -> Node:
    """A model of nothing but tensors."""
    return model(subgraph(tensors), **fields)


def running(*operators: Node, inputs: Sequence[int] = (0,), outputs: Sequence[int] = (1,)) -> Node:
    """A model of four tensors: x, y, z and the constant c."""
    tensors = [tensor("x"), tensor("y"), tensor("z"), tensor("c", Buffer=1)]
    return model(subgraph(tensors, operators, inputs, outputs), data=[b"abcd"])


def relu(source: int, target: int) -> Node:
    return operator("RELU", [source], [target])


def call(index: int) -> Node:
    return operator("CALL", [], [], Node("CallOptions", Subgraph=index))


def chain(length: int, calls: int) -> Node:
    """A model whose subgraphs each run the next one, some times over."""
    links = [subgraph([], [call(i + 1) for _ in range(calls)]) for i in range(length)]
    return model(*links, subgraph([tensor("c", Buffer=1), tensor()], [relu(0, 1)]), data=[b"abcd"])


def keeping(*operators: Node, outputs: Sequence[int] = (2,)) -> Node:
    """A model that reads a variable of INT8 by the handle h, and does something else after that."""
    tensors = [
        tensor("x"),
        tensor("h", [], "RESOURCE"),
        tensor("y"),
        tensor("z", [4], "INT16"),
        tensor("w", [4], "INT16"),
    ]
    first = [operator("VAR_HANDLE", [], [1]), operator("READ_VARIABLE", [1], [2])]
    return model(subgraph(tensors, [*first, *operators], [0, 4], outputs))


def deciding(decision: Node, yes: Node, no: Node, inputs: Sequence[int] = (0, 1)) -> Node:
    """A model that runs one of two arms on x to get y."""
    choose = operator("IF", inputs, [2], Node("IfOptions", ThenSubgraphIndex=1, ElseSubgraphIndex=2))
    return model(subgraph([decision, tensor("x"), tensor("y")], [choose], [0, 1], [2]), yes, no)


def arm(dtype: str = "INT8") -> Node:
    return subgraph([tensor(dtype=dtype), tensor()], [relu(0, 1)], [0], [1])


def looping(test: Node, body: Node) -> Node:
    """A model that carries x around a loop."""
    loop = operator("WHILE", [0], [1], Node("WhileOptions", CondSubgraphIndex=1, BodySubgraphIndex=2))
    return model(subgraph([tensor(), tensor()], [loop], [0], [1]), test, body)


def condition() -> Node:
    return subgraph([tensor(), FLAG], [operator("CUSTOM:Test", [0], [1])], [0], [1])


def starting_over() -> Node:
    """A body that runs the model."""
    again = operator("CALL", [0], [1], Node("CallOptions", Subgraph=0))
    return subgraph([tensor(), tensor()], [again], [0], [1])


def stored(*parts: bytes | Node, **fields: object) -> Node:
    """A model of tensor t in buffer 1; the buffers are the empty one and then these."""
    buffers = [part if isinstance(part, Node) else Node("Buffer", Data=part) for part in parts]
    return only(tensor("t", Buffer=1, **fields), Buffers=[Node("Buffer"), *buffers])


def scaled(scales: list[float], zero_points: list[int], axis: int = 0, **fields: object) -> Node:
    """A model of a quantized tensor t."""
    return only(tensor("t", Quantization=quantization(scales, zero_points, axis), **fields))


def with_options(kind: str, table: str, **fields: object) -> Node:
    return running(operator(kind, [0], [1], Node(table, **fields)))


def custom(options: bytes) -> Node:
    return running(operator("CUSTOM:SignalDelay", [0], [1], custom=bytes(options)))


FLAG = tensor("flag", [], "BOOL")
NOWHERE = operator("CALL_ONCE", [], [], Node("CallOnceOptions", InitSubgraphIndex=-1))
CUSTOM_SCALES = Node("QuantizationParameters", DetailsType=1)
STACKED = dict.fromkeys(("num_channels", "stacker_left_context", "stacker_right_context"), (1 << 31) - 1)
STACKER = operator("CUSTOM:SignalStacker", [0], [1, 2], custom=bytes(flexbuffers.Dumps({**STACKED, "stacker_step": 1})))
NEGATIVE = Node("OperatorCode", DeprecatedBuiltinCode=-3, BuiltinCode=-2)

FILES: list[Case] = [
    ("T201", b"", "the file is empty"),
    ("T201", b"\x08\0\0\0TFL", 'the mark "TFL3" is missing'),
    ("T201", write(identity(), b"ONNX"), 'the mark "TFL3" is missing'),
    ("T201", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ("T202", identity(Version=2), "version 2 of the schema; only 3 is supported"),
    ("T203", b"\x08\0\0\0TFL3", "an offset leads to byte 8, but the file has 8 bytes"),
    ("T203", b"\xff\xff\xff\xffTFL3", "an offset leads to byte 4,294,967,295"),
    ("T203", b"\x08\0\0\0TFL3\xff\xff\xff\x7f", "an offset leads to byte -2,147,483,639"),
    ("T203", stored(Node("Buffer", Offset=2, Size=1 << 40)), "buffers[1].data: an offset leads to byte 2"),
    ("T203", stored(Node("Buffer", Offset=1 << 63, Size=1 << 63)), "buffers[1].data"),
    ("T204", only(*[tensor("same")] * 2000), "refers to the same parts over and over"),
    ("T205", only(Node("Tensor", Name="t", Type=99)), 'tensor 0 "t" has the unknown type 99'),
    ("T205", only(Node("Tensor", Name="t", Type=-1)), 'tensor 0 "t" has the unknown type -1'),
    ("T206", only(tensor("t", Sparsity=Node("SparsityParameters"))), 'tensor 0 "t" is sparse'),
    ("T207", only(tensor("t", slot10=1)), 'tensor 0 "t" has its data in another file'),
    ("T208", only(tensor("t", Buffer=7)), 'tensor 0 "t" has its data in buffer 7, but the model has 1'),
    ("T209", only(tensor("t", Quantization=CUSTOM_SCALES)), "quantization details of type 1"),
    ("T210", identity(OperatorCodes=[]), "operator 0 is of operator code 0, but the model has 0"),
    ("T211", identity(OperatorCodes=[NEGATIVE]), "operator code 0 is -2, which means no operator"),
    ("T211", identity(OperatorCodes=[operator_code("CUSTOM:")]), "operator code 0 is a custom operator without a name"),
    ("T212", with_options("ADD", "Pool2DOptions"), "operator 0 (ADD) has options of type 5, not 11"),
    ("T213", with_options("ADD", "AddOptions", FusedActivationFunction=9), "the activation 9, which does not exist"),
    ("T213", with_options("CONV_2D", "Conv2DOptions", Padding=2), "the padding 2, which does not exist"),
    ("T232", running(STACKER), "its options ask for a state of 9,223,372,028,264,841,219 numbers"),
    ("T214", custom(b""), "operator 0 (CUSTOM:SignalDelay): its options cannot be read: they are damaged"),
    ("T214", custom(flexbuffers.Dumps([1])), "its options cannot be read: they are no map from names to numbers"),
    ("T214", custom(flexbuffers.Dumps({"delay_length": 300})[5:]), "its options cannot be read: they are damaged"),
    ("T214", custom(flexbuffers.Dumps({"delay": 3})), 'does not have the option "delay_length"'),
    ("T214", custom(flexbuffers.Dumps({"delay_length": "3"})), 'does not have the option "delay_length"'),
    ("T214", custom(flexbuffers.Dumps({"delay_length": 0.5})), 'the option "delay_length" 0.5, not a whole number'),
    ("T214", custom(flexbuffers.Dumps({"delay_length": 1 << 40})), 'the option "delay_length" 1099511627776, not a'),
]
TENSORS: list[Case] = [
    ("T220", only(tensor("t", [1] * 17)), 'tensor 0 "t" has 17 dimensions; at most 16'),
    ("T221", only(tensor("t", [1, -1])), 'tensor 0 "t" has an unknown shape, [1, -1]'),
    ("T222", only(tensor("t", [1 << 16] * 3)), "takes 281,474,976,710,656 bytes; at most 281,474,976,710,655"),
    ("T223", stored(b"abcd", IsVariable=True), 'tensor 0 "t" is a variable, but has constant data'),
    ("T224", stored(bytes(12), dtype="FLOAT32"), 'tensor 0 "t" has 12 bytes of data, but FLOAT32 [4] takes 16'),
    ("T224", stored(bytes(3), shape=[3], dtype="INT4"), "has 3 bytes of data, but INT4 [3] takes 2"),
    ("T225", scaled([1.0, 2.0], [0]), 'tensor 0 "t" has 2 scales and 1 zero points'),
    ("T226", scaled([np.nan], [0]), 'tensor 0 "t" has the scale nan'),
    ("T226", scaled([np.inf], [0]), "has the scale inf"),
    ("T226", scaled([-1.0], [0]), "has the scale -1.0"),
    ("T227", scaled([1.0], [128]), 'tensor 0 "t" has the zero point 128, which INT8 cannot hold'),
    ("T227", scaled([1.0], [-1], dtype="UINT8"), "has the zero point -1, which UINT8 cannot hold"),
]
GRAPHS: list[Case] = [
    ("T230", model(), "the model has no subgraph"),
    ("T231", running(relu(99, 1)), "operator 0 (RELU): input 0 is tensor 99, but subgraph 0 has 4 tensors"),
    ("T231", running(relu(-2, 1)), "operator 0 (RELU): input 0 is tensor -2"),
    ("T231", running(relu(0, -1)), "operator 0 (RELU): output 0 is tensor -1"),
    ("T231", running(relu(0, 1), inputs=[0, 4]), "subgraph 0: input 1 is tensor 4"),
    ("T231", running(relu(0, 1), outputs=[-1]), "subgraph 0: output 0 is tensor -1"),
    ("T232", with_options("CONV_2D", "Conv2DOptions", StrideH=1), "the option stride_w is 0, but must be 1 or more"),
    ("T232", running(operator("CONV_2D", [0], [1])), "operator 0 (CONV_2D): the option stride_h is 0"),
    ("T232", with_options("SOFTMAX", "SoftmaxOptions", Beta=np.inf), "the option beta is inf, but must be finite"),
    ("T233", running(relu(0, 1), inputs=[0, 0]), 'tensor 0 "x" is an input of subgraph 0 twice'),
    ("T234", running(relu(0, 1), inputs=[0, 3]), 'tensor 3 "c" is a constant and an input of subgraph 0'),
    ("T234", running(relu(0, 3)), 'operator 0 (RELU) writes tensor 3 "c", which is a constant'),
    ("T234", running(relu(0, 1), relu(1, 0)), 'operator 1 (RELU) writes tensor 0 "x", which is an input'),
    ("T235", running(relu(0, 1), relu(0, 1)), 'writes tensor 1 "y", which operator 0 (RELU) writes too'),
    ("T235", running(operator("SPLIT", [3, 0], [1, 1])), "which operator 0 (SPLIT) writes too"),
    ("T235", running(relu(0, 1), relu(1, 1)), 'operator 1 (RELU) reads and writes tensor 1 "y"'),
    ("T235", running(relu(2, 2)), 'operator 0 (RELU) reads and writes tensor 2 "z"'),
    ("T236", running(relu(2, 1)), 'operator 0 (RELU) reads tensor 2 "z", but nothing writes it'),
    ("T236", running(relu(0, 1), operator("CUSTOM:F", [2], []), relu(2, 3)), 'operator 2 (RELU) reads tensor 2 "z"'),
    ("T236", running(relu(0, 1), outputs=[2]), 'subgraph 0 returns tensor 2 "z", but nothing writes it'),
    ("T237", running(relu(2, 1), relu(0, 2)), 'operator 0 (RELU) reads tensor 2 "z" before operator 1 (RELU)'),
]
CALLS: list[Case] = [
    ("T240", model(subgraph([], [operator("CALL", [], [])])), "operator 0 (CALL): it does not say which subgraph"),
    ("T241", model(subgraph([], [call(5)])), "operator 0 (CALL): it runs subgraph 5, but the model has 1"),
    ("T241", model(subgraph([], [NOWHERE])), "operator 0 (CALL_ONCE): it runs subgraph -1"),
    ("T242", deciding(tensor("d"), arm(), arm()), "number 0 is BOOL [], but the operator has INT8 [4]"),
    ("T242", deciding(FLAG, arm(), arm("INT16")), "input of subgraph 2: number 0 is INT16 [4]"),
    ("T242", deciding(FLAG, arm(), arm(), [0]), "input of subgraph 1: there are 1 of them, but the operator has 0"),
    ("T242", deciding(FLAG, arm(), arm(), []), "what it decides by: there are 1 of them, but the operator has 0"),
    ("T242", deciding(FLAG, arm(), arm(), [0, -1]), "input of subgraph 1: number 0 is left out"),
    ("T242", looping(arm(), arm()), "output of subgraph 1: number 0 is INT8 [4], but the operator has BOOL []"),
    ("T242", looping(condition(), subgraph([tensor()], [], [0], [])), "output of subgraph 2: there are 0 of them"),
    ("T243", model(subgraph([], [call(0)])), "subgraph 0 runs subgraph 0, which leads back to subgraph 0"),
    ("T243", looping(condition(), starting_over()), "which leads back to subgraph"),
    ("T244", chain(64, 1), "subgraph 0 runs nested subgraphs, 65 deep; at most 64"),
    ("T245", chain(40, 2), "steps, with all that it runs; at most 1,048,576"),
]
VARIABLES: list[Case] = [
    ("T267", keeping(operator("ASSIGN_VARIABLE", [1, 4], [])), 'tensor 4 "w" is INT16 of 8 bytes, but elsewhere'),
    ("T268", keeping(operator("READ_VARIABLE", [0], [3])), "uses a variable that no VAR_HANDLE of its subgraph names"),
    ("T268", keeping(operator("READ_VARIABLE", [1, 0], [3])), "does not have a handle and a value"),
    ("T268", keeping(operator("ASSIGN_VARIABLE", [1, 1], [])), "uses a handle as a value"),
    ("T268", keeping(operator("VAR_HANDLE", [0], [3])), "does not make one handle of nothing"),
    ("T268", keeping(relu(1, 3)), 'tensor 1 "h" is the handle of a variable, and goes to RELU'),
    ("T268", keeping(outputs=[2, 1]), 'tensor 1 "h" is the handle of a variable, and leaves subgraph 0'),
]
CASES = FILES + TENSORS + GRAPHS + CALLS + VARIABLES


@pytest.mark.parametrize(("code", "file", "message"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_refusals(code: str, file: bytes | Node, message: str) -> None:
    data = file if isinstance(file, bytes) else write(file)
    with pytest.raises(ModelError) as caught:
        import_tflite(data, "m", "models/m.tflite")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.place) == (code, "models/m.tflite")
    assert message in f"{diagnostic.message} {diagnostic.help}"


def test_every_cut_is_refused() -> None:
    data = write(identity())
    padding = 4  # at the end, which holds nothing
    for size in range(len(data) - padding):
        with pytest.raises(ModelError, match=r"error\[T20[13]\]"):
            import_tflite(data[:size], "m", "m.tflite")


def test_names_cannot_garble_the_terminal() -> None:
    with pytest.raises(ModelError) as caught:
        import_tflite(write(only(tensor("a\x1b[2J\u202e", [-1]))), "m", "m.tflite")
    assert "a\\x1b[2J\\u202e" in str(caught.value)


def test_names_for_other_tensors() -> None:
    """The reader of .tflite files drops such names, other importers may not."""
    model = import_tflite(write(identity()), "m", "m.tflite")
    fault = check(replace(model, output_names=(Port("b", 0),)))
    assert fault
    assert (fault.code, fault.message) == (
        "T238",
        'the signature calls tensor 0 "b", but it is no output of the model',
    )


def test_codes_are_documented_and_tested() -> None:
    sources = (path.read_text("utf-8") for path in sorted((ROOT / "usmp_build").rglob("*.py")))
    used = {code for source in sources for code in re.findall(r'"(T2\d\d)"', source)}
    page = (ROOT / "docs" / "errors" / "models.md").read_text("utf-8")
    documented = re.findall(r"^### (T2\d\d) ", page, re.MULTILINE)
    of_programs = {
        code for code in used if "T250" <= code <= "T266" or code == "T270"
    }  # they have a page, and tests, of their own
    used -= of_programs
    assert documented == sorted(used)
    used -= {"T215"}  # tests/end_to_end/test_export_tflm.py has this one
    used -= {"T271"}  # test_tflite_offsets.py has this one
    used -= {"T280"}  # tests/end_to_end/test_selftest_undefined.py has this one
    used -= {"T246", "T247", "T248", "T249"}  # tests/unit/operators/test_well_formed.py has these
    of_texts = {"T228", "T238"}  # what no TFLite file can say, or only the text form is tested with
    assert used == of_texts | {code for code, _, _ in CASES}
