"""Targets as planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from usmp_build.layout.record import Record


@dataclass(frozen=True, slots=True)
class TargetRecord(Record):
    """A processor that runs operators."""

    name: str
    kernels: str
    """Its kernel library; after commas, those that rules give to some of its operators."""
    isa: Literal["portable", "dsp", "mve"]
    """The instructions that kernels were chosen for."""
