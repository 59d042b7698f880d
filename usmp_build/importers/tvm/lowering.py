"""Lowers a Relax module to calls of PrimFuncs on tensors, and these to loops over flat buffers.

TVM plans no memory here: no StaticPlanBlockMemory, no StorageRewrite.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import tvm
from tvm import relax, s_tir, tirx

from usmp_build.importers.tvm.prim_function import storage_scope

_TARGET = "c"
_SCHEDULED = "tirx.is_scheduled"
"""The attribute by which TVM marks a function that has a schedule, of dlight or tuning."""
_FUSED = 256
"""Operators that TVM fuses by itself, at most."""
_OPAQUE = 8
"""The pattern of operators that are not fused."""


def lower(module: Any, fused: int = _FUSED) -> Any:
    """Return the module with main as allocations and calls, and its functions as loops, each of so many operators."""
    graph, stages, loops = relax.transform, s_tir.transform, tirx.transform
    with tvm.target.Target(_TARGET), tvm.transform.PassContext(config={"relax.FuseOps.max_depth": fused}):
        calls = tvm.transform.Sequential([
            graph.DecomposeOpsForInference(),
            graph.CanonicalizeBindings(),
            relax.backend.DispatchSortScan(),
            graph.LegalizeOps(),
            graph.FoldConstant(),
            graph.AnnotateTIROpPattern(),
            graph.ConvertToDataflow(),
            graph.DeadCodeElimination(),
            graph.FuseOps(),
            graph.FuseTIR(),
            graph.DeadCodeElimination(),
            graph.RewriteDataflowReshape(),
            graph.ToNonDataflow(),
            graph.RemovePurityChecking(),
            graph.CallTIRRewrite(),
            graph.DeadCodeElimination(),
        ])(_with_schedules_kept(module))  # fmt: skip
        functions = {name: _inlined(f) for name, f in calls.functions.items() if isinstance(f, tirx.PrimFunc)}
        target = tvm.target.Target(_TARGET)
        lowered = tvm.transform.Sequential([
            loops.BindTarget(target.with_host(target)),
            stages.CanonicalizeLoop(),
            stages.LowerInitBlock(),
            stages.PlanAndUpdateBufferAllocationLocation(),
            stages.ConvertBlocksToOpaque(),
            stages.CompactBufferAllocation(),
            stages.LowerMatchBuffer(),
            stages.StmtSimplify(),
            stages.AnnotateIrregularLoop(),
            stages.LowerOpaqueBlock(),
            loops.FlattenBuffer(),
            loops.NarrowDataType(32),
            loops.VectorizeLoop(False),
            loops.StmtSimplify(),
            loops.RemoveNoOp(),
            loops.CommonSubexprElim(),
            loops.LowerIntrin(),
        ])(tvm.IRModule(functions))  # fmt: skip
    return calls, lowered


def _with_schedules_kept(module: Any) -> Any:
    """Let no function be fused that has a schedule: that would be lost."""
    for name, function in module.functions.items():
        if isinstance(function, tirx.PrimFunc) and _is_scheduled(function):
            module.update_func(name, function.with_attr("op_pattern", _OPAQUE))
    return module


def _is_scheduled(function: Any) -> bool:
    return bool(function.attrs and function.attrs.get(_SCHEDULED, False))


def _inlined(function: Any) -> Any:
    """Compute element-wise stages where they are used: what they computed needs no buffer.

    A function that has a schedule stays as it is, and so does a stage that writes to a memory of its own.
    """
    if _is_scheduled(function):
        return function
    schedule = s_tir.Schedule(tvm.IRModule({"main": function.with_attr("global_symbol", "main")}))
    with suppress(s_tir.ScheduleError):  # it is one stage that no schedule looks into
        for block in schedule.get_child_blocks(schedule.get_sblock("root")):
            if all(storage_scope(region.source) in {"", "global"} for region in schedule.get(block).writes):
                with suppress(s_tir.ScheduleError):  # it is a reduction, or what others see
                    schedule.compute_inline(block)
    return schedule.mod["main"].without_attr("global_symbol")
