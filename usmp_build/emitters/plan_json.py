"""plan.json: the plan for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from usmp_build.document.json_lines import json_lines
from usmp_build.layout import BufferRow, Layout, ModelRow, PoolRow, Summary
from usmp_build.output.bundle import OutputFile
from usmp_build.plan_record import (
    BufferRecord,
    ClaimRecord,
    ConcurrencyRecord,
    CostRecord,
    KeepRecord,
    LargerRecord,
    ModelRecord,
    OverlapRecord,
    OverridesRecord,
    PlanRecord,
    PoolRecord,
    ProofRecord,
    RewriteRecord,
    TrafficRecord,
    WithoutLimitsRecord,
    WitnessRecord,
    WorkspaceRecord,
)


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield plan.json."""
    yield OutputFile("plan.json", plan_json(layout.summary))


def plan_json(summary: Summary) -> str:
    """Return the text of plan.json, one buffer a line: it is read by people, and compared, too."""
    record = PlanRecord(
        generator=f"usmp_build {summary.version}",
        project=summary.project,
        manifest=summary.manifest,
        algorithm=summary.algorithm,
        proof=_proof(summary),
        without_limits=_without_limits(summary),
        pools=tuple(map(_pool, summary.pools)),
        workspace=WorkspaceRecord(**asdict(summary.workspace)),
        models=tuple(map(_model, summary.models)),
        concurrent=ConcurrencyRecord(pairs=summary.concurrent, workspace=summary.concurrent_workspace),
        buffers=tuple(map(_buffer, summary.buffers)),
        repeated_constants=summary.repeated_constants,
        steps=summary.steps,
    )
    return json_lines(record.model_dump(mode="json"))


def _proof(summary: Summary) -> ProofRecord:
    witnesses = tuple(
        WitnessRecord(pool=pool.name, step=pool.peak_step, buffers=pool.peak_buffers, bytes=pool.peak_bytes)
        for pool in summary.pools
        if pool.peak_buffers and pool.access == "rw"
    )
    claims = tuple(
        ClaimRecord(pool=pool.name, bytes=pool.claim) for pool in summary.pools if pool.claim > pool.peak_bytes
    )
    return ProofRecord(
        verified=True,
        optimal=summary.optimal,
        best=summary.best,
        cost=CostRecord(**{name: getattr(summary.cost, name) for name in CostRecord.model_fields}),
        work=summary.work,
        claims=claims,
        witnesses=witnesses,
    )


def _without_limits(summary: Summary) -> WithoutLimitsRecord | None:
    row = summary.without_limits
    if row is None:
        return None
    larger = tuple(LargerRecord(pool=each.pool, size=each.size, more=each.more) for each in row.pools)
    return WithoutLimitsRecord(pools=larger, saved=row.saved, moved=row.moved, algorithm=row.algorithm)


def _pool(row: PoolRow) -> PoolRecord:
    names = PoolRecord.model_fields
    return PoolRecord(**{name: getattr(row, name) for name in names})


def _model(row: ModelRow) -> ModelRecord:
    traffic = tuple(TrafficRecord(pool=each.pool, read=each.read, written=each.written) for each in row.traffic)
    made = {"traffic", "rewrites", "keeps", "overrides"}
    own = {name: getattr(row, name) for name in ModelRecord.model_fields if name not in made}
    rewrites = tuple(RewriteRecord(**asdict(each)) for each in row.rewrites)
    keeps = tuple(KeepRecord(**asdict(each)) for each in row.keeps)
    overrides = OverridesRecord.model_validate({word: names or True for word, names in row.overrides.items()})
    return ModelRecord(traffic=traffic, rewrites=rewrites, keeps=keeps, overrides=overrides, **own)


def _buffer(row: BufferRow) -> BufferRecord:
    special = {"model", "shared_with", "overlaps"}
    own = {name: getattr(row, name) for name in BufferRecord.model_fields if name not in special}
    told = OverlapRecord.model_fields
    shared = tuple(OverlapRecord(**{name: getattr(each, name) for name in told}) for each in row.overlaps)
    return BufferRecord(model=row.models[0], shared_with=row.models[1:], overlaps=shared, **own)
