"""What is known of an operator kind: all that passes, importers and kernels ask, in one place.

A row says what is special about a kind.  The function of its family, such as `elementwise` or `mover`, states the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation, Options
from usmp_build.operators.operands import Signature
from usmp_build.operators.values.transfer import Transfer

Array: TypeAlias = NDArray[Any]
Evaluator: TypeAlias = Callable[[Operator, Sequence[Tensor]], Array]
"""From the operator and its inputs, those that are left out excluded; raises ValueError for what it does not read."""


class Effect(Enum):
    """What an operator does beside computing its outputs."""

    FUNCTION = auto()
    """Nothing; and its outputs follow from its inputs, the options that we keep, and the types of the outputs."""
    PURE = auto()
    """Nothing: it need not run when nothing reads its outputs, and may run at any time."""
    UNKNOWN = auto()
    """Perhaps something: it is neither left out nor moved."""


class ArgumentType(Enum):
    """The type of an operand, for the prototypes of functions of the application."""

    SAME = auto()
    """That of the output."""
    BIAS = auto()
    """That of sums of products."""
    INT32 = auto()
    """32-bit integers."""


class StoredOptions(NamedTuple):
    """Where the options of a kind are in a .tflite file."""

    options: type[Options]
    table: str | None
    """The table of TFLite's schema; None: no file has such operators, rewrites make them."""
    left_out: frozenset[str] = frozenset()
    """Options that this table does not have, though the class does: they have our defaults."""


class Int8Kernel(Enum):
    """How the reference library runs an elementwise operator of int8."""

    ARITHMETIC = auto()
    TABLE = auto()
    """It reads a table of 256 values, as one that a rewrite makes is."""
    NONE = auto()


class Int8(NamedTuple):
    """What an elementwise operator makes of int8."""

    transfer: Callable[[Operator, Subgraph], Transfer]
    """Raises Opaque where that is not known."""
    kernel: Int8Kernel


class Elementwise(NamedTuple):
    """An operator that makes each element of its output from one element of each operand."""

    operands: int
    symmetric: bool
    """Whether operands may change places."""
    bounds: bool
    """Whether it returns one of its operands, so that a constant operand is a bound of the other."""
    activation: Activation | None
    """Which fused activation it is by itself."""
    int8: Int8 | None


class Weights(NamedTuple):
    """The second input: the filters or weights of the operator."""

    axis: int
    """Along which are the channels of the output."""
    summed: slice | None
    """Axes whose products add up to one element of the output; None where their number depends on the place."""


class Known(Enum):
    """What must be known of the inputs to compute an operator at build time."""

    SHAPES = auto()
    """Their shapes."""
    INTEGERS = auto()
    """Their values: integers that nothing quantizes, as in arithmetic on shapes."""
    VALUES = auto()
    """Their values, which are data of the model, such as weights."""
    BYTES = auto()
    """Their values, whatever they are: it only moves them."""


class Fold(NamedTuple):
    """How an operator is computed at build time."""

    known: Known
    value: Evaluator


class AtOnce(Enum):
    """Why no kernel makes a row of the output by itself, as a clause."""

    STATE = "each run moves a state on, once"
    VIEW = "nothing computes rows"
    FRAME = "a frame of a signal"
    SHAPES = "shapes have no rows"
    IMAGES = "rows go from image to image"
    PLACES = "the input says where elements are"


class Family(Enum):
    """Which function below made a kind: it asks for what kinds of the family have, and states the rest."""

    PURE = auto()
    MOVER = auto()
    ELEMENTWISE = auto()
    SUMMING = auto()
    STATEFUL = auto()
    PLANNED = auto()


@frozen
class OperatorKind:
    """All that is known of the operators of one kind; each is made by the function of its family, below."""

    _: KW_ONLY
    family: Family
    name: str
    """As in `Operator.kind`."""
    effect: Effect
    signature: Signature | None = None
    """What is well formed; None: anything."""
    options: StoredOptions | None = None
    """None: whatever a file stores is not read."""
    keeps_axes: bool = False
    """Whether the output has the axes of the inputs, though these may be longer or shorter: rows stay rows."""
    elementwise: Elementwise | None = None
    only_shape: bool = False
    """Whether the output has the bytes of the first input, under another shape."""
    within_inputs: bool = False
    """Whether the output lies between the least and the largest value of the first input."""
    streams: bool = False
    """Whether kernels take the first input row by row, so that it must not be a constant."""
    weights: Weights | None = None
    extended: bool = False
    """Whether kernels take the options that no file has and only rewrites set: frame, outside, limits."""
    fold: Fold | None = None
    """None: it is not computed at build time."""
    arguments: Mapping[str, ArgumentType] | None = None
    """Parameter names and types of the inputs in functions of the application; None: numbered."""
    whole: AtOnce | None = None
    """Said of kinds for which `at_once` does not follow from the rest."""

    @property
    def at_once(self) -> AtOnce | None:
        """Why it makes all of its output at once; None if it may go by rows, or nothing here runs it."""
        if self.family is Family.STATEFUL:
            return AtOnce.STATE
        return AtOnce.VIEW if self.only_shape else self.whole

    @property
    def int8(self) -> Int8 | None:
        """What it makes of int8, element by element; None where that is not known."""
        return self.elementwise.int8 if self.elementwise else None

    @property
    def summed(self) -> slice | None:
        """Axes of the weights whose products add up to one element of the output; None where there are no such."""
        return self.weights.summed if self.weights else None

    @property
    def is_pure(self) -> bool:
        """Whether it does nothing but compute its outputs."""
        return self.effect is not Effect.UNKNOWN


def pure(
    name: str,
    signature: Signature,
    *,
    effect: Effect = Effect.FUNCTION,
    options: StoredOptions | None = None,
    keeps_axes: bool = False,
    within_inputs: bool = False,
    streams: bool = False,
    extended: bool = False,
    fold: Fold | None = None,
    arguments: Mapping[str, ArgumentType] | None = None,
    whole: AtOnce | None = None,
) -> OperatorKind:
    """Return a kind that computes its outputs, in a way that no other family has."""
    return OperatorKind(
        family=Family.PURE,
        name=name,
        signature=signature,
        effect=effect,
        options=options,
        keeps_axes=keeps_axes,
        within_inputs=within_inputs,
        streams=streams,
        extended=extended,
        fold=fold,
        arguments=arguments,
        whole=whole,
    )


def mover(
    name: str,
    signature: Signature,
    *,
    effect: Effect = Effect.FUNCTION,
    options: StoredOptions | None = None,
    keeps_axes: bool = False,
    only_shape: bool = False,
    within_inputs: bool = False,
    fold: Fold | None = None,
    arguments: Mapping[str, ArgumentType] | None = None,
    whole: AtOnce | None = None,
) -> OperatorKind:
    """Return a kind whose outputs are made of elements of its inputs, as they are, and perhaps of padding."""
    return OperatorKind(
        family=Family.MOVER,
        name=name,
        signature=signature,
        effect=effect,
        options=options,
        keeps_axes=keeps_axes,
        only_shape=only_shape,
        within_inputs=within_inputs or only_shape,
        fold=fold,
        arguments=arguments,
        whole=whole,
    )


def elementwise(
    name: str,
    signature: Signature,
    *,
    operands: int,
    effect: Effect = Effect.FUNCTION,
    symmetric: bool = False,
    bounds: bool = False,
    activation: Activation | None = None,
    int8: Int8 | None = None,
    options: StoredOptions | None = None,
    extended: bool = False,
    fold: Fold | None = None,
    arguments: Mapping[str, ArgumentType] | None = None,
) -> OperatorKind:
    """Return a kind that makes each element of its output from one element of each operand."""
    return OperatorKind(
        family=Family.ELEMENTWISE,
        name=name,
        signature=signature,
        effect=effect,
        elementwise=Elementwise(operands, symmetric, bounds, activation, int8),
        options=options,
        keeps_axes=True,
        extended=extended,
        fold=fold,
        arguments=arguments,
    )


def summing(
    name: str,
    signature: Signature,
    weights: Weights,
    *,
    options: StoredOptions,
    arguments: Mapping[str, ArgumentType],
    keeps_axes: bool = False,
    streams: bool = True,
    extended: bool = True,
) -> OperatorKind:
    """Return a kind that adds up products of its first input and of weights."""
    return OperatorKind(
        family=Family.SUMMING,
        name=name,
        signature=signature,
        effect=Effect.FUNCTION,
        options=options,
        keeps_axes=keeps_axes,
        streams=streams,
        weights=weights,
        extended=extended,
        arguments=arguments,
    )


def stateful(name: str, signature: Signature, *, options: StoredOptions | None = None) -> OperatorKind:
    """Return a kind that remembers something from one run to the next."""
    return OperatorKind(family=Family.STATEFUL, name=name, signature=signature, effect=Effect.UNKNOWN, options=options)


def planned_only(
    name: str,
    effect: Effect = Effect.UNKNOWN,
    *,
    keeps_axes: bool = False,
    options: StoredOptions | None = None,
    whole: AtOnce | None = None,
) -> OperatorKind:
    """Return a kind that is planned like any other, but that nothing here looks into or runs."""
    return OperatorKind(
        family=Family.PLANNED, name=name, effect=effect, keeps_axes=keeps_axes, options=options, whole=whole
    )
