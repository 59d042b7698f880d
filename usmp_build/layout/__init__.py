"""What emitters see: the plan with every name made and every row in order.

`codegen` has taken the decisions; a template only formats.  Fields are text, numbers, and tuples of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.layout.alternatives import (
    AlternativesRecord,
    CompilerPlanRecord,
    KeepRecord,
    LargerPoolsRecord,
    LargerRecord,
    ModelAlternativesRecord,
)
from usmp_build.layout.buffers import BufferRecord, BufferRow, OverlapRow, RowsRecord
from usmp_build.layout.code import (
    BufferCode,
    CallCode,
    CopiedBytes,
    FlowLine,
    LoopCode,
    ModelCode,
    PortRow,
    ResetRow,
    StepCode,
    TableCode,
    TraceRow,
)
from usmp_build.layout.constants import ConstantGroup, ConstantRow, PoolBytes
from usmp_build.layout.costs import CostRecord, CostRow
from usmp_build.layout.functions import BodyLine, FunctionCode, MemberRow, ParameterRow
from usmp_build.layout.models import (
    ModelRow,
    OperatorRecord,
    OverridesRecord,
    RewriteRecord,
    TensorRecord,
    TrafficRecord,
)
from usmp_build.layout.plan_record import PlanRecord
from usmp_build.layout.pools import CertificateRecord, PoolRecord, PoolRow, WorkspaceRecord
from usmp_build.layout.rows import Arrival, Jobs, RowOffsets, RowStep, RowTrace
from usmp_build.layout.summary import Summary
from usmp_build.layout.targets import TargetRecord

__all__ = [
    "AlternativesRecord",
    "Arrival",
    "BodyLine",
    "BufferCode",
    "BufferRecord",
    "BufferRow",
    "CachedRow",
    "CallCode",
    "CertificateRecord",
    "CompilerPlanRecord",
    "ConstantGroup",
    "ConstantRow",
    "CopiedBytes",
    "CostRecord",
    "CostRow",
    "FlowLine",
    "FunctionCode",
    "Jobs",
    "KeepRecord",
    "LargerPoolsRecord",
    "LargerRecord",
    "Layout",
    "LoopCode",
    "MemberRow",
    "ModelAlternativesRecord",
    "ModelCode",
    "ModelRow",
    "OperatorRecord",
    "OverlapRow",
    "OverridesRecord",
    "ParameterRow",
    "PlanRecord",
    "PoolBytes",
    "PoolRecord",
    "PoolRow",
    "PortRow",
    "ResetRow",
    "RewriteRecord",
    "RowOffsets",
    "RowStep",
    "RowTrace",
    "RowsRecord",
    "StepCode",
    "Summary",
    "TableCode",
    "TargetRecord",
    "TensorRecord",
    "TraceRow",
    "TrafficRecord",
    "WorkspaceRecord",
]


@dataclass(frozen=True, slots=True)
class CachedRow:
    """A function of the application that gets operands in cached memory."""

    function: str
    arguments: tuple[str, ...]
    """As they are declared."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A plan and everything that C needs."""

    summary: Summary
    constants: tuple[ConstantGroup, ...]
    pool_bytes: tuple[PoolBytes, ...]
    """Of all constant pools of the application, in the order of pools."""
    models: tuple[tuple[ModelRow, ModelCode], ...]
    excluded: tuple[tuple[int, ...], ...]
    """For each model, those that may not run while it does: itself, and all but its concurrent ones."""
    kernel_header: str
    kernel_source: str
    needs_math: bool
    """Whether the kernels call functions of <math.h>, which some linkers find only when they are told."""
    links: tuple[str, ...]
    """Libraries of the application that the kernels call, as CMake names them."""
    cached: tuple[CachedRow, ...] = ()
