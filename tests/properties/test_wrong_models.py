"""Rewriting a model that makes no sense ends: it keeps its ports, and what is left still makes sense to `check`."""

from itertools import chain

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from usmp_build.ir.check import check
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Options, Padding
from usmp_build.operators.table import OPERATORS
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import Pins

OFTEN = [
    *"ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MAX_POOL_2D MUL SUB".split(),
    *"CAST DEQUANTIZE LOGISTIC MEAN PACK PAD PADV2 QUANTIZE RELU RELU6 SLICE SPLIT SPLIT_V TANH UNPACK".split(),
    *"EXPAND_DIMS RANDOM_UNIFORM READ_VARIABLE RESHAPE SHAPE GATHER SQUEEZE STRIDED_SLICE TRANSPOSE".split(),
    *"BATCH_MATMUL BATCH_TO_SPACE_ND RESIZE_NEAREST_NEIGHBOR SOFTMAX SPACE_TO_BATCH_ND TILE".split(),
]
"""Kinds that rewrites look for."""
KINDS = sorted([*OPERATORS, *OFTEN * 4])
SIDES = st.sampled_from([1, 1, 1, 2, 4, 0])
SHAPES = st.one_of(st.just((1, 4, 4, 2)), st.just((1, 1, 1, 1)), st.lists(SIDES, max_size=5).map(tuple))
TYPES = st.sampled_from([DType.INT8, DType.INT8, DType.INT8, DType.FLOAT32, DType.INT32, DType.BOOL])
QUANTIZED = st.builds(
    lambda scale, zero: Quantization((scale,), (zero,)),
    st.sampled_from([0.5, 0.5, 0.25, 0.0, 1e-38, 3e38]),
    st.sampled_from([-128, 0, 0, 127]),
)
SMALL = st.sampled_from([-(1 << 31), -5, -1, 0, 0, 0, 1, 1, 2, 3, (1 << 31) - 1])


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    kind = draw(st.sampled_from(["computed", "computed", "constant", "numbers", "numbers", "variable"]))
    dtype = DType.INT32 if kind == "numbers" else draw(TYPES)
    shape = draw(st.sampled_from([(), (1,), (4,), (4, 2), (3,)])) if kind == "numbers" else draw(SHAPES)
    tensor = Tensor("t", shape, dtype, draw(QUANTIZED) if dtype is DType.INT8 else None)
    if kind in {"computed", "variable"}:
        return Tensor("t", shape, dtype, tensor.quantization, None, kind == "variable")
    count = tensor.elements
    values = draw(st.lists(SMALL, min_size=count, max_size=count)) if kind == "numbers" else [1] * count
    data = np.array(values, np.dtype(dtype.numpy).newbyteorder("<")).tobytes()
    return Tensor("t", shape, dtype, tensor.quantization, data, is_withheld=draw(st.integers(0, 9)) == 0)


OPTIONS = {kind.name: kind.options.options for kind in OPERATORS.values() if kind.options}


@st.composite
def options(draw: st.DrawFn, kind: str) -> Options | None:
    if kind not in OPTIONS or draw(st.integers(0, 5)) == 0:
        return None
    drawn_options = OPTIONS[kind]
    given: dict[str, object] = {}
    for name in drawn_options.__dataclass_fields__:
        default = getattr(drawn_options(), name)
        if name in {"frame", "limits", "outside"} or draw(st.booleans()):
            continue
        if isinstance(default, bool):
            given[name] = draw(st.booleans())
        elif isinstance(default, int):
            given[name] = draw(st.sampled_from([0, 1, 2, 3, 1 << 31]))
        elif isinstance(default, Activation | Padding):
            given[name] = draw(st.sampled_from(type(default)))
    return drawn_options(**given)


@st.composite
def models(draw: st.DrawFn) -> Model:
    values = draw(st.lists(tensors(), min_size=4, max_size=14))
    computed = [i for i, tensor in enumerate(values) if not tensor.is_constant and not tensor.is_variable]
    assume(len(computed) > 1)
    known = [i for i in range(len(values)) if i not in computed] + computed[:1]
    operators = []
    for position, output in enumerate(computed[1:]):
        kind = draw(st.sampled_from(KINDS))
        inputs = draw(st.lists(st.one_of(st.sampled_from(known), st.sampled_from(known[-2:])), max_size=4))
        left_out = draw(st.integers(0, 15)) == 0
        read = (None, *inputs) if left_out else tuple(inputs)
        operators.append(
            Operator(kind, read, () if draw(st.integers(0, 15)) == 0 else (output,), draw(options(kind)), position)
        )
        known += operators[-1].outputs
    outputs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
    return Model("m", (Subgraph("main", tuple(values), (computed[0],), tuple(outputs), tuple(operators)),))


@settings(max_examples=100)
@given(models(), st.booleans())
def test_rewriting_a_wrong_model_ends(model: Model, may_cost: bool) -> None:
    assume(check(model) is None)
    rewritten = rewrite(model, Pins(may_cost=may_cost)).model
    assert check(rewritten) is None
    written = chain.from_iterable(op.outputs for op in rewritten.main.operators)
    assert {*rewritten.main.outputs} <= {*written, *model.main.inputs, *_given(rewritten)}


def _given(model: Model) -> set[int]:
    return {i for i, tensor in enumerate(model.main.tensors) if tensor.is_constant or tensor.is_variable}
