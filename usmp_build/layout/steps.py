"""The steps of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from usmp_build.layout.record import Record

StepKind: TypeAlias = Literal["enter", "arrival", "operator", "leave", "other"]


@dataclass(frozen=True, slots=True)
class StepRecord(Record):
    """A step of the timeline: what happens in it from beginning to end."""

    model: str
    kind: StepKind
    """The application has filled the inputs (enter); a row of an input arrives; an operator runs, or a row of it; the
    application reads the outputs (leave); anything else is a part of control flow, or a statement of a program."""
    operator: int | None
    """Its position in the file, or after all of these, as in `operators` of the model; null where none runs."""
    row: int | None
    """The row that the operator computes, or consumes if it adds up rows, or that arrives; null where it is all."""
    text: str
    """The step for people, with the model's name."""
