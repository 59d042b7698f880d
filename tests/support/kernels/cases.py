"""Random models of one operator, each with inputs: what the C and TensorFlow Lite Micro must agree on.

`CASES[kind]` makes one from a random generator; the same generator makes the same case.
"""

from collections.abc import Callable

from tests.support.kernels import (
    cutting,
    detection,
    elements,
    gathering,
    pairs,
    rearranging,
    reductions,
    resizing,
    signal,
    sums,
)
from tests.support.kernels.decoding import decode
from tests.support.kernels.drawing import (
    ACTIVATIONS,
    FLOAT,
    INT8,
    INT16,
    Case,
    Random,
    activation,
    case,
    pick,
    single,
    span,
)
from tests.support.kernels.moving import concatenation, pack, pad, reshaping, split, strided_slice, transpose
from tests.support.kernels.windows import geometry
from usmp_build.operators.decoding import DECODE
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Softmax


def pool_2d(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = FLOAT if kind == "L2_POOL_2D" else pick(r, [INT8, INT8, INT16, FLOAT])
        padding, size, kernel, numbers, result = geometry(r, 1)
        images, channels = span(r, 1, 2), span(r, 1, 9)
        scale, zero_point = r.uniform(0.01, 0.2), span(r, -128, 127)
        source = activation("x", (images, *size, channels), dtype, scale, zero_point)
        output = activation("y", (images, *result, channels), dtype, scale, zero_point)
        options = Pool2D(padding, numbers["stride_h"], numbers["stride_w"], kernel[0], kernel[1], pick(r, ACTIVATIONS))
        return case(r, kind, (source,), output, options)

    return make


def softmax(r: Random) -> Case:
    source_type, output_type = pick(r, [(INT8, INT8), (INT8, INT16), (INT16, INT16), (FLOAT, FLOAT)])
    shape = [*(span(r, 1, 4) for _ in range(span(r, 0, 3))), pick(r, [1, 2, 10, 300])]
    scale, zero_point = {INT8: (1 / 256, -128), INT16: (1 / 65536, -32768)}.get(output_type, (1.0, 0))
    middle = None
    if source_type is INT16:
        scale, zero_point, middle = 1 / 32768, 0, 0
    step = pick(r, [r.uniform(0.001, 0.5), r.uniform(1e-7, 1e-3), 20.0])
    source = activation("x", shape, source_type, step, middle, r)
    output = activation("y", shape, output_type, scale, zero_point)
    return case(r, "SOFTMAX", (source,), output, Softmax(single(pick(r, [1.0, 1.0, r.uniform(0.2, 3)]))))


CASES: dict[str, Callable[[Random], Case]] = (
    {
        "AVERAGE_POOL_2D": pool_2d("AVERAGE_POOL_2D"),
        "CONCATENATION": concatenation,
        DECODE: decode,
        "EXPAND_DIMS": reshaping("EXPAND_DIMS"),
        "L2_POOL_2D": pool_2d("L2_POOL_2D"),
        "MAX_POOL_2D": pool_2d("MAX_POOL_2D"),
        "PACK": pack,
        "PAD": pad("PAD"),
        "PADV2": pad("PADV2"),
        "RESHAPE": reshaping("RESHAPE"),
        "SOFTMAX": softmax,
        "SPLIT": split,
        "SQUEEZE": reshaping("SQUEEZE"),
        "STRIDED_SLICE": strided_slice,
        "TRANSPOSE": transpose,
    }
    | cutting.CASES
    | detection.CASES
    | elements.CASES
    | gathering.CASES
    | pairs.CASES
    | rearranging.CASES
    | reductions.CASES
    | resizing.CASES
    | signal.CASES
    | sums.CASES
)

NOT_IN_TFLM = {"GELU", "RELU_0_TO_1", "SELECT", "TILE"}
"""LiteRT alone has these; test_rearranging.py and test_against_numpy.py in tests/unit/kernels compare them."""
