"""What emitters see: the plan with every name made and every row in order.

`codegen` has taken the decisions; a template only formats.  Fields are text, numbers, and tuples of rows.  Here are the
records that a plan is shown and stored by; those that only C needs are in `layout.layout`, and in what that imports.
"""

from __future__ import annotations

from usmp_build.layout.alternatives import (
    AlternativesRecord,
    CompilerPlanRecord,
    KeepRecord,
    LargerPoolsRecord,
    LargerRecord,
    ModelAlternativesRecord,
)
from usmp_build.layout.buffers import BufferRecord, BufferRow, OverlapRow, RowsRecord
from usmp_build.layout.models import (
    ModelRow,
    OperatorRecord,
    OverridesRecord,
    RewriteRecord,
    StripsRecord,
    TensorRecord,
    TrafficRecord,
)
from usmp_build.layout.plan_record import CostRecord, CostRow, PlanRecord, StepRecord, TargetRecord
from usmp_build.layout.pools import CertificateRecord, PoolRecord, PoolRow, WorkspaceRecord
from usmp_build.layout.summary import Summary

__all__ = [
    "AlternativesRecord",
    "BufferRecord",
    "BufferRow",
    "CertificateRecord",
    "CompilerPlanRecord",
    "CostRecord",
    "CostRow",
    "KeepRecord",
    "LargerPoolsRecord",
    "LargerRecord",
    "ModelAlternativesRecord",
    "ModelRow",
    "OperatorRecord",
    "OverlapRow",
    "OverridesRecord",
    "PlanRecord",
    "PoolRecord",
    "PoolRow",
    "RewriteRecord",
    "RowsRecord",
    "StepRecord",
    "StripsRecord",
    "Summary",
    "TargetRecord",
    "TensorRecord",
    "TrafficRecord",
    "WorkspaceRecord",
]
