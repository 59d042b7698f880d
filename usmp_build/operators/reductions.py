"""Many numbers become one, along axes; and what sums along one: SOFTMAX, L2_NORMALIZATION, CUMSUM and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import prod

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Activation, Options, slot
from usmp_build.operators.fold import arrays
from usmp_build.operators.general_rules import as_many, axis_faults, count_fault, integers, not_empty
from usmp_build.operators.kind import ArgumentType, Array, Effect, Fold, Known, OperatorKind, StoredOptions, pure
from usmp_build.operators.operands import Fault, Rule, Signature, Subject


@frozen
class Reducer(Options):
    """MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL."""

    keep_dims: bool = field(default=False, metadata=slot(0, "?"))


@frozen
class Softmax(Options):
    """SOFTMAX."""

    beta: float = field(default=1.0, metadata=slot(0, "f"))


@frozen
class Cumsum(Options):
    """CUMSUM."""

    exclusive: bool = field(default=False, metadata=slot(0, "?"))
    """Whether a sum leaves its own element out."""
    reverse: bool = field(default=False, metadata=slot(1, "?"))
    """Whether sums begin at the end of the axis."""


@frozen
class L2Normalization(Options):
    """L2_NORMALIZATION."""

    activation: Activation = field(default=Activation.NONE, metadata=slot(0, "b"))


def _along(subject: Subject) -> Iterator[Fault]:
    """CUMSUM: the axes are those of the input."""
    yield from axis_faults(subject.numbers("axis") or (), subject.shape("input"))


def _reduced(subject: Subject) -> Iterator[Fault]:
    """MEAN, SUM and the like: the output has what is left when the axes are gone."""
    axes, shape = subject.numbers("axes"), subject.shape("input")
    if axes is None:
        return
    yield from axis_faults(axes, shape)
    gone = {axis % len(shape) for axis in axes}
    yield from count_fault(subject, "output", prod(size for axis, size in enumerate(shape) if axis not in gone))


def _reduce_prod(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, axes = arrays(sources)
    keep = isinstance(op.options, Reducer) and op.options.keep_dims
    return np.asarray(np.prod(data, axis=tuple(int(a) for a in axes.ravel()), keepdims=keep))


def _reduction(
    name: str,
    *rules: Rule,
    effect: Effect = Effect.FUNCTION,
    streams: bool = False,
    fold: Fold | None = None,
    arguments: Mapping[str, ArgumentType] | None = None,
) -> OperatorKind:
    return pure(
        name,
        Signature("input axes", rules=(*rules, integers("axes"), _reduced)),
        effect=effect,
        options=StoredOptions(Reducer, "ReducerOptions"),
        streams=streams,
        fold=fold,
        arguments=arguments,
    )


_PLACE = Signature("input axes", rules=(not_empty("input"), integers("axes"), _reduced))
"""ARG_MAX and ARG_MIN: which element along an axis it is."""
_NORMALIZATION = Signature("input", rules=(not_empty("input"), as_many))
"""Along the last axis."""

KINDS = (
    pure("ARG_MAX", _PLACE),
    pure("ARG_MIN", _PLACE),
    pure(
        "CUMSUM",
        Signature("input axis", rules=(integers("axis"), as_many, _along)),
        options=StoredOptions(Cumsum, "CumsumOptions"),
        keeps_axes=True,
    ),
    pure(
        "L2_NORMALIZATION",
        _NORMALIZATION,
        options=StoredOptions(L2Normalization, "L2NormOptions"),
        keeps_axes=True,
    ),
    pure("LOG_SOFTMAX", _NORMALIZATION, keeps_axes=True),
    _reduction(
        "MEAN",
        not_empty("input"),
        streams=True,
        arguments={"input": ArgumentType.SAME, "axes": ArgumentType.INT32},
    ),
    _reduction("REDUCE_ALL"),
    _reduction("REDUCE_ANY", effect=Effect.PURE),
    _reduction("REDUCE_MAX"),
    _reduction("REDUCE_MIN"),
    _reduction("REDUCE_PROD", effect=Effect.PURE, fold=Fold(Known.INTEGERS, _reduce_prod)),
    pure("SOFTMAX", _NORMALIZATION, options=StoredOptions(Softmax, "SoftmaxOptions"), keeps_axes=True),
    _reduction("SUM", streams=True),
)
