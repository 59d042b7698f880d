"""Models whose tensors are parts of others, as text: what the self-test runs, and what the pass is asked about."""

from math import prod
from random import Random

from tests.support.flatfile import flatfile
from tests.support.road import model

LIKE = "scale=0.1 zero=3"

ROWS = f"""
    %0 "x" int8[1,6,8,4] {LIKE}
    %1 "a" int8[1,6,8,4] {LIKE}
    %2 "b" int8[1,3,8,4] {LIKE}
    %3 "joined" int8[1,9,8,4] {LIKE}
    %4 "y" int8[1,4,4,4] {LIKE}
    inputs %0
    outputs %4
    %1 = MAX_POOL_2D(%0) filter_h=3 filter_w=3
    %2 = MAX_POOL_2D(%1) filter_h=2 filter_w=1 stride_h=2
    %3 = CONCATENATION(%1, %2) axis=1
    %4 = AVERAGE_POOL_2D(%3) padding=VALID filter_h=2 filter_w=2 stride_h=2 stride_w=2
"""
"""The second part is computed from the first."""

SPLIT = f"""
    %0 "x" int8[1,6,8,4] {LIKE}
    %1 "a" int8[1,6,8,4] {LIKE}
    %2 "axis" int32[] = [1]
    %3 "upper" int8[1,3,8,4] {LIKE}
    %4 "lower" int8[1,3,8,4] {LIKE}
    %5 "e" int8[1,3,8,4] {LIKE}
    %6 "f" int8[1,3,8,4] {LIKE}
    %7 "joined" int8[1,6,8,4] {LIKE}
    %8 "y" int8[1,6,8,4] {LIKE}
    inputs %0
    outputs %8
    %1 = MAX_POOL_2D(%0) filter_h=3 filter_w=3
    %3, %4 = SPLIT(%2, %1)
    %5 = MAX_POOL_2D(%3) filter_h=2 filter_w=2
    %6 = AVERAGE_POOL_2D(%4) filter_h=2 filter_w=2
    %7 = CONCATENATION(%5, %6) axis=1
    %8 = ADD(%7, %1)
"""

NESTED = f"""
    %0 "x" int8[1,20] {LIKE}
    %1 "a" int8[1,20] {LIKE}
    %2 "b" int8[1,20] {LIKE}
    %3 "c" int8[1,20] {LIKE}
    %4 "ab" int8[1,40] {LIKE}
    %5 "shape" int32[3] = [1,5,8]
    %6 "viewed" int8[1,5,8] {LIKE}
    %7 "flat" int8[1,40] {LIKE}
    %8 "abc" int8[1,60] {LIKE}
    %9 "begin" int32[2] = [0,10]
    %10 "end" int32[2] = [0,30]
    %11 "steps" int32[2] = [1,1]
    %12 "middle" int8[1,20] {LIKE}
    %13 "z" int8[1,20] {LIKE}
    inputs %0
    outputs %8, %13
    %1 = ADD(%0, %0)
    %2 = MUL(%1, %0)
    %4 = CONCATENATION(%1, %2) axis=-1
    %6 = RESHAPE(%4, %5)
    %7 = RESHAPE(%6)
    %12 = STRIDED_SLICE(%7, %9, %10, %11) begin_mask=1 end_mask=1
    %3 = SUB(%12, %0)
    %8 = CONCATENATION(%7, %3) axis=1
    %13 = ADD(%12, %3)
"""
"""A concatenation in another one, which is an output; a view between them, and a slice across the border in it."""

PACKED = f"""
    %0 "x" int8[4,6] {LIKE}
    %1 "a" int8[4,6] {LIKE}
    %2 "b" int8[4,6] {LIKE}
    %3 "packed" int8[2,4,6] {LIKE}
    %4 "y" int8[2,4,6] {LIKE}
    inputs %0
    outputs %4
    %1 = ADD(%0, %0)
    %2 = MUL(%0, %1)
    %3 = PACK(%1, %2) values_count=2
    %4 = ADD(%3, %3)
"""

FLOATS = """
    %0 "x" float32[1,4,3]
    %1 "axis" int32[] = [1]
    %2 "a" float32[1,2,3]
    %3 "b" float32[1,2,3]
    %4 "c" float32[1,2,3]
    %5 "d" float32[1,2,3]
    %6 "y" float32[1,4,3]
    %7 "z" float32[1,4,3]
    inputs %0
    outputs %7
    %2, %3 = SPLIT(%1, %0)
    %4 = ADD(%2, %3)
    %5 = SUB(%3, %2)
    %6 = CONCATENATION(%4, %5) axis=1
    %7 = ADD(%6, %0)
"""
"""The input of the model is split."""

CHANNELS = f"""
    %0 "x" int8[2,5,6,3] {LIKE}
    %1 "a" int8[2,5,6,3] {LIKE}
    %2 "b" int8[2,5,6,3] {LIKE}
    %3 "c" int8[2,5,6,1] {LIKE}
    %4 "joined" int8[2,5,6,7] {LIKE}
    %5 "begin" int32[4] = [0,0,0,2]
    %6 "end" int32[4] = [2,5,6,7]
    %7 "steps" int32[4] = [1,1,1,1]
    %8 "taken" int8[2,5,6,5] {LIKE}
    %9 "d" int8[2,3,3,5] {LIKE}
    %10 "first end" int32[4] = [2,5,6,3]
    %11 "first" int8[2,5,6,1] {LIKE}
    inputs %0
    outputs %9
    %1 = MAX_POOL_2D(%0) filter_h=3 filter_w=3
    %2 = AVERAGE_POOL_2D(%1) filter_h=2 filter_w=2
    %11 = STRIDED_SLICE(%0, %5, %10, %7)
    %3 = MAX_POOL_2D(%11) filter_h=1 filter_w=3
    %4 = CONCATENATION(%1, %2, %3) axis=-1
    %8 = STRIDED_SLICE(%4, %5, %6, %7)
    %9 = AVERAGE_POOL_2D(%8) filter_h=3 filter_w=2 stride_h=2 stride_w=2
"""
"""Two images; one part is computed from another one, and one from a channel of the input."""


def convolutions(dtype: str) -> str:
    """Return a net in which all kinds of convolutions read and write channels: of type int8 or float32."""
    random = Random(dtype)
    is_float = dtype == "float32"
    like, filters, bias = (LIKE, "scale=0.01 zero=0", "int32") if not is_float else ("", "", dtype)

    def weights(tensor: int, name: str, shape: str) -> str:
        count = prod(map(int, shape.split(",")))
        values = [random.randint(-127, 127) / (64 if is_float else 1) for _ in range(count)]
        numbers = ",".join(f"{value:g}" for value in values)
        return f'%{tensor} "{name}" {dtype}[{shape}] {filters} = [{numbers}]'

    def zeros(tensor: int, name: str, count: int) -> str:
        return f'%{tensor} "{name}" {bias}[{count}] = [{",".join("0" * count)}]'

    return f"""
    %0 "x" {dtype}[1,6,7,2] {like}
    {weights(1, "wa", "5,3,3,2")}
    {zeros(2, "ba", 5)}
    %3 "a" {dtype}[1,6,7,5] {like}
    {weights(4, "wb", "1,3,3,5")}
    {zeros(5, "bb", 5)}
    %6 "b" {dtype}[1,6,7,5] {like}
    {weights(7, "wc", "4,3,3,5")}
    {zeros(8, "bc", 4)}
    %9 "c" {dtype}[1,6,7,4] {like}
    %10 "joined" {dtype}[1,6,7,14] {like}
    %11 "axis" int32[] = [3]
    %12 "u" {dtype}[1,6,7,7] {like}
    %13 "v" {dtype}[1,6,7,7] {like}
    {weights(14, "we", "3,1,1,7")}
    {zeros(15, "be", 3)}
    %16 "e" {dtype}[1,3,4,3] {like}
    {weights(17, "wf", "1,2,2,28")}
    {zeros(18, "bf", 28)}
    %19 "f" {dtype}[1,3,4,28] {like}
    %20 "both" {dtype}[1,3,4,31] {like}
    inputs %0
    outputs %20
    %3 = CONV_2D(%0, %1, %2)
    %6 = DEPTHWISE_CONV_2D(%3, %4, %5)
    %9 = CONV_2D(%6, %7, %8)
    %10 = CONCATENATION(%3, %6, %9) axis=3
    %12, %13 = SPLIT(%11, %10)
    %16 = CONV_2D(%12, %14, %15) stride_h=2 stride_w=2
    %19 = DEPTHWISE_CONV_2D(%13, %17, %18) stride_h=2 stride_w=2 depth_multiplier=4
    %20 = CONCATENATION(%16, %19) axis=-1
"""


GROWN = f"""
    %0 "x" int8[2,5,6,3] {LIKE}
    %1 "a" int8[2,5,6,3] {LIKE}
    %2 "b" int8[2,5,6,3] {LIKE}
    %3 "ab" int8[2,5,6,6] {LIKE}
    %4 "axis" int32[] = [3]
    %5 "c" int8[2,5,6,6] {LIKE}
    %6 "d" int8[2,5,6,3] {LIKE}
    %7 "e" int8[2,5,6,3] {LIKE}
    %8 "f" int8[2,5,6,3] {LIKE}
    %9 "all" int8[2,5,6,15] {LIKE}
    %10 "twice" int8[2,5,6,6] {LIKE}
    %11 "g" int8[2,5,6,2] {LIKE}
    %12 "h" int8[2,5,6,2] {LIKE}
    %13 "i" int8[2,5,6,2] {LIKE}
    %14 "y" int8[2,2,3,15] {LIKE}
    inputs %0
    outputs %10, %11, %12, %13, %14
    %1 = AVERAGE_POOL_2D(%0) filter_h=3 filter_w=3
    %2 = MAX_POOL_2D(%1) filter_h=2 filter_w=2
    %3 = CONCATENATION(%1, %2) axis=3
    %5 = MAX_POOL_2D(%3) filter_h=3 filter_w=1
    %6, %7 = SPLIT(%4, %5)
    %8 = ADD(%7, %2)
    %9 = CONCATENATION(%1, %2, %6, %7, %8) axis=3
    %10 = CONCATENATION(%8, %2) axis=3
    %11, %12, %13 = SPLIT(%4, %5)
    %14 = AVERAGE_POOL_2D(%9) filter_h=2 filter_w=2 stride_h=3 stride_w=2
"""
"""A whole that is joined once more, beside both halves of another one; copies read parts, of channels in turn."""


def elements(dtype: str) -> str:
    """Return a net in which elementwise operators read and write channels: of type int8 or float32."""
    is_float = dtype == "float32"
    like, unit, one = (LIKE, "scale=0.00390625 zero=-128", "scale=0.01 zero=1") if not is_float else ("", "", "")
    tensors = f"""
    %0 "x" {dtype}[2,4,3,5] {like}
    %1 "a" {dtype}[2,4,3,5] {like}
    %2 "b" {dtype}[2,4,3,5] {like}
    %3 "c" {dtype}[2,4,3,5] {like}
    %4 "vector" {dtype}[5] {one} = [50,-70,90,3,11]
    %5 "d" {dtype}[2,4,3,5] {like}
    %6 "number" {dtype}[] {one} = [40]
    %7 "e" {dtype}[2,4,3,5] {like}
    %8 "f" {dtype}[2,4,3,5] {like}
    %9 "joined" {dtype}[2,4,3,25] {like}
    %10 "g" {dtype}[2,4,3,5] {unit}
    %11 "h" {dtype}[2,4,3,5] {unit}
    %12 "units" {dtype}[2,4,3,10] {unit}
    %13 "y" {dtype}[2,2,2,25] {like}
    %14 "z" {dtype}[2,2,2,10] {unit}"""
    operators = f"""
    %1 = MAX_POOL_2D(%0) filter_h=3 filter_w=3
    %2 = RELU(%1)
    %3 = ADD(%1, %2) activation=RELU
    %5 = MUL(%3, %4)
    %7 = SUB(%6, %5)
    %8 = RELU6(%7)
    %9 = CONCATENATION(%2, %3, %5, %7, %8) axis=3
    %10 = LOGISTIC(%7)
    %11 = {"TANH" if is_float else "MUL"}({"%8" if is_float else "%8, %10"})
    %12 = CONCATENATION(%10, %11) axis=3
    %13 = MAX_POOL_2D(%9) stride_h=2 stride_w=2
    %14 = MAX_POOL_2D(%12) stride_h=2 stride_w=2"""
    return f"{tensors}\n    inputs %0\n    outputs %13, %14{operators}\n"


TYPES = f"""
    %0 "x" int8[1,4,3,5] {LIKE}
    %1 "a" float32[1,4,3,5]
    %2 "b" float32[1,4,3,5]
    %3 "joined" float32[1,4,3,10]
    %4 "c" int8[1,4,3,5] {LIKE}
    %5 "d" int8[1,4,3,5] scale=0.0078125 zero=0
    %6 "e" int8[1,4,3,5] scale=0.0078125 zero=0
    %7 "f" int8[1,4,3,15] scale=0.0078125 zero=0
    %8 "y" float32[1,2,2,10]
    %9 "z" int8[1,2,2,15] scale=0.0078125 zero=0
    %10 "means" int8[1,1,1,5] {LIKE}
    %11 "scaled" int8[1,4,3,5] scale=0.0078125 zero=0
    inputs %0
    outputs %8, %9
    %1 = DEQUANTIZE(%0)
    %2 = LOGISTIC(%1)
    %3 = CONCATENATION(%1, %2) axis=3
    %4 = QUANTIZE(%2)
    %5 = TANH(%4)
    %6 = RELU(%4)
    %10 = AVERAGE_POOL_2D(%0) padding=VALID filter_h=4 filter_w=3
    %11 = MUL(%10, %5)
    %7 = CONCATENATION(%5, %6, %11) axis=3
    %8 = MAX_POOL_2D(%3) stride_h=2 stride_w=2
    %9 = MAX_POOL_2D(%7) stride_h=2 stride_w=2
"""
"""Elements of one byte become some of four, and the other way round; all pixels are multiplied by the same one."""


ALL = {
    "rows": ROWS,
    "split": SPLIT,
    "nested": NESTED,
    "packed": PACKED,
    "floats": FLOATS,
    "channels": CHANNELS,
    "convolutions": convolutions("int8"),
    "real convolutions": convolutions("float32"),
    "grown": GROWN,
    "elements": elements("int8"),
    "real elements": elements("float32"),
    "types": TYPES,
}


def tflite(text: str) -> bytes:
    """Return the .tflite file of a model as text."""
    return flatfile(model(text).main)
