"""Elements whose places are known at run time only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Options, slot
from usmp_build.operators.fold import arrays
from usmp_build.operators.general_rules import axis_faults, integers, not_empty, rank, same_type, shape_fault
from usmp_build.operators.kind import Array, AtOnce, Fold, Known, StoredOptions, mover, pure
from usmp_build.operators.operands import Fault, Signature, Subject


@frozen
class Gather(Options):
    """GATHER."""

    axis: int = field(default=0, metadata=slot(0, "i"))
    batch_dims: int = field(default=0, metadata=slot(1, "i"))


def gathered(shape: Sequence[int], indices: Sequence[int], options: Gather) -> tuple[int, int, tuple[int, ...]] | None:
    """Return axis and batch dimensions of GATHER, both from 0 on, and the shape of its output; None if they do not fit.

    >>> gathered((2, 5, 7), (2, 3), Gather(axis=-1, batch_dims=1))
    (2, 1, (2, 5, 3))
    """
    axis, batches = options.axis, options.batch_dims
    if axis < 0:
        axis += len(shape)
    if batches < 0:
        batches += len(indices)
    if not 0 <= batches <= axis < len(shape) or batches > len(indices) or shape[:batches] != indices[:batches]:
        return None
    return axis, batches, (*shape[:axis], *indices[batches:], *shape[axis + 1 :])


def _gathered(subject: Subject) -> Iterator[Fault]:
    options, shape, indices = subject.operator.options, subject.shape("input"), subject.shape("indices")
    assert isinstance(options, Gather)
    yield from axis_faults([options.axis], shape)
    fits = gathered(shape, indices, options)
    if fits is None:
        message = f"indices of shape {list(indices)} do not share {options.batch_dims} dimensions with {list(shape)}"
        yield Fault("T249", f"{message}, before axis {options.axis}")
        return
    yield from shape_fault(subject, "output", fits[2])


def _gathered_deep(subject: Subject) -> Iterator[Fault]:
    """GATHER_ND: the last axis of the indices has a place in the first axes of the input."""
    shape, indices = subject.shape("input"), subject.shape("indices")
    if not indices or not 1 <= indices[-1] <= len(shape):
        yield Fault("T247", f"indices of shape {list(indices)} have no places in {list(shape)}")
        return
    yield from shape_fault(subject, "output", (*indices[:-1], *shape[indices[-1] :]))


def _embedded(subject: Subject) -> Iterator[Fault]:
    yield from shape_fault(subject, "output", (*subject.shape("indices"), *subject.shape("input")[1:]))


def _updated(subject: Subject) -> Iterator[Fault]:
    """DYNAMIC_UPDATE_SLICE: the update fits the input, and begins at one index for each axis."""
    shape, update, starts = (subject.shape(name) for name in ("input", "update", "starts"))
    if len(update) != len(shape) or any(part > size for part, size in zip(update, shape, strict=True)):
        yield Fault("T247", f"an update of shape {list(update)} is no part of {list(shape)}")
        return
    if starts != (len(shape),):
        yield Fault("T247", f"its starts have the shape {list(starts)}, but must be one for each axis of {list(shape)}")
    yield from shape_fault(subject, "output", shape)


def _gather(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, indices = arrays(sources)
    gather = op.options if isinstance(op.options, Gather) else Gather()
    if gather.batch_dims or np.min(indices, initial=0) < 0:  # kernels clip what numpy counts from the end
        raise ValueError
    return np.take(data, indices, axis=gather.axis)


_INDEXED = (same_type("input", "output"), not_empty("input"), integers("indices"))

KINDS = (
    mover(
        "DYNAMIC_UPDATE_SLICE",
        Signature("input update starts", rules=(same_type("input", "update", "output"), integers("starts"), _updated)),
        whole=AtOnce.PLACES,
    ),
    pure(
        "EMBEDDING_LOOKUP",
        Signature("indices input", rules=(not_empty("input"), integers("indices"), rank(1, "indices"), _embedded)),
        whole=AtOnce.PLACES,
    ),
    mover(
        "GATHER",
        Signature("input indices", rules=(*_INDEXED, _gathered)),
        options=StoredOptions(Gather, "GatherOptions"),
        fold=Fold(Known.INTEGERS, _gather),
        whole=AtOnce.PLACES,
    ),
    mover("GATHER_ND", Signature("input indices", rules=(*_INDEXED, _gathered_deep)), whole=AtOnce.PLACES),
)
