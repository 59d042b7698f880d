"""Pooling: one number for the pixels under a window."""

from __future__ import annotations

from dataclasses import field

from usmp_build.frozen import frozen
from usmp_build.ir.options import Activation, Frame, Limits, Options, Padding, slot
from usmp_build.operators.general_rules import not_empty, rank
from usmp_build.operators.kind import OperatorKind, StoredOptions, pure
from usmp_build.operators.operands import Signature, Subject
from usmp_build.operators.windows import window


@frozen
class Pool2D(Options):
    """AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

    padding: Padding = field(default=Padding.SAME, metadata=slot(0, "b"))
    stride_h: int = field(default=1, metadata=slot(2, "i"))
    stride_w: int = field(default=1, metadata=slot(1, "i"))
    filter_h: int = field(default=1, metadata=slot(4, "i"))
    filter_w: int = field(default=1, metadata=slot(3, "i"))
    activation: Activation = field(default=Activation.NONE, metadata=slot(5, "b"))
    frame: Frame | None = None
    """Pixels around the image that windows may hang over; in place of `padding`."""
    outside: int | None = None
    """Of AVERAGE_POOL_2D: the value of pixels of the frame, which then count; None: they do not."""
    limits: Limits | None = None


def _reach(subject: Subject) -> tuple[int, int]:
    options = subject.operator.options
    assert isinstance(options, Pool2D)
    return options.filter_h, options.filter_w


def _pooling(name: str, *, within_inputs: bool = False, extended: bool = False) -> OperatorKind:
    return pure(
        name,
        Signature("input", rules=(rank(4, "input", "output"), not_empty("input"), window("input", -1, _reach))),
        options=StoredOptions(Pool2D, "Pool2DOptions"),
        keeps_axes=True,
        within_inputs=within_inputs,
        streams=True,
        extended=extended,
    )


KINDS = (
    _pooling("AVERAGE_POOL_2D", within_inputs=True, extended=True),
    _pooling("L2_POOL_2D"),
    _pooling("MAX_POOL_2D", within_inputs=True, extended=True),
)
