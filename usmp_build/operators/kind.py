"""What is known of an operator kind: all that passes, importers and kernels ask, in one place.

Every trait is stated in the row of the kind; none has a default, so a row without one does not load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorKind:
    """All that is known of the operators of one kind."""

    name: str
    """As in `Operator.kind`."""
    options: StoredOptions | None
    """None: whatever a file stores is not read."""
    signature: Signature | None
    """What is well formed; None: anything."""
    effect: Effect
    keeps_axes: bool
    """Whether the output has the axes of the inputs, though these may be longer or shorter: rows stay rows."""
    elementwise: Elementwise | None
    only_shape: bool
    """Whether the output has the bytes of the first input, under another shape."""
    within_inputs: bool
    """Whether the output lies between the least and the largest value of the first input."""
    streams: bool
    """Whether kernels take the first input row by row, so that it must not be a constant."""
    weights: Weights | None
    extended: bool
    """Whether kernels take the options that no file has and only rewrites set: frame, outside, limits."""
    fold: Fold | None
    """None: it is not computed at build time."""
    arguments: Mapping[str, ArgumentType] | None
    """Parameter names and types of the inputs in functions of the application; None: numbered."""

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


def plain_kind(
    *,
    name: str,
    options: StoredOptions | None,
    signature: Signature | None,
    effect: Effect,
    keeps_axes: bool,
    only_shape: bool,
    within_inputs: bool,
    fold: Fold | None,
    arguments: Mapping[str, ArgumentType] | None,
) -> OperatorKind:
    """Return a kind that is not elementwise, has no weights, and needs no rows or options of rewrites."""
    return OperatorKind(
        name=name,
        options=options,
        signature=signature,
        effect=effect,
        keeps_axes=keeps_axes,
        elementwise=None,
        only_shape=only_shape,
        within_inputs=within_inputs,
        streams=False,
        weights=None,
        extended=False,
        fold=fold,
        arguments=arguments,
    )


def planned_only(name: str, effect: Effect, *, keeps_axes: bool, options: StoredOptions | None) -> OperatorKind:
    """Return a kind that is planned like any other, but that nothing here looks into or runs."""
    return plain_kind(
        name=name,
        options=options,
        signature=None,
        effect=effect,
        keeps_axes=keeps_axes,
        only_shape=False,
        within_inputs=False,
        fold=None,
        arguments=None,
    )
