"""The textual form, both ways: what it looks like, and what people may write by hand."""

import struct
from pathlib import Path

import pytest

from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import DType, Model, Operator, Port, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Padding
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Softmax
from usmp_build.operators.sums import Conv2D
from usmp_build.textual.text import read, write

DATA = Path(__file__).parents[2] / "data"
RAMP = bytes(range(65))


def only(*tensors: Tensor) -> Model:
    """A model of nothing but tensors."""
    return Model("m", (Subgraph("", tensors, (), (), ()),))


def doing(*operators: Operator) -> Model:
    """A model of four tensors and some operators."""
    return Model("m", (Subgraph("", tuple(Tensor(name, (2,), DType.INT8) for name in "abcd"), (0,), (3,), operators),))


def constant(data: bytes, dtype: DType, *shape: int) -> Tensor:
    return Tensor("c", shape, dtype, data=data)


def spelled(tensor: Tensor, **how: str) -> str:
    """The line of a tensor, without its number and name."""
    return write(only(tensor), **how).splitlines()[3].partition('" ')[2]  # type: ignore[arg-type]


def test_the_whole_form() -> None:
    weights = Quantization((0.5, 0.25), (0, 0), 1)
    tensors = (
        Tensor("in", (1, 4, 4, 1), DType.INT8, Quantization((0.10000000149011612,), (-3,))),
        Tensor("w", (2, 5, 5, 1), DType.INT8, weights, RAMP[:50] + b"\xff" * 50),
        Tensor("out", (1, 4, 4, 2), DType.INT8),
        Tensor("state", (3,), DType.INT16, is_variable=True),
    )
    options = Conv2D(Padding.VALID, stride_h=2, activation=Activation.RELU6)
    conv = Operator("CONV_2D", (0, 1, None), (2,), options, 7)
    model = Model("kws", (Subgraph("main", tensors, (0,), (2,), (conv,)),), (Port("audio", 0),), (Port("scores", 2),))
    assert write(model) == (
        'model "kws"\n'
        'input "audio" = %0\n'
        'output "scores" = %2\n'
        "\n"
        'subgraph 0 "main"\n'
        '  %0 "in" int8[1,4,4,1] scale=0.1 zero=-3\n'
        '  %1 "w" int8[2,5,5,1] scales=[0.5, 0.25] zeros=[0, 0] axis=1 = hex\n'
        "    | 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\n"
        f"    | 3031{'ff' * 46}\n"
        "    | ffffffff\n"
        '  %2 "out" int8[1,4,4,2]\n'
        '  %3 "state" int16[3] variable\n'
        "  inputs %0\n"
        "  outputs %2\n"
        "  %2 = CONV_2D(%0, %1, _) padding=VALID stride_h=2 activation=RELU6 @7\n"
    )
    assert read(write(model)) == model


@pytest.mark.parametrize(
    ("tensor", "line"),
    [
        (constant(bytes([1, 0xFE, 3]), DType.INT8, 3), "int8[3] = [1, -2, 3]"),
        (constant(struct.pack("<i", -7), DType.INT32), "int32[] = [-7]"),
        (constant(struct.pack("<2f", 0.1, 1e30), DType.FLOAT32, 2), "float32[2] = [0.1, 1e+30]"),
        (constant(struct.pack("<d", 0.1), DType.FLOAT64, 1), "float64[1] = [0.1]"),
        (constant(struct.pack("<e", 65504), DType.FLOAT16, 1), "float16[1] = [6.55e+04]"),
        (constant(struct.pack("<f", -0.0), DType.FLOAT32), "float32[] = [-0]"),
        (constant(struct.pack("<f", float("-inf")), DType.FLOAT32), "float32[] = [-inf]"),
        (constant(b"\1\0", DType.BOOL, 2), "bool[2] = [1, 0]"),
        (constant(b"\7" * 4 + b"\1", DType.UINT8, 5), "uint8[5] = [7*4, 1]"),
        (constant(b"", DType.INT8, 0), "int8[0] = []"),
        (constant(bytes(100), DType.INT8, 100), "int8[100] = zeros"),
        # What numbers cannot say: a boolean of 2, a NaN with a message, types without numbers, a wrong length.
        (constant(b"\2\0", DType.BOOL, 2), "bool[2] = hex"),
        (constant(struct.pack("<I", 0x7FC00001), DType.FLOAT32, 1), "float32[1] = hex"),
        (constant(b"\x21", DType.INT4, 2), "int4[2] = hex"),
        (constant(b"\2\0hi", DType.STRING, 1), "string[1] = hex"),
        (constant(b"\0", DType.STRING, 1), "string[1] = hex"),
        (constant(b"\1\2\3", DType.INT16, 2), "int16[2] = hex"),
        (Tensor("t", (), DType.INT8, Quantization((), ())), "int8[] scales=[] zeros=[]"),
        (
            Tensor("t", (), DType.INT8, Quantization((1.0,) * 64, (0,) * 64, 3)),
            "int8[] scales=[1*64] zeros=[0*64] axis=3",
        ),
    ],
)
def test_tensors(tensor: Tensor, line: str) -> None:
    assert spelled(tensor) == line
    assert read(write(only(tensor))) == only(tensor)


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        (Operator("RELU", (0,), (1,), None, 0), "%1 = RELU(%0) @0"),
        (Operator("SPLIT", (0, 1), (2, 3), None, 4), "%2, %3 = SPLIT(%0, %1) @4"),
        (Operator("CALL_ONCE", (), (), None, 4), "_ = CALL_ONCE() options=none @4"),
        (Operator("CUSTOM:a b", (None,), (1,), None, 0), '%1 = "CUSTOM:a b"(_) @0'),
        (Operator("_", (0,), (1,), None, 0), '%1 = "_"(%0) @0'),
        (Operator("SOFTMAX", (0,), (1,), Softmax(0.1), 0), "%1 = SOFTMAX(%0) beta=0.1 @0"),
        (Operator("VIEW", (0,), (1,), Softmax(), 0), "%1 = VIEW(%0) options=Softmax @0"),
        (Operator("CONV_2D", (0,), (1,), Softmax(), 0), "%1 = CONV_2D(%0) options=Softmax @0"),
        (Operator("MEAN", (0,), (1,), None, 0), "%1 = MEAN(%0) options=none @0"),
        (
            Operator("AVERAGE_POOL_2D", (0,), (1,), Pool2D(frame=(1, 2, 0, 3), outside=-3, limits=(-128, 5)), 0),
            "%1 = AVERAGE_POOL_2D(%0) frame=[1, 2, 0, 3] outside=-3 limits=[-128, 5] @0",
        ),
        (Operator("CONV_2D", (0,), (1,), Conv2D(frame=(1, 1, 1, 1)), 0), "%1 = CONV_2D(%0) frame=[1*4] @0"),
    ],
)
def test_operators(operator: Operator, line: str) -> None:
    assert write(doing(operator)).splitlines()[-1] == f"  {line}"
    assert read(write(doing(operator))) == doing(operator)


@pytest.mark.parametrize(
    "name", ["", 'say "hi"', "a\\b", "größe", "a\nb\r\t\0", "日本 😀", "\udc80", "\ud83d\ude00", "#%@|"]
)
def test_any_name_survives_and_stays_ascii(name: str) -> None:
    tensor = Tensor(name, (), DType.INT8)
    subgraph = Subgraph(name, (tensor,), (0,), (0,), (Operator(f"CUSTOM:{name}", (0,), (0,), None, 0),))
    model = Model(name, (subgraph,), (Port(name, 0),), (Port(name, 0),))
    text = write(model)
    assert text.isascii()
    assert all(line.isprintable() for line in text.split("\n"))
    assert read(text) == model


def test_the_caller_names_the_model() -> None:
    assert read('model "a"', "b").name == "b"
    assert read('model "a"').name == "a"


def test_what_people_may_write() -> None:
    by_hand = """
        # Comments, blank lines and any spacing.
        model "m"  # here too
        subgraph 0 "s"
        %0 "x" int8[ 4 ] scale=0.5
        %1 "w" int8[2,2] = [+1*4]
        inputs %0
        %2 "y" int8[4] scales=[0.5,0.25] axis=0
        %2 = ADD(%0, %1)
        %3 "größe" float32[1000] = zeros
        _ = CUSTOM ( %3 )
        outputs %2
        """
    model = read(by_hand)
    tensors = model.main.tensors
    assert tensors[0].quantization == Quantization((0.5,), (0,))
    assert tensors[2].quantization == Quantization((0.5, 0.25), (0, 0))
    assert tensors[1].data == b"\1" * 4
    assert tensors[3].name == "größe"
    assert tensors[3].data == bytes(4000)
    assert [op.position for op in model.main.operators] == [0, 1]


def test_withheld_constants_stay_equal_or_different() -> None:
    one, other = bytes(range(100)), bytes(range(1, 101))
    tensors = [constant(data, DType.INT8, 100) for data in (one, other, one)]
    text = write(only(*tensors, constant(RAMP[:64], DType.UINT8, 64)), data="short")
    assert "bytes 100 sha256:" in text
    assert "0203" not in text
    a, b, c, small = (tensor.data for tensor in read(text).main.tensors)
    assert a is not None
    assert len(a) == 100
    assert a == c != b
    assert a != one
    assert small == RAMP[:64]


def test_the_digest_is_that_of_sha256() -> None:
    assert spelled(constant(RAMP, DType.INT8, 65), data="short") == "int8[65] = bytes 65 sha256:4bfd2c8b6f1e"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.tflite")), ids=lambda path: path.stem)
def test_real_models(path: Path) -> None:
    model = import_tflite(path.read_bytes(), path.stem, path.name)
    assert read(write(model)) == model
    assert [sizes(s) for s in read(write(model, data="short")).subgraphs] == [sizes(s) for s in model.subgraphs]


def sizes(subgraph: Subgraph) -> list[tuple[int, int]]:
    return [(tensor.size, len(tensor.data or b"")) for tensor in subgraph.tensors]
