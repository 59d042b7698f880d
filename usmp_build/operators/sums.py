"""What adds products up: convolutions, FULLY_CONNECTED, BATCH_MATMUL and SVDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import zip_longest

from usmp_build.arithmetic import windows
from usmp_build.frozen import frozen
from usmp_build.ir.options import Activation, Frame, Limits, Options, Order, Padding, in_order, slot
from usmp_build.operators.general_rules import count_fault, not_empty, rank
from usmp_build.operators.kind import ArgumentType, StoredOptions, Weights, pure, stateful, summing
from usmp_build.operators.operands import Fault, Rule, Signature, Subject
from usmp_build.operators.windows import window


@frozen
class Conv2D(Options):
    """CONV_2D; also TRANSPOSE_CONV, whose dilation is always 1."""

    padding: Padding = field(default=Padding.SAME, metadata=slot(0, "b"))
    stride_h: int = field(default=1, metadata=slot(2, "i"))
    stride_w: int = field(default=1, metadata=slot(1, "i"))
    dilation_h: int = field(default=1, metadata=slot(5, "i", 1))
    dilation_w: int = field(default=1, metadata=slot(4, "i", 1))
    activation: Activation = field(default=Activation.NONE, metadata=slot(3, "b"))
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    limits: Limits | None = None


@frozen
class DepthwiseConv2D(Options):
    """DEPTHWISE_CONV_2D."""

    padding: Padding = field(default=Padding.SAME, metadata=slot(0, "b"))
    stride_h: int = field(default=1, metadata=slot(2, "i"))
    stride_w: int = field(default=1, metadata=slot(1, "i"))
    depth_multiplier: int = field(default=1, metadata=slot(3, "i"))
    dilation_h: int = field(default=1, metadata=slot(6, "i", 1))
    dilation_w: int = field(default=1, metadata=slot(5, "i", 1))
    activation: Activation = field(default=Activation.NONE, metadata=slot(4, "b"))
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    limits: Limits | None = None


@frozen
class FullyConnected(Options):
    """FULLY_CONNECTED."""

    activation: Activation = field(default=Activation.NONE, metadata=slot(0, "b"))
    keep_num_dims: bool = field(default=False, metadata=slot(2, "?"))
    shuffled_weights: bool = field(default=False, metadata=slot(1, "b"))
    """The weights are in the order SHUFFLED4x16INT8, not in their shape's."""
    asymmetric_quantize_inputs: bool = field(default=False, metadata=slot(3, "?"))
    """Whether inputs of float32 that meet weights of int8 get a zero point."""
    limits: Limits | None = None


@frozen
class BatchMatMul(Options):
    """BATCH_MATMUL: whether the matrices of each side are stored by columns.

    The other fields are the axes of a TRANSPOSE that was folded in: before either input, or after the output.
    """

    adj_x: bool = field(default=False, metadata=slot(0, "?"))
    adj_y: bool = field(default=False, metadata=slot(1, "?"))
    left_axes: Order | None = None
    right_axes: Order | None = None
    output_axes: Order | None = None
    """The last one stays where it is."""


@frozen
class Svdf(Options):
    """SVDF."""

    rank: int = field(default=0, metadata=slot(0, "i"))
    activation: Activation = field(default=Activation.NONE, metadata=slot(1, "b"))


def _reach(subject: Subject) -> tuple[int, int]:
    options = subject.operator.options
    assert isinstance(options, Conv2D | DepthwiseConv2D)
    _, height, width, _ = subject.shape("filters")
    return windows.reach(height, options.dilation_h), windows.reach(width, options.dilation_w)


def _grouped(subject: Subject) -> Iterator[Fault]:
    """The filters of CONV_2D go over all input channels, or share them out in groups."""
    outputs, _, _, taken = subject.shape("filters")
    *_, given = subject.shape("input")
    if given % taken:
        yield Fault("T247", f"its input has {given} channels, but its filters take {taken}")
    elif outputs % (given // taken):
        yield Fault("T247", f"its {outputs} filters cannot be divided among {given // taken} groups of channels")


def _depthwise(subject: Subject) -> Iterator[Fault]:
    """Each input channel has as many filters as the option says; where it says 0, as many as there are."""
    options = subject.operator.options
    assert isinstance(options, DepthwiseConv2D)
    first, _, _, filters = subject.shape("filters")
    *_, given = subject.shape("input")
    multiplier = options.depth_multiplier or filters // given
    if first != 1 or filters != given * multiplier:
        shape = list(subject.shape("filters"))
        message = f"its filters have the shape {shape}, but {given} input channels with {multiplier} filters each"
        yield Fault("T247", f"{message} take [1, height, width, {given * multiplier}]")


def _transposed(subject: Subject) -> Iterator[Fault]:
    """The filters of TRANSPOSE_CONV go from all input channels to all output channels."""
    outputs, _, _, inputs = subject.shape("filters")
    channels_in, channels_out = subject.shape("input")[-1], subject.shape("output")[-1]
    if (inputs, outputs) != (channels_in, channels_out):
        message = (
            f"its filters go from {inputs} to {outputs} channels, but its images from {channels_in} to {channels_out}"
        )
        yield Fault("T247", message)


def _biased(channels: str, axis: int = 0) -> Rule:
    """There is one bias for each index of an axis of operand `channels`."""

    def rule(subject: Subject) -> Iterator[Fault]:
        yield from count_fault(subject, "bias", subject.shape(channels)[axis])

    return rule


def _connected(subject: Subject) -> Iterator[Fault]:
    """FULLY_CONNECTED takes batches of inputs, and makes as many of outputs."""
    outputs, inputs = subject.shape("weights")
    ((label, source),) = subject.each("input")
    batches, rest = divmod(source.elements, inputs)
    if rest:
        shape = list(source.shape)
        yield Fault("T247", f"{label} has the shape {shape}, but its weights take {inputs} inputs at a time")
    yield from count_fault(subject, "output", batches * outputs)


def _multiplied(subject: Subject) -> Iterator[Fault]:
    """Rows of the left matrices are as long as columns of the right ones; outer axes are equal, or one of them is 1."""
    options = subject.operator.options
    assert isinstance(options, BatchMatMul)
    orders = {"left": options.left_axes, "right": options.right_axes, "output": options.output_axes}
    for name, order in orders.items():
        if order is not None and sorted(order) != [*range(len(subject.shape(name)))]:
            yield Fault("T247", f"its option {name}_axes is {list(order)}, and not an order of the axes of {name}")
            return
    yield from _matrices(subject, options, orders)


def _matrices(subject: Subject, options: BatchMatMul, orders: Mapping[str, Order | None]) -> Iterator[Fault]:
    left, right = (list(in_order(subject.shape(name), orders[name])) for name in ("left", "right"))
    output = list(subject.shape("output"))
    if min(map(len, (left, right, output))) < 2:
        yield Fault("T247", f"it multiplies {left} with {right} to {output}, not matrices")
        return
    rows, depth = reversed(left[-2:]) if options.adj_x else left[-2:]
    height, columns = reversed(right[-2:]) if options.adj_y else right[-2:]
    axes = list(zip_longest(reversed(left[:-2]), reversed(right[:-2]), fillvalue=1))
    outer = [max(pair) for pair in reversed(axes)]
    fits = depth == height and all(one == other or 1 in (one, other) for one, other in axes)
    if options.output_axes is not None:  # operands of which axes have moved may have leading ones, too
        outer = outer[max(0, len(outer) + 2 - len(output)) :]
    fits &= len(outer) + 2 == len(output)
    if not fits or output != list(in_order((*outer, rows, columns), options.output_axes)):
        yield Fault("T247", f"it multiplies matrices of {left} with those of {right}, which does not make {output}")


def _remembering(subject: Subject) -> Iterator[Fault]:
    """SVDF: filters over inputs, then over their last results, which are the state."""
    options = subject.operator.options
    assert isinstance(options, Svdf)
    (filters, inputs), (results, memory) = subject.shape("features"), subject.shape("times")
    if filters != results:
        yield Fault("T247", f"it has {filters} filters over inputs, but {results} over results")
    if options.rank < 1 or filters % options.rank:
        yield Fault("T232", f"the option rank is {options.rank}, but must divide the {filters} filters")
    ((label, source),) = subject.each("input")
    batches, rest = divmod(source.elements, inputs)
    if rest:
        shape = list(source.shape)
        yield Fault("T247", f"{label} has the shape {shape}, but its filters take {inputs} inputs at a time")
    yield from count_fault(subject, "state", batches * filters * memory)
    yield from count_fault(subject, "output", batches * filters // options.rank)
    yield from count_fault(subject, "bias", filters // options.rank)


_ARGUMENTS = {"input": ArgumentType.SAME, "filter": ArgumentType.SAME, "bias": ArgumentType.BIAS}

_IMAGE_RULES = rank(4, "input", "filters", "output"), not_empty("input", "filters")

KINDS = (
    pure(
        "BATCH_MATMUL",
        Signature("left right", rules=(_multiplied,)),
        options=StoredOptions(BatchMatMul, "BatchMatMulOptions"),
        arguments={"left": ArgumentType.SAME, "right": ArgumentType.SAME},
    ),
    summing(
        "CONV_2D",
        Signature(
            "input filters bias?",
            rules=(*_IMAGE_RULES, _grouped, window("filters", 0, _reach), _biased("filters")),
        ),
        Weights(axis=0, summed=slice(1, None)),
        options=StoredOptions(Conv2D, "Conv2DOptions"),
        arguments=_ARGUMENTS,
    ),
    summing(
        "DEPTHWISE_CONV_2D",
        Signature(
            "input filters bias?",
            rules=(*_IMAGE_RULES, _depthwise, window("filters", -1, _reach), _biased("filters", axis=-1)),
        ),
        Weights(axis=3, summed=slice(1, 3)),
        options=StoredOptions(DepthwiseConv2D, "DepthwiseConv2DOptions"),
        keeps_axes=True,
        arguments=_ARGUMENTS,
    ),
    summing(
        "FULLY_CONNECTED",
        Signature(
            "input weights bias?",
            "output workspace?",
            rules=(rank(2, "weights"), not_empty("input", "weights"), _connected, _biased("weights")),
        ),
        Weights(axis=0, summed=slice(1, None)),
        options=StoredOptions(FullyConnected, "FullyConnectedOptions"),
        arguments=_ARGUMENTS,
    ),
    stateful(
        "SVDF",
        Signature(
            "input features times bias? state",
            rules=(rank(2, "features", "times"), not_empty("input", "features", "times"), _remembering),
        ),
        options=StoredOptions(Svdf, "SVDFOptions"),
    ),
    summing(
        "TRANSPOSE_CONV",
        Signature(
            "shape filters input bias?",
            rules=(
                rank(4, "filters", "input", "output"),
                not_empty("filters", "input"),
                _transposed,
                _biased("filters"),
            ),
        ),
        Weights(axis=0, summed=None),
        options=StoredOptions(Conv2D, "TransposeConvOptions", frozenset({"dilation_h", "dilation_w"})),
        streams=False,
        extended=False,
        arguments={
            "output_shape": ArgumentType.INT32,
            "filter": ArgumentType.SAME,
            "input": ArgumentType.SAME,
            "bias": ArgumentType.BIAS,
        },
    ),
)
