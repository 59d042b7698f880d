"""What a sound .tflite file becomes."""

import numpy as np
import pytest
import tflite

from tests.support.flatbuffer import Node, identity, model, operator, quantization, subgraph, tensor, write
from usmp_build.importers.tflite import import_tflite
from usmp_build.importers.tflite.reader import read_tflite
from usmp_build.ir.graph import DType, Model, Operator, Port, Quantization
from usmp_build.ir.options import Activation, If, Padding
from usmp_build.operators.binary import Binary
from usmp_build.operators.circular_buffer import CircularBuffer
from usmp_build.operators.reductions import Softmax
from usmp_build.operators.slicing import StridedSlice
from usmp_build.operators.sums import Conv2D, FullyConnected
from usmp_build.operators.table import options_class


def imported(node: Node) -> Model:
    return import_tflite(write(node), "m", "m.tflite")


def one_operator(kind: str, options: Node | None = None) -> Operator:
    """An operator as it is read: whether it has the operands of its kind does not matter."""
    main = subgraph([tensor("x"), tensor("y")], [operator(kind, [0], [1], options)], [0], [1])
    return read_tflite(write(model(main)), "m").main.operators[0]


def test_least_model() -> None:
    result = imported(identity())
    assert result.name == "m"
    assert [(t.name, t.shape, t.dtype, t.data) for t in result.main.tensors] == [
        ("x", (4,), DType.INT8, None),
        ("y", (4,), DType.INT8, None),
    ]
    assert (result.main.name, result.main.inputs, result.main.outputs) == ("main", (0,), (1,))
    assert result.main.operators == (Operator("RELU", (0,), (1,), None, 0),)


BUILTINS = {name: n for name, n in vars(tflite.BuiltinOperator).items() if name.isupper() and name != "CUSTOM"}


TIED = {"CALL", "CALL_ONCE", "IF", "WHILE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}
"""Kinds that make no sense without subgraphs or operators beside them."""


@pytest.mark.parametrize("kind", sorted(BUILTINS.keys() - TIED))
def test_every_builtin_operator_imports_by_name(kind: str) -> None:
    options = {
        "Conv2D": Node("Conv2DOptions", StrideH=1, StrideW=1),
        "DepthwiseConv2D": Node("DepthwiseConv2DOptions", StrideH=1, StrideW=1),
        "Pool2D": Node("Pool2DOptions", StrideH=1, StrideW=1, FilterHeight=1, FilterWidth=1),
    }
    expected = options_class(kind) or type(None)
    table = options.get(expected.__name__)
    if kind == "TRANSPOSE_CONV":
        table = Node("TransposeConvOptions", StrideH=1, StrideW=1)
    operator = one_operator(kind, table)
    assert operator.kind == kind
    assert type(operator.options) is expected


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ({"DeprecatedBuiltinCode": 3}, "CONV_2D"),  # before there was the wide number
        ({"BuiltinCode": 3}, "CONV_2D"),  # by a writer that knows only the wide one
        ({"DeprecatedBuiltinCode": 127, "BuiltinCode": 150}, "GELU"),
        ({"DeprecatedBuiltinCode": 127, "BuiltinCode": 9999}, "BUILTIN_9999"),  # newer than the `tflite` package
        ({"DeprecatedBuiltinCode": 32, "BuiltinCode": 32, "CustomCode": "Fancy"}, "CUSTOM:Fancy"),
    ],
)
def test_operator_codes(code: dict[str, int], kind: str) -> None:
    options = Node("Conv2DOptions", StrideH=1, StrideW=1)
    relu = operator("RELU", [0], [1], options if kind == "CONV_2D" else None)
    main = subgraph([tensor("x"), tensor("y")], [relu], [0], [1])
    read = read_tflite(write(model(main, OperatorCodes=[Node("OperatorCode", **code)])), "m")
    assert read.main.operators[0].kind == kind


def test_a_custom_operator_without_options_has_their_defaults() -> None:
    assert one_operator("CUSTOM:CIRCULAR_BUFFER").options == CircularBuffer(0)


def test_a_custom_operator_may_be_given_scratch() -> None:
    """As Vela does for an Ethos-U: nothing writes it, and what is in it does not matter."""
    main = subgraph([tensor("x"), tensor("scratch"), tensor("y")], [operator("CUSTOM:ethos-u", [0, 1], [2])], [0], [2])
    assert imported(model(main)).main.operators[0].inputs == (0, 1)


def test_options_are_read() -> None:
    options = Node("Conv2DOptions", Padding=1, StrideH=2, StrideW=3, FusedActivationFunction=3, DilationHFactor=4)
    assert one_operator("CONV_2D", options).options == Conv2D(Padding.VALID, 2, 3, 4, 1, Activation.RELU6)
    assert one_operator("ADD", Node("AddOptions", FusedActivationFunction=1)).options == Binary(Activation.RELU)
    options = Node("FullyConnectedOptions", KeepNumDims=True, WeightsFormat=1)
    assert one_operator("FULLY_CONNECTED", options).options == FullyConnected(keep_num_dims=True, shuffled_weights=True)
    options = Node("StridedSliceOptions", EndMask=5, Offset=True)
    assert one_operator("STRIDED_SLICE", options).options == StridedSlice(end_mask=5, offset=True)


def test_options_left_out_are_those_of_the_schema() -> None:
    assert one_operator("ADD").options == Binary(Activation.NONE)
    assert one_operator("SOFTMAX").options == Softmax(beta=0.0)


def test_optional_input() -> None:
    main = subgraph([tensor("x"), tensor("y")], [operator("CUSTOM:F", [0, -1], [1])], [0], [1])
    assert imported(model(main)).main.operators[0].inputs == (0, None)


def test_constants() -> None:
    tensors = [
        tensor("bytes", [2, 2], Buffer=1),
        tensor("nibbles", [3], "INT4", Buffer=2),
        tensor("text", [1], "STRING", Buffer=1),
        tensor("sentinel", [4], Buffer=0),
        tensor("nothing yet", [4], Buffer=3),
    ]
    main = subgraph(tensors)
    buffers = [Node("Buffer", Data=b"junk"), *(Node("Buffer", Data=part) for part in (b"abcd", b"\x21\x03", b""))]
    result = imported(model(main, Buffers=buffers)).main.tensors
    assert [t.data for t in result] == [b"abcd", b"\x21\x03", b"abcd", None, None]


def test_data_behind_the_flatbuffer() -> None:
    def file(offset: int) -> bytes:
        buffers = [Node("Buffer"), Node("Buffer", Offset=offset, Size=4)]
        return write(model(subgraph([tensor(Buffer=1)]), Buffers=buffers))

    data = file(len(file(9999))) + b"abcd"
    assert import_tflite(data, "m", "m.tflite").main.tensors[0].data == b"abcd"


def test_quantization() -> None:
    tensors = [
        tensor("one", Quantization=quantization([0.5], [-3], axis=7)),
        tensor("many", [2, 3], Quantization=quantization([0.5, 0.25, 0.0], [0, 1, 2], axis=1)),
        tensor("no zero points", [2], Quantization=quantization([0.5, 0.25])),
        tensor("range only", Quantization=Node("QuantizationParameters", Min=[0.0], Max=[1.0])),
        tensor("none"),
        tensor("bias", [2], Quantization=quantization([0.5, 0.25], [0, 0], axis=3)),
        tensor("no such axis", [3, 2], Quantization=quantization([0.5, 0.25], [0, 0], axis=-1)),
        tensor("not one of each", [2, 3], Quantization=quantization([0.5, 0.25], [0, 0], axis=1)),
    ]
    assert [t.quantization for t in imported(model(subgraph(tensors))).main.tensors] == [
        Quantization((0.5,), (-3,)),
        Quantization((0.5, 0.25, 0.0), (0, 1, 2), 1),
        None,
        None,
        None,
        Quantization((0.5, 0.25), (0, 0), 0),
        None,
        None,
    ]


def test_scales_are_exactly_float32() -> None:
    result = imported(model(subgraph([tensor(Quantization=quantization([0.1], [0]))])))
    assert result.main.tensors[0].quantization == Quantization((float(np.float32(0.1)),), (0,))


def test_scalars_variables_and_empty_tensors() -> None:
    tensors = [
        tensor("scalar", [], "FLOAT32", Buffer=1),
        tensor("state", IsVariable=True),
        tensor("empty", [0, 1 << 30]),
        tensor("empty result", [0]),
        tensor("result"),
    ]
    main = subgraph(tensors, [operator("CUSTOM:F", [0, 1, 2], [3, 4])], [], [3, 4])
    scalar, state, empty, written, _ = imported(model(main, data=[bytes(4)])).main.tensors
    assert (scalar.shape, scalar.size, scalar.is_constant) == ((), 4, True)
    assert (state.is_variable, state.is_constant) == (True, False)
    assert (empty.data, written.data) == (b"", None)


def test_unknown_batch_with_a_stored_shape() -> None:
    main = subgraph([tensor("x", [1, 4], ShapeSignature=[-1, 4])], [], [0], [0])
    assert imported(model(main)).main.tensors[0].shape == (1, 4)


@pytest.mark.parametrize(("number", "dtype"), [(18, "BFLOAT16"), (19, "INT2"), (20, "UINT4"), (21, "FLOAT8_E4M3FN")])
def test_types_newer_than_the_package(number: int, dtype: str) -> None:
    tensors = [Node("Tensor", Shape=[4], Type=number)]
    assert imported(model(subgraph(tensors))).main.tensors[0].dtype is DType[dtype]


def test_signature_names_the_ends() -> None:
    def entry(name: str, index: int) -> Node:
        return Node("TensorMap", Name=name, TensorIndex=index)

    other = Node("SignatureDef", Inputs=[entry("no", 0)], SubgraphIndex=7)
    mine = Node("SignatureDef", Inputs=[entry("a", 0), entry("stale", 1), entry("lost", 99)], Outputs=[entry("b", 1)])
    result = imported(identity(SignatureDefs=[other, mine]))
    assert (result.input_names, result.output_names) == ((Port("a", 0),), (Port("b", 1),))


def test_names_may_be_any_bytes() -> None:
    tensors = [tensor("日本\n*/"), Node("Tensor", Shape=[4], Name=b"\xff")]
    assert [t.name for t in imported(model(subgraph(tensors))).main.tensors] == ["日本\n*/", "\\xff"]


def test_several_subgraphs() -> None:
    choose = operator("IF", [0, 1], [2], Node("IfOptions", ThenSubgraphIndex=1, ElseSubgraphIndex=2))
    main = subgraph([tensor("c", [], "BOOL"), tensor("x"), tensor("y")], [choose], [0, 1], [2])
    arms = [subgraph([tensor(), tensor()], [operator(kind, [0], [1])], [0], [1], kind) for kind in ("RELU", "TANH")]
    result = imported(model(main, *arms))
    assert [s.name for s in result.subgraphs] == ["main", "RELU", "TANH"]
    assert result.main.operators[0].options == If(1, 2)
