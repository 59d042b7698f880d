"""Rules that many operator kinds share: on ranks, types and numbers of elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.operators.operands import Fault, Rule, Subject


def rank(expected: int, *names: str) -> Rule:
    """These operands have this number of dimensions."""

    def rule(subject: Subject) -> Iterator[Fault]:
        for label, tensor in subject.each(*names):
            if len(tensor.shape) != expected:
                yield Fault("T247", f"{label} has the shape {list(tensor.shape)}, but must have {expected} dimensions")

    return rule


def not_empty(*names: str) -> Rule:
    """These operands have elements."""

    def rule(subject: Subject) -> Iterator[Fault]:
        for label, tensor in subject.each(*names):
            if 0 in tensor.shape:
                yield Fault("T247", f"{label} has the shape {list(tensor.shape)}: there is nothing to compute with")

    return rule


def as_many(subject: Subject) -> Iterator[Fault]:
    """The output has as many elements as the input."""
    (one, expected), (other, tensor) = subject.each("input", "output")
    if tensor.elements != expected.elements:
        yield Fault(
            "T247",
            f"{other} has the shape {list(tensor.shape)}, but {one} with {list(expected.shape)} has another number"
            " of elements",
        )


def same_type(*names: str) -> Rule:
    """These operands have one type."""

    def rule(subject: Subject) -> Iterator[Fault]:
        operands = list(subject.each(*names))
        for label, tensor in operands[1:]:
            one, expected = operands[0]
            if tensor.dtype is not expected.dtype:
                yield Fault("T248", f"{label} is {tensor.dtype.name}, but {one} is {expected.dtype.name}")

    return rule


def integers(*names: str) -> Rule:
    """These operands are integers: axes, sizes, places."""

    def rule(subject: Subject) -> Iterator[Fault]:
        for label, tensor in subject.each(*names):
            if not tensor.dtype.is_integer:
                yield Fault("T248", f"{label} is {tensor.dtype.name}, but must be integers")

    return rule


def broadcastable(*names: str) -> Rule:
    """These inputs have the shape of the output, or 1 where it has more; axes in front may be missing."""

    def rule(subject: Subject) -> Iterator[Fault]:
        output = subject.shape("output")
        for label, tensor in subject.each(*names):
            trailing = output[len(output) - len(tensor.shape) :] if len(tensor.shape) <= len(output) else ()
            fits = len(trailing) == len(tensor.shape) and all(map(_broadcasts, tensor.shape, trailing))
            if not fits:
                shape = list(tensor.shape)
                yield Fault("T247", f"{label} has the shape {shape}, which is not compatible with {list(output)}")

    return rule


def _broadcasts(size: int, whole: int) -> bool:
    return size in (1, whole)


def shape_fault(subject: Subject, name: str, expected: tuple[int, ...]) -> Iterator[Fault]:
    """Say that an operand has another shape than follows from the others, where it has."""
    for label, tensor in subject.each(name):
        if tensor.shape != expected:
            yield Fault("T247", f"{label} has the shape {list(tensor.shape)}, but must have {list(expected)}")


def count_fault(subject: Subject, name: str, expected: int) -> Iterator[Fault]:
    """Say that an operand has another number of elements than follows from the others, where it has."""
    for label, tensor in subject.each(name):
        if tensor.elements != expected:
            yield Fault(
                "T247", f"{label} has {tensor.elements:,} elements, {list(tensor.shape)}, but must have {expected:,}"
            )


def axis_faults(axes: Sequence[int], shape: Sequence[int]) -> Iterator[Fault]:
    """Say that axes are not those of a shape, where they are not."""
    for axis in axes:
        if not -len(shape) <= axis < len(shape):
            yield Fault("T249", f"it works along axis {axis} of a tensor of shape {list(shape)}")


_MOST_SHOWN = 16
"""Numbers in a message."""


def shown(numbers: Sequence[int]) -> str:
    """Spell numbers in a message."""
    return str(list(numbers)) if len(numbers) <= _MOST_SHOWN else f"{len(numbers):,} numbers"
