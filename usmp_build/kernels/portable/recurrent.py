"""SVDF: layers whose state is their recent inputs."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Operand, Output, Traffic
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import real_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, InTurn, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.requantization import factor, factor_pairs
from usmp_build.kernels.weights import BLOCK, blocks, check_sums
from usmp_build.operators.sums import Svdf

_STATE = 4
"""The position of the state among the inputs."""
_BIAS_TOLERANCE = 1e-5
"""Tolerance of the scale of the bias."""


def svdf(node: Node) -> Kernel:
    """Filters over the inputs, then over their own recent results."""
    source, features, times, state = (node.input(position) for position in (0, 1, 2, _STATE))
    if not state.is_variable:
        raise Unsupported("its state is not a variable")
    sizes = _sizes(node, source, features, times, state)
    node.array(1, "weights")
    node.array(2, "weights")
    types = (source.dtype, features.dtype, times.dtype, state.dtype, node.output.dtype)
    if set(types) == {DType.FLOAT32}:
        return _float32(node, sizes)
    for dtype in (DType.INT16, DType.INT8):
        if types == (DType.INT8, DType.INT8, dtype, dtype, DType.INT8):
            return _int8(node, sizes)
    raise unsupported_types(source, features, times, state, node.output)


def _sizes(node: Node, source: Tensor, features: Tensor, times: Tensor, state: Tensor) -> dict[str, int]:
    rank = node.options(Svdf).rank
    node.expect(len(features.shape) == len(times.shape) == 2, "has weights without two dimensions")
    filters, inputs = features.shape
    memory = times.shape[1]
    node.expect(times.shape[0] == filters, f"has {filters} filters over inputs, and {times.shape[0]} over results")
    node.expect(rank > 0 and filters % rank == 0, f"has {filters} filters, not a multiple of its rank, {rank}")
    batches, rest = divmod(source.elements, inputs)
    node.expect(rest == 0, f"has {source.elements} inputs, not a multiple of {inputs}")
    node.expect(state.elements == batches * filters * memory, "has a state of another size than its filters")
    node.expect(node.output.elements == batches * filters // rank, "has an output of another size than its units")
    return {"batches": batches, "inputs": inputs, "units": filters // rank, "rank": rank, "memory": memory}


def _float32(node: Node, sizes: dict[str, int]) -> Kernel:
    low, high = real_limits(node.options(Svdf).activation)
    fields = (*sizes.items(), ("low", low), ("high", high))
    return _kernel(node, "svdf_f32", "svdf_f32_parameters", fields, sizes, ())


def _int8(node: Node, sizes: dict[str, int]) -> Kernel:
    """As in TensorFlow Lite Micro, the activation is ignored: the converter has limited the range of the output by it.

    Zero points of weights are ignored, too: they count as 0.
    """
    source, features, times, state = (node.input(position) for position in (0, 1, 2, _STATE))
    output = node.output
    if state.dtype is DType.INT16 and node.zero_point(state):
        raise Unsupported(f"{node.label(state)} has a zero point other than 0")
    if node.options(Svdf).activation not in (Activation.NONE, Activation.RELU):
        raise Unsupported(f"it has no kernel with the activation {node.options(Svdf).activation.name}")
    check_sums(node, sizes["inputs"], features)
    sums = node.scale(state) * node.scale(times)
    _check_bias_scale(node, sums)
    to_state = factor(node, node.scale(source) * node.scale(features) / node.scale(state))
    to_output = factor(node, sums / node.scale(output))
    low, high = integer_range(DType.INT8)
    zero_point = node.zero_point(output)
    fields = (
        *sizes.items(),
        ("input_zero_point", node.zero_point(source)),
        ("state_zero_point", node.zero_point(state)),
        ("output_zero_point", zero_point),
        ("low", low - zero_point),
        ("high", high - zero_point),
    )
    factors = (factor_pairs("factors", to_state, to_output),)
    function = c_name("svdf", source.dtype, state.dtype)
    return _kernel(node, function, "svdf_s8_parameters", fields, sizes, factors)


def _check_bias_scale(node: Node, sums: float) -> None:
    bias = node.optional(3)
    if (
        bias is not None
        and bias.quantization is not None
        and abs(bias.quantization.scales[0] - sums) >= _BIAS_TOLERANCE
    ):
        raise Unsupported("the scale of its biases is not that of its state times that of its weights")


def _kernel(
    node: Node, function: str, struct: str, fields: Fields, sizes: dict[str, int], factors: tuple[Constant, ...]
) -> Kernel:
    """Put the kernel together; every number of the factors is read once."""
    bias, zeros = _bias(node, sizes["units"], DType.INT32 if factors else DType.FLOAT32)
    constants = (*factors, *zeros)
    weights = (Input(1), Input(2), bias or Derived(len(factors)))
    operands = (Input(0), *weights, *map(Derived, range(len(factors))), Input(_STATE), Output(0))
    batches = {"batches": sizes["batches"]}
    read = Nest(batches, (reads(Input(0), sizes["inputs"]),))
    written = Nest({**batches, "units": sizes["units"]}, (writes(Output(0)),))
    return kernel(
        node,
        function,
        InTurn((read, written), shared=1),
        fields,
        struct=struct,
        operands=operands,
        constants=constants,
        moved=_traffic(node, sizes, weights),
        updates=frozenset({_STATE}),
    )


def _bias(node: Node, units: int, dtype: DType) -> tuple[Input | None, tuple[Constant, ...]]:
    """Return the bias as an operand; when it was left out, None and zeros as a derived constant."""
    bias = node.optional(3)
    if bias is None:
        return None, (Constant("bias", dtype, bytes(units * dtype.bits // 8)),)
    node.expect(bias.elements == units, f"has {bias.elements} biases for {units} units")
    if bias.dtype is not dtype:
        raise Unsupported(f"it has no kernel for biases of type {bias.dtype.name}")
    node.array(3, "biases")
    return Input(3), ()


def _traffic(node: Node, sizes: dict[str, int], operands: tuple[Operand, ...]) -> dict[Operand, Traffic]:
    """Of input, of both weights and bias, which are `operands`, and of state.

    Blocks of filters read the input; the newest is written twice.
    """
    source, features, times, state = (node.input(position) for position in (0, 1, 2, _STATE))
    batches, passes = sizes["batches"], blocks(sizes["units"] * sizes["rank"])
    of_features, of_times, bias = operands
    return {
        Input(0): Traffic(source.size * passes),
        of_features: Traffic(source.elements * passes * BLOCK * features.dtype.bits // 8),
        of_times: Traffic(times.size * batches),
        bias: Traffic(batches * sizes["units"] * 4),
        Input(_STATE): Traffic(read=state.size, written=state.size + state.size // sizes["memory"]),
    }
