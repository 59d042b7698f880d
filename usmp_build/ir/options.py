"""What operators carry beside their tensors: one frozen dataclass for each kind that somebody downstream reads.

Names and meanings are those of TFLite's schema (schema.fbs, `table Conv2DOptions` and so on).
The textual form (`ir.text`) and the importer work from the fields declared here, so a new kind is one new class
and one new row of `OPTIONS`.  Fields that are None unless a rewrite sets them are not TFLite's: no file has them, and
only the reference library is given them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Padding(Enum):
    """How windows treat the border."""

    SAME = 0
    VALID = 1


class Activation(Enum):
    """The function fused behind an operator (TFLite's ActivationFunctionType)."""

    NONE = 0
    RELU = 1
    RELU_N1_TO_1 = 2
    RELU6 = 3
    TANH = 4
    SIGN_BIT = 5


Frame: TypeAlias = tuple[int, int, int, int]
"""Pixels above, below, left and right."""
Limits: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Options:
    """Base of all options."""


@dataclass(frozen=True, slots=True)
class Conv2D(Options):
    """CONV_2D; also TRANSPOSE_CONV, whose dilation is always 1."""

    padding: Padding = Padding.SAME
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    activation: Activation = Activation.NONE
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    limits: Limits | None = None
    """The least and the largest output, as integers of its type: what is beyond becomes these, behind `activation`."""


@dataclass(frozen=True, slots=True)
class DepthwiseConv2D(Options):
    """DEPTHWISE_CONV_2D."""

    padding: Padding = Padding.SAME
    stride_h: int = 1
    stride_w: int = 1
    depth_multiplier: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    activation: Activation = Activation.NONE
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    limits: Limits | None = None
    """The least and the largest output, as integers of its type: what is beyond becomes these, behind `activation`."""


@dataclass(frozen=True, slots=True)
class Pool2D(Options):
    """AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

    padding: Padding = Padding.SAME
    stride_h: int = 1
    stride_w: int = 1
    filter_h: int = 1
    filter_w: int = 1
    activation: Activation = Activation.NONE
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    outside: int | None = None
    """Of AVERAGE_POOL_2D: the value of pixels of the frame, which then count; None: they do not."""
    limits: Limits | None = None
    """The least and the largest output, as integers of its type: what is beyond becomes these, behind `activation`."""


@dataclass(frozen=True, slots=True)
class FullyConnected(Options):
    """FULLY_CONNECTED."""

    activation: Activation = Activation.NONE
    keep_num_dims: bool = False
    shuffled_weights: bool = False
    """The weights are in the order SHUFFLED4x16INT8, not in their shape's."""
    limits: Limits | None = None
    """The least and the largest output, as integers of its type: what is beyond becomes these, behind `activation`."""


@dataclass(frozen=True, slots=True)
class Binary(Options):
    """ADD, SUB, MUL and DIV."""

    activation: Activation = Activation.NONE
    limits: Limits | None = None
    """The least and the largest output, as integers of its type: what is beyond becomes these, behind `activation`."""


@dataclass(frozen=True, slots=True)
class Softmax(Options):
    """SOFTMAX."""

    beta: float = 1.0


@dataclass(frozen=True, slots=True)
class Concatenation(Options):
    """CONCATENATION."""

    axis: int = 0
    activation: Activation = Activation.NONE


@dataclass(frozen=True, slots=True)
class Reducer(Options):
    """MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL."""

    keep_dims: bool = False


@dataclass(frozen=True, slots=True)
class StridedSlice(Options):
    """STRIDED_SLICE; bit i of a mask speaks of axis i."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0
    offset: bool = False
    """The ends count from the begins."""


@dataclass(frozen=True, slots=True)
class Pack(Options):
    """PACK."""

    values_count: int = 0
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Gather(Options):
    """GATHER."""

    axis: int = 0
    batch_dims: int = 0


@dataclass(frozen=True, slots=True)
class Svdf(Options):
    """SVDF."""

    rank: int = 0
    activation: Activation = Activation.NONE


@dataclass(frozen=True, slots=True)
class VarHandle(Options):
    """VAR_HANDLE: the variable that it finds; all handles of one name are the same variable."""

    container: str = ""
    shared_name: str = ""


@dataclass(frozen=True, slots=True)
class If(Options):
    """IF: indices of the subgraphs of its arms."""

    then_subgraph: int = 0
    else_subgraph: int = 0


@dataclass(frozen=True, slots=True)
class While(Options):
    """WHILE: indices of the subgraphs of its test and its body."""

    cond_subgraph: int = 0
    body_subgraph: int = 0


@dataclass(frozen=True, slots=True)
class Call(Options):
    """CALL and CALL_ONCE: the index of the subgraph."""

    subgraph: int = 0


@dataclass(frozen=True, slots=True)
class Lookup(Options):
    """LOOKUP, which is ours: any function of one int8."""

    table: tuple[int, ...] = ()
    """What becomes of -128, of -127, ... and of 127."""


@dataclass(frozen=True, slots=True)
class Parts(Options):
    """JOIN and CUT, which are ours: where the parts begin in the whole."""

    offsets: tuple[int, ...] = ()
    """Bytes, for every input of a JOIN and every output of a CUT."""
    pitch: int = 0
    """Bytes from one pixel of a part to the next; 0: a part is bytes in a row."""


OPTIONS: dict[str, type[Options]] = {
    "ADD": Binary,
    "AVERAGE_POOL_2D": Pool2D,
    "CALL": Call,
    "CALL_ONCE": Call,
    "CONCATENATION": Concatenation,
    "CONV_2D": Conv2D,
    "CUT": Parts,
    "DEPTHWISE_CONV_2D": DepthwiseConv2D,
    "DIV": Binary,
    "FULLY_CONNECTED": FullyConnected,
    "GATHER": Gather,
    "IF": If,
    "JOIN": Parts,
    "L2_POOL_2D": Pool2D,
    "LOOKUP": Lookup,
    "MAX_POOL_2D": Pool2D,
    "MEAN": Reducer,
    "MUL": Binary,
    "PACK": Pack,
    "REDUCE_ALL": Reducer,
    "REDUCE_ANY": Reducer,
    "REDUCE_MAX": Reducer,
    "REDUCE_MIN": Reducer,
    "REDUCE_PROD": Reducer,
    "SOFTMAX": Softmax,
    "STRIDED_SLICE": StridedSlice,
    "SUB": Binary,
    "SUM": Reducer,
    "SVDF": Svdf,
    "TRANSPOSE_CONV": Conv2D,
    "VAR_HANDLE": VarHandle,
    "WHILE": While,
}
"""Operator kind → the class of its options.  Kinds not listed import without options."""


def called_subgraphs(options: Options | None) -> tuple[int, ...]:
    """Return the subgraphs that an operator with these options runs."""
    match options:
        case If():
            return (options.then_subgraph, options.else_subgraph)
        case While():
            return (options.cond_subgraph, options.body_subgraph)
        case Call():
            return (options.subgraph,)
    return ()
