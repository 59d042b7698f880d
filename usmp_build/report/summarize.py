"""Request + Analysis + Plan → Summary: its rows, for tables, plan.json and comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import usmp_build
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.layout import BufferRow, CertificateRecord, PoolRow, StepRecord, Summary, TargetRecord
from usmp_build.naming import pool_object
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import Witness, pool_bounds
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.planner.memory.problem import Buffer
from usmp_build.report.cost_row import cost_row
from usmp_build.report.kept_buffers import kept_for
from usmp_build.report.model_operands import timeline
from usmp_build.report.model_rows import ModelRows
from usmp_build.report.overlap_rows import overlaps
from usmp_build.report.pool_addresses import refuse_overlapping_pools
from usmp_build.report.workspace_record import workspace_record
from usmp_build.request import Access, PoolRequest, Request
from usmp_build.search.operator_order import BestCandidate

_LARGEST_ALIGNMENT = 1 << 16
"""Bytes; linkers align no section to more that is worth the gap before it."""


def summarize(request: Request, chosen: BestCandidate, plan: Plan) -> Summary:
    """Gather the facts of a plan that was verified, without `alternatives`.

    `plan` is that of what was chosen, with its constants grouped.
    Raises ManifestError and DoesNotFit where addresses that the manifest knows do not go with it (P307, P361), and
    CheckFailed where it takes less than was proven to be needed (P503).
    """
    analysis = chosen.analysis
    steps = tuple(timeline(analysis))
    moved = [analysis.moved_by(model) for model in range(len(request.models))]
    pools = _pools(request, analysis, plan, steps)
    refuse_overlapping_pools(request, pools)
    buffers = _buffers(request, analysis, plan, moved)
    rows = ModelRows(request, analysis, plan, pools, buffers)
    names = [model.name for model in request.models]
    is_plan_best = is_best(analysis.problem, plan)
    return Summary(
        generator=f"usmp_build {usmp_build.__version__}",
        project=request.project,
        macro=request.project.upper(),
        manifest=request.manifest,
        algorithm=plan.algorithm,
        cost=cost_row(request, analysis, plan),
        targets=_targets(request),
        is_best=is_plan_best,
        other_buffers=chosen.other_buffers,
        pools=pools,
        workspace=workspace_record(chosen, pools, is_plan_best),
        buffers=buffers,
        repeated_constants=analysis.storage.repeated,
        steps=steps,
        models=tuple(rows.row(m, moved[m]) for m in range(len(names))),
        concurrent=tuple((names[a], names[b]) for a, b in sorted(request.concurrent)),
    )


def _targets(request: Request) -> tuple[TargetRecord, ...]:
    """Return the targets with all kernel libraries that they use; a rule without a target is counted for the first."""
    rules = [place for model in request.models for place in model.places if place.kernels]
    records = []
    for index, target in enumerate(request.targets):
        named = {place.kernels for place in rules if (place.target or 0) == index} - {target.kernels}
        records.append(TargetRecord(target.name, ", ".join([target.kernels, *sorted(named)]), target.isa.value))
    return tuple(records)


def _pools(request: Request, analysis: Analysis, plan: Plan, steps: Sequence[StepRecord]) -> tuple[PoolRow, ...]:
    rows = []
    bounds = pool_bounds(analysis.problem, plan)
    claims = plan.claims or (0,) * len(request.pools)
    for index, (pool, peak) in enumerate(zip(request.pools, peaks(analysis.problem, plan), strict=True)):
        witness = bounds[index]
        members = [b for b, a in zip(analysis.problem.buffers, plan.allocations, strict=True) if a.pool == index]
        rows.append(
            PoolRow(
                name=pool.name,
                access=pool.access.value,
                size=peak,
                limit=pool.limit,
                budget=pool.budget,
                bound=max(witness.bytes, claims[index]),
                certificate=_certificate(analysis, pool, witness, claims[index], steps),
                alignment=_base_alignment(pool, members),
                section=pool.section,
                region=pool.region,
                load_region=pool.load_region,
                origin=pool.origin,
                owner=pool.owner.value,
                cache_line=pool.cache_line,
                symbol=pool_object(request.project, pool.name),
                macro=f"{request.project}_{pool.name}".upper(),
            )
        )
    return tuple(rows)


def _certificate(
    analysis: Analysis, pool: PoolRequest, witness: Witness, claim: int, steps: Sequence[StepRecord]
) -> CertificateRecord | None:
    """Return the buffers that show the bound of a workspace pool; None where the algorithm claims more than they do."""
    if pool.access is Access.CONSTANT or not witness.buffers or claim > witness.bytes:
        return None
    step = steps[witness.step].text if witness.step is not None and steps else None
    return CertificateRecord(step, tuple(analysis.problem.buffers[index].name for index in witness.buffers))


def _base_alignment(pool: PoolRequest, members: Sequence[Buffer]) -> int:
    """Return what the pool's base is aligned to, so that offsets align its buffers: a power of two, at most 64 KiB.

    Offsets may be multiples of a page, which is no power of two; addresses then are multiples of its largest one.
    Raises ManifestError when the pool's address, as far as the manifest knows it, is none.
    """
    demanded = (min(b.alignment & -b.alignment, _LARGEST_ALIGNMENT) for b in members)
    alignment = max([pool.alignment, pool.cache_line, *demanded])
    if pool.origin is not None and pool.origin % alignment:
        message = f'pool "{pool.name}" is at 0x{pool.origin:X}, and its buffers need a multiple of {alignment:,}'
        help_ = "correct `origin`, or demand a smaller alignment in the rules of targets, or smaller pages"
        raise ManifestError(Diagnostic("P307", message, pool.span, help_))
    return alignment


def _buffers(
    request: Request, analysis: Analysis, plan: Plan, moved: Sequence[Mapping[int, Traffic]]
) -> tuple[BufferRow, ...]:
    """By pool, then offset, then name; `moved[m]` is what model m moves to and from each buffer."""
    rows = []
    scopes: dict[int, str] = {}
    kept = kept_for(request, analysis)
    shared = overlaps(analysis, plan)
    for ref, buffer_of in analysis.storage.tensors.items():
        scopes.setdefault(buffer_of, analysis.scopes.reasons.get(ref, ""))
    facts = zip(analysis.storage.buffers, analysis.lifetimes.intervals, plan.allocations, strict=True)
    for index, (buffer, intervals, place) in enumerate(facts):
        traffic = sum((moved[model].get(index, Traffic()) for model in buffer.models), Traffic())
        row = BufferRow(
            name=buffer.name,
            kind=buffer.kind.value,
            model=request.models[buffer.models[0]].name,
            shared_with=tuple(request.models[m].name for m in buffer.models[1:]),
            pool=request.pools[place.pool].name,
            offset=place.offset,
            size=buffer.size,
            alignment=buffer.alignment,
            intervals=tuple((i.start, i.stop) for i in intervals),
            read=traffic.read,
            written=traffic.written,
            reason=buffer.reason,
            scope=scopes.get(index, ""),
            kept=kept.get(index, ()),
            cache_line=buffer.cache_line,
            overlaps=shared.get(index, ()),
            row=analysis.row_numbers.get(index),
        )
        rows.append((place, row))
    return tuple(row for _, row in sorted(rows, key=lambda item: (item[0], item[1].name)))
