"""What emitters see: the plan with every name made and every row in order.

All decisions have been taken in `arrange`; a template only sets the type.  Fields are text, numbers and tuples.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.layout.code import CallCode, LoopCode, ModelCode, Place, PortRow, StepCode, TableCode, TraceRow
from usmp_build.layout.constants import ConstantGroup, ConstantRow
from usmp_build.layout.functions import BodyLine, FunctionCode, MemberRow, ParameterRow
from usmp_build.layout.summary import BufferRow, ModelRow, PoolRow, Summary, TrafficRow

__all__ = [
    "BodyLine",
    "BufferRow",
    "CallCode",
    "ConstantGroup",
    "ConstantRow",
    "FunctionCode",
    "Layout",
    "LoopCode",
    "MemberRow",
    "ModelCode",
    "ModelRow",
    "ParameterRow",
    "Place",
    "PoolRow",
    "PortRow",
    "StepCode",
    "Summary",
    "TableCode",
    "TraceRow",
    "TrafficRow",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """A plan and everything that C needs."""

    summary: Summary
    constants: tuple[ConstantGroup, ...]
    models: tuple[tuple[ModelRow, ModelCode], ...]
    kernel_header: str
    kernel_source: str
