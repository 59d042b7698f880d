"""What each kind of operator asks of its operands: for each rule a model that breaks it, and the message."""

import numpy as np
import pytest

from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.operators.gathering import Gather
from usmp_build.operators.joining import Concatenation, Pack, Unpack
from usmp_build.operators.lstm import GATES, SequenceLstm
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.rearranging import Blocks
from usmp_build.operators.reductions import Reducer, Softmax
from usmp_build.operators.signal import Delay
from usmp_build.operators.slicing import StridedSlice
from usmp_build.operators.sums import BatchMatMul, Conv2D, DepthwiseConv2D, FullyConnected, Svdf
from usmp_build.operators.table import OPERATORS, options_class
from usmp_build.operators.well_formed import first_fault

Case = tuple[str, Model, str]


def x(*shape: int, dtype: DType = DType.INT8) -> Tensor:
    return Tensor("", shape, dtype)


def n(*numbers: int, dtype: DType = DType.INT32, shape: tuple[int, ...] | None = None) -> Tensor:
    """Constant numbers."""
    data = np.array(numbers, np.dtype(dtype.numpy).newbyteorder("<")).tobytes()
    return Tensor("", (len(numbers),) if shape is None else shape, dtype, data=data)


def running(
    kind: str, operands: list[Tensor | None], outputs: list[Tensor] | Tensor, options: o.Options | None = None
) -> Model:
    """A model of one operator; what is not constant is an input."""
    written = outputs if isinstance(outputs, list) else [outputs]
    given = [tensor for tensor in operands if tensor is not None]
    numbers = iter(range(len(given)))
    inputs = tuple(None if tensor is None else next(numbers) for tensor in operands)
    ports = tuple(i for i, tensor in enumerate(given) if not tensor.is_constant and not tensor.is_variable)
    results = tuple(range(len(given), len(given) + len(written)))
    made_of = options_class(kind)
    if options is None and made_of is not None:
        options = made_of()
    operator = Operator(kind, inputs, results, options, 0)
    return Model("m", (Subgraph("main", (*given, *written), ports, results, (operator,)),))


def conv(source: Tensor, filters: Tensor, output: Tensor, bias: Tensor | None = None, **given: object) -> Model:
    return running("CONV_2D", [source, filters, bias], output, Conv2D(**given))


def depthwise(source: Tensor, filters: Tensor, output: Tensor, multiplier: int = 0) -> Model:
    return running("DEPTHWISE_CONV_2D", [source, filters], output, DepthwiseConv2D(depth_multiplier=multiplier))


def pool(source: Tensor, output: Tensor, padding: o.Padding = o.Padding.VALID) -> Model:
    return running("MAX_POOL_2D", [source], output, Pool2D(padding, filter_h=3, filter_w=3))


def svdf(rank: int = 2, filters: int = 6, state: int = 12, outputs: int = 3, features: int = 4) -> Model:
    """Three units of rank 2 over four inputs, which remember two results."""
    operands = [x(1, 4), n(*range(6 * features), shape=(6, features)), n(*range(2 * filters), shape=(filters, 2)), None]
    remembered = Tensor("", (1, state), DType.INT16, is_variable=True)
    return running("SVDF", [*operands, remembered], x(1, outputs), Svdf(rank))


def lstm(time_major: bool = False, inputs: int = 4, **changed: Tensor | None) -> Model:
    """Three units over four inputs, in two steps of five batches, or the other way round."""
    signature = OPERATORS["UNIDIRECTIONAL_SEQUENCE_LSTM"].signature
    assert signature is not None
    operands: dict[str, Tensor | None] = dict.fromkeys(name.rstrip("?") for name in signature.inputs.names.split())
    operands |= {f"input_to_{gate}": x(3, inputs) for gate in GATES} | {
        f"recurrent_to_{gate}": x(3, 3) for gate in GATES
    }
    operands |= {f"{gate}_bias": x(3) for gate in GATES} | {"input": x(5, 2, 4)}
    batches = 2 if time_major else 5
    states = {name: Tensor("", (batches, 3), DType.INT8, is_variable=True) for name in ("hidden_state", "cell_state")}
    operands |= states | changed
    output = operands.pop("output", x(5, 2, 3))
    assert output is not None
    return running("UNIDIRECTIONAL_SEQUENCE_LSTM", [*operands.values()], output, SequenceLstm(time_major=time_major))


JOINED = Concatenation(axis=1)
TURNED = BatchMatMul(left_axes=(7, 9))
PACKED = Pack(values_count=2, axis=1)
FLOAT, INT, WORD = DType.FLOAT32, DType.INT32, DType.INT16

FAULTS: list[Case] = [
    ("T232", running("SVDF", [x(1), x(1, 1), x(1, 1), None, x(1)], x(1), Softmax()), "it has no options of its kind"),
    ("T232", svdf(rank=4), "the option rank is 4, but must divide the 6 filters"),
    ("T246", running("RELU", [], x(4)), "operator 0 (RELU): its input 0 is missing (input)"),
    ("T246", running("ADD", [x(4), None], x(4)), "its input 1 is missing (second)"),
    ("T246", running("SPLIT", [n(0)], x(4)), "its input 1 is missing (input)"),
    ("T246", running("RELU", [x(4), x(4)], x(4)), "it has 2 inputs, but takes no more than 1"),
    ("T246", running("CONCATENATION", [x(2, 3), None], x(2, 3), JOINED), "its input 1 is missing (inputs)"),
    ("T246", running("RELU", [x(4)], []), "its output 0 is missing (output)"),
    ("T247", conv(x(1, 8, 8), x(4, 3, 3, 2), x(1, 8, 8, 4)), "tensor 0, its input, has the shape [1, 8, 8], but must"),
    ("T247", conv(x(1, 8, 8, 2), x(4, 3, 3, 3), x(1, 8, 8, 4)), "its input has 2 channels, but its filters take 3"),
    ("T247", conv(x(1, 8, 8, 2), x(3, 3, 3, 1), x(1, 8, 8, 3)), "3 filters cannot be divided among 2 groups"),
    ("T247", conv(x(1, 8, 8, 2), x(4, 3, 3, 2), x(1, 8, 8, 5)), "[1, 8, 8, 5], but must have [1, 8, 8, 4]"),
    ("T247", conv(x(1, 8, 8, 2), x(4, 3, 3, 2), x(1, 5, 4, 4), stride_h=2, stride_w=2), "but must have [1, 4, 4, 4]"),
    ("T247", conv(x(1, 8, 8, 2), x(4, 3, 3, 2), x(1, 8, 8, 4), x(5)), "its bias, has 5 elements, [5], but must have 4"),
    ("T247", conv(x(1, 8, 0, 2), x(4, 3, 3, 2), x(1, 8, 0, 4)), "has the shape [1, 8, 0, 2]: there is nothing"),
    ("T247", pool(x(1, 2, 8, 3), x(1, 0, 6, 3)), "its window takes 3 × 3 pixels, but its image has 2 × 8"),
    ("T247", pool(x(1, 8, 8, 3), x(1, 6, 6, 2)), "[1, 6, 6, 2], but must have [1, 6, 6, 3]"),
    ("T247", depthwise(x(1, 8, 8, 2), x(1, 3, 3, 5), x(1, 8, 8, 5)), "2 input channels with 2 filters each take [1, "),
    ("T247", depthwise(x(1, 8, 8, 2), x(1, 3, 3, 4), x(1, 8, 8, 4), 1), "2 input channels with 1 filters each take ["),
    ("T247", running("TRANSPOSE_CONV", [n(1), x(8, 3, 3, 2), x(1, 4, 4, 3)], x(1, 4, 4, 8)), "go from 2 to 8 channels"),
    ("T247", running("BATCH_MATMUL", [x(2, 3), x(2, 4)], x(2, 4)), "of [2, 3] with those of [2, 4], which does"),
    ("T247", running("BATCH_MATMUL", [x(2, 2, 3), x(3, 3, 4)], x(3, 2, 4)), "which does not make [3, 2, 4]"),
    ("T247", running("BATCH_MATMUL", [x(2, 2, 3), x(3, 4)], x(2, 4)), "which does not make [2, 4]"),
    ("T247", running("BATCH_MATMUL", [x(3), x(3, 4)], x(1, 4)), "[3] with [3, 4] to [1, 4], not matrices"),
    ("T247", running("BATCH_MATMUL", [x(2, 3), x(3, 4)], x(2, 4), TURNED), "left_axes is [7, 9], and not an order of"),
    ("T247", running("FULLY_CONNECTED", [x(1, 9), x(4, 8)], x(1, 4)), "but its weights take 8 inputs at a time"),
    ("T247", running("FULLY_CONNECTED", [x(2, 8), x(4, 8)], x(1, 4)), "has 4 elements, [1, 4], but must have 8"),
    ("T247", running("FULLY_CONNECTED", [x(1, 0), x(4, 8)], x(1, 4)), "has the shape [1, 0]: there is nothing"),
    ("T247", svdf(filters=4), "it has 6 filters over inputs, but 4 over results"),
    ("T247", svdf(features=3), "has the shape [1, 4], but its filters take 3 inputs at a time"),
    ("T247", svdf(state=9), "its state, has 9 elements, [1, 9], but must have 12"),
    ("T247", svdf(outputs=2), "its output, has 2 elements, [1, 2], but must have 3"),
    ("T247", lstm(inputs=5), "has the shape [5, 2, 4], but its weights take 5 inputs at a time"),
    ("T247", lstm(input_to_cell=x(3, 5)), "its input_to_cell, has the shape [3, 5], but must have [3, 4]"),
    ("T247", lstm(recurrent_to_cell=x(4, 3)), "its recurrent_to_cell, has the shape [4, 3], but must have [3, 3]"),
    ("T247", lstm(cell_bias=x(4)), "its cell_bias, has 4 elements, [4], but must have 3"),
    ("T247", lstm(hidden_state=x(2, 3)), "its hidden_state, has 6 elements, [2, 3], but must have 15"),
    ("T247", lstm(time_major=True, cell_state=x(5, 3)), "its cell_state, has 15 elements, [5, 3], but must have 6"),
    ("T247", lstm(output=x(5, 3)), "its output, has 15 elements, [5, 3], but must have 30"),
    ("T247", running("ADD", [x(2, 3), x(2, 2)], x(2, 3)), "[2, 2], which is not compatible with [2, 3]"),
    ("T247", running("ADD", [x(2, 3), x(1, 2, 3)], x(2, 3)), "[1, 2, 3], which is not compatible with [2, 3]"),
    ("T247", running("RESHAPE", [x(2, 3)], x(2, 4)), "its input, with [2, 3] has another number of elements"),
    ("T247", running("SOFTMAX", [x(2, 0)], x(2, 0)), "has the shape [2, 0]: there is nothing to compute with"),
    ("T247", running("CONCATENATION", [x(2, 3), x(3, 3)], x(2, 6), JOINED), "one of its inputs, has the shape [3, 3]"),
    ("T247", running("CONCATENATION", [x(2, 3), x(2, 2)], x(2, 6), JOINED), "its parts add up to 5 along axis 1"),
    ("T247", running("PACK", [x(2, 3), x(2, 4)], x(2, 2, 3), PACKED), "is one of 2 along axis 1 of [2, 2, 3]"),
    ("T247", running("UNPACK", [x(2, 3)], x(3)), "it has 1 outputs, but 2 indices along axis 0"),
    ("T247", running("UNPACK", [x(2, 3)], [x(3), x(4)]), "output 1 has the shape [4], but is one of 2 equal parts"),
    ("T247", running("SPLIT", [n(1), x(2, 4)], [x(2, 2), x(2, 3)]), "its parts add up to 5 along axis 1 of [2, 4]"),
    ("T247", running("SPLIT_V", [x(4), n(1, 3), n(0)], [x(1), x(2)]), "its parts add up to 3 along axis 0 of [4]"),
    ("T247", running("PAD", [x(2, 3), n(1, 0, 0, 1, shape=(2, 2))], x(3, 3)), "[3, 3], but must have [3, 4]"),
    ("T247", running("PADV2", [x(2), n(1, 0), x(2)], x(3)), "it pads with a value of shape [2], not with one element"),
    ("T247", running("MEAN", [x(2, 0, 3), n(1)], x(2, 3)), "has the shape [2, 0, 3]: there is nothing"),
    ("T247", running("MEAN", [x(2, 4, 3), n(1)], x(2, 4)), "8 elements, [2, 4], but must have 6"),
    ("T247", running("ARG_MAX", [x(2, 4, 3), n(1)], x(2, 4)), "8 elements, [2, 4], but must have 6"),
    ("T247", running("CUMSUM", [x(2, 3), n(1)], x(2, 4)), "its input, with [2, 3] has another number of elements"),
    ("T247", running("TRANSPOSE", [x(2, 4), n(1, 0)], x(2, 4)), "[2, 4], but must have [4, 2]"),
    ("T247", running("SLICE", [x(8), n(1), n(4)], x(5)), "5 elements, [5], but must have 4"),
    ("T247", running("STRIDED_SLICE", [x(8), n(1), n(7), n(2)], x(4)), "[4], but must have [3]"),
    ("T247", running("RESIZE_BILINEAR", [x(1, 2, 2, 3), n(4, 4)], x(1, 4, 2, 3)), "but must have [1, 4, 4, 3]"),
    ("T247", running("BROADCAST_TO", [x(3), n(2, 4)], x(2, 4)), "[3], which is not compatible with [2, 4]"),
    ("T247", running("BROADCAST_TO", [x(1), n(2, 3)], x(2, 4)), "[2, 4], but must have [2, 3]"),
    ("T247", running("TILE", [x(2, 3), n(1, 2)], x(2, 5)), "[2, 5], but must have [2, 6]"),
    ("T247", running("REVERSE_V2", [x(4), n(0)], x(2, 2)), "[2, 2], but must have [4]"),
    ("T247", running("SPACE_TO_DEPTH", [x(1, 4, 4, 2)], x(1, 2, 2, 4), Blocks(2)), "but must have [1, 2, 2, 8]"),
    ("T247", running("DEPTH_TO_SPACE", [x(1, 2, 2, 4)], x(1, 4, 4, 2), Blocks(2)), "but must have [1, 2, 2, 8]"),
    ("T247", running("MIRROR_PAD", [x(4), n(1, 0)], x(6)), "[6], but must have [5]"),
    ("T247", running("CUSTOM:SignalDelay", [x(4), x(3)], x(4), Delay(3)), "its state, '', is no variable"),
    ("T247", running("SPACE_TO_BATCH_ND", [x(1, 4, 3), n(2), n(1, 1)], x(2, 2, 3)), "but must have [2, 3, 3]"),
    ("T247", running("BATCH_TO_SPACE_ND", [x(2, 2, 3), n(2), n(1, 1)], x(1, 4, 3)), "but must have [2, 3, 3]"),
    ("T247", running("FILL", [n(4), x(2)], x(4)), "has 2 elements, [2], but must have 1"),
    ("T247", running("FILL", [n(4), x()], x(3)), "[3], but must have [4]"),
    ("T247", running("ZEROS_LIKE", [x(4)], x(2, 2)), "[2, 2], but must have [4]"),
    ("T247", running("BROADCAST_ARGS", [n(4), n(4, 5)], x(1, dtype=INT)), "[1], but must have [2]"),
    ("T247", running("BROADCAST_ARGS", [n(4), n(5, shape=(1, 1))], x(1, dtype=INT)), "[1, 1], but must be a list"),
    ("T247", running("GATHER", [x(4, 2), n(1, 2, 3)], x(3, 3)), "[3, 3], but must have [3, 2]"),
    ("T247", running("GATHER", [x(0, 2), n(1)], x(1, 2)), "has the shape [0, 2]: there is nothing"),
    ("T247", running("GATHER_ND", [x(4, 2), n(1, 2, 3)], x(3)), "indices of shape [3] have no places in [4, 2]"),
    ("T247", running("GATHER_ND", [x(4, 2), n(1, 2)], x(2)), "[2], but must have []"),
    ("T247", running("EMBEDDING_LOOKUP", [n(1, 2), x(4, 3)], x(2, 2)), "[2, 2], but must have [2, 3]"),
    ("T247", running("DYNAMIC_UPDATE_SLICE", [x(4), x(5), n(0)], x(4)), "an update of shape [5] is no part of [4]"),
    ("T247", running("DYNAMIC_UPDATE_SLICE", [x(4), x(3), n(0, 1)], x(4)), "but must be one for each axis of [4]"),
    ("T248", running("MEAN", [x(2, 3), n(1, dtype=FLOAT)], x(2)), "its axes, is FLOAT32, but must be integers"),
    ("T248", running("RESHAPE", [x(4)], x(4, dtype=WORD)), "its output, is INT16, but tensor 0, its input, is INT8"),
    ("T248", running("CONCATENATION", [x(2, 3), x(2, 3, dtype=WORD)], x(2, 6), JOINED), "one of its inputs, is INT16"),
    ("T249", running("CONCATENATION", [x(3)], x(3), JOINED), "it works along axis 1 of a tensor of shape [3]"),
    ("T249", running("RESIZE_BILINEAR", [x(1, 2, 2, 3), n(4)], x(1, 4, 2, 3)), "but must be a height and a width"),
    ("T249", running("TILE", [x(2, 3), n(2)], x(2, 3)), "it repeats [2] times, but must say how often"),
    ("T249", running("REVERSE_V2", [x(4), n(1)], x(4)), "it works along axis 1 of a tensor of shape [4]"),
    (
        "T249",
        running("SPACE_TO_DEPTH", [x(1, 3, 4, 2)], x(1, 1, 2, 8), Blocks(2)),
        "blocks of 2 × 2 pixels do not tile",
    ),
    ("T249", running("MIRROR_PAD", [x(4), n(4, 0)], x(8)), "[4, 0], which does not mirror what [4] has"),
    ("T249", running("SPACE_TO_BATCH_ND", [x(1, 4, 3), n(0), n(1, 1)], x(2, 3, 3)), "which does not fit [1, 4, 3]"),
    ("T249", running("SPACE_TO_BATCH_ND", [x(1, 4, 3), n(2), n(0, 1)], x(2, 3, 3)), "blocks of [2] do not tile [5]"),
    ("T249", running("SPACE_TO_BATCH_ND", [x(), n(), n()], x()), "it has blocks of a scalar, which has no images"),
    ("T249", running("GATHER", [x(4, 2), n(1, 2)], x(2, 2), Gather(2)), "it works along axis 2 of a tensor of"),
    ("T249", running("GATHER", [x(4, 2), n(1, 2)], x(4), Gather(1, 1)), "of shape [2] do not share 1 dimensions with"),
    ("T249", running("SPLIT", [n(-(1 << 31)), x(2, 4)], x(2, 4)), "it works along axis -2147483648 of a tensor"),
    ("T249", running("SPLIT", [n(0, 1), x(2, 4)], x(2, 4)), "it splits along 2 axes, not along one"),
    ("T249", running("PAD", [x(2, 3), n(1, 0)], x(3, 3)), "its paddings are [1, 0], but must be two of 0 or more"),
    ("T249", running("PAD", [x(2), n(-1, 0)], x(1)), "its paddings are [-1, 0]"),
    ("T249", running("MEAN", [x(2, 3), n(2)], x(2)), "it works along axis 2 of a tensor of shape [2, 3]"),
    ("T249", running("CUMSUM", [x(2, 3), n(-3)], x(2, 3)), "it works along axis -3 of a tensor of shape [2, 3]"),
    ("T249", running("TRANSPOSE", [x(2, 4), n(1, 1)], x(2, 4)), "its axes are [1, 1], but must be each of [2, 4] once"),
    ("T249", running("SLICE", [x(8), n(5), n(4)], x(4)), "it takes [4] from [5], which is not within [8]"),
    ("T249", running("STRIDED_SLICE", [x(8), n(1), n(7), n(0)], x(4)), "no stride 0"),
    ("T249", running("STRIDED_SLICE", [x(8), n(1, 2), n(7), n(1)], x(6)), "must be one of each for each dimension"),
    (
        "T249",
        running("STRIDED_SLICE", [x(8), n(9), n(7), n(1)], x(), StridedSlice(shrink_axis_mask=1)),
        "it takes one index of an axis of [8], which does not have it",
    ),
]


@pytest.mark.parametrize(("code", "model", "message"), FAULTS, ids=[f"{c[0]}-{i}" for i, c in enumerate(FAULTS)])
def test_faults(code: str, model: Model, message: str) -> None:
    fault = first_fault(model)
    assert fault is not None
    assert fault.code == code
    assert fault.message.startswith("operator 0 (")
    assert message in fault.message


def test_each_fault_has_its_way_out() -> None:
    damaged = running("RELU", [x(4)], x(5))
    elsewhere = Model("m", (*running("RELU", [x(4)], x(4)).subgraphs, *damaged.subgraphs))
    without_batches = running("SPACE_TO_BATCH_ND", [x(1, 4, 3), n(2), n(0, 0)], x(1, 2, 3))
    cures = [fault.help for model in (damaged, elsewhere, without_batches) if (fault := first_fault(model)) is not None]
    for cure, words in zip(cures, ("a tool has edited it", "unroll=True", "batch_size=1"), strict=True):
        assert cure is not None
        assert words in cure


NOBODY_READS: list[Model] = [
    running("RESHAPE", [x(2, 3), n(7, 7)], x(6)),
    running("PACK", [x(2, 3), x(2, 3)], x(2, 2, 3), Pack(values_count=9, axis=-2)),
    running("STRIDED_SLICE", [x(8), n(1), n(7), n(2)], x(9), StridedSlice(ellipsis_mask=1)),
    running("STRIDED_SLICE", [x(8, 2), n(1), n(7), n(2)], x(3, 2)),
    running("SPLIT", [x(1, dtype=DType.INT32), x(2, 4)], [x(9), x(9)]),
    running("MEAN", [x(2, 3), x(1, dtype=DType.INT32)], x(7)),
    running("ADD", [x(2, 3, dtype=FLOAT), x(2, 3)], x(2, 3)),
    running("FULLY_CONNECTED", [x(2, 4), x(3, 8)], x(3)),
    running("UNKNOWN_KIND", [], []),
]
"""What is not known at build time, what kernels say themselves, and what means nothing here."""


@pytest.mark.parametrize("model", NOBODY_READS, ids=str)
def test_what_nobody_relies_on_passes(model: Model) -> None:
    assert first_fault(model) is None


SOUND: list[Model] = [
    lstm(),
    lstm(time_major=True, input_to_input=None, recurrent_to_input=None, input_bias=None),
    conv(x(1, 8, 8, 4), x(6, 3, 3, 2), x(1, 4, 8, 6), x(6), stride_h=2),
    conv(x(1, 8, 8, 2), x(4, 3, 3, 2), x(1, 6, 4, 4), padding=o.Padding.VALID, dilation_w=2),
    conv(x(1, 8, 8, 2), x(4, 3, 3, 2), x(1, 7, 8, 4), frame=(1, 0, 1, 1)),
    depthwise(x(1, 8, 8, 2), x(1, 3, 3, 6), x(1, 8, 8, 6), 3),
    pool(x(2, 8, 8, 3), x(2, 8, 8, 3), o.Padding.SAME),
    running("FULLY_CONNECTED", [x(2, 2, 8), x(4, 8), None], x(2, 2, 4), FullyConnected(keep_num_dims=True)),
    svdf(),
    running("ADD", [x(3), x(2, 1)], x(2, 3)),
    running("SUM", [x(2, 0, 3), n(1)], x(2, 3)),
    running("MEAN", [x(2, 4, 3), n(-1, 1)], x(2, 1, 1), Reducer(keep_dims=True)),
    running("SLICE", [x(2, 8), n(0, 5), n(-1, 2)], x(2, 2)),
    running("STRIDED_SLICE", [x(2, 8), n(1, 7), n(0, 0), n(1, -2)], x(4), StridedSlice(shrink_axis_mask=1)),
    running("UNPACK", [x(2, 3)], [x(2), x(2), x(2)], Unpack(3, 1)),
]


@pytest.mark.parametrize("model", SOUND, ids=str)
def test_sound_operators_pass(model: Model) -> None:
    assert first_fault(model) is None


def test_operands_of_the_table_have_one_name_each() -> None:
    for kind in OPERATORS.values():
        if kind.signature is not None:
            names = (
                f"{kind.signature.inputs.names} {kind.signature.outputs.names}".replace("?", "")
                .replace("*", "")
                .split()
            )
            assert len(names) == len({*names}), kind
