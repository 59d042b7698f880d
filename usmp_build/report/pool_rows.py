"""Pools as planned, what all workspace pools take together, and whether their addresses leave room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from usmp_build.errors import CheckFailed, Diagnostic, DoesNotFit, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.layout import CertificateRecord, PoolRow, StepRecord, WorkspaceRecord
from usmp_build.naming import pool_object
from usmp_build.planner.memory.bounds import Witness, pool_bounds
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.planner.memory.problem import Buffer
from usmp_build.request import Access, PoolRequest, Request
from usmp_build.search.operator_order import BestCandidate
from usmp_build.units import align_up, count_bytes

_LARGEST_ALIGNMENT = 1 << 16
"""Bytes; linkers align no section to more that is worth the gap before it."""


def pool_rows(request: Request, analysis: Analysis, plan: Plan, steps: Sequence[StepRecord]) -> tuple[PoolRow, ...]:
    """Describe the pools.  Raises DoesNotFit with every pool that runs into another one."""
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
    if meetings := tuple(_meetings(request.pools, rows)):
        raise DoesNotFit(*meetings)
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


def workspace_record(chosen: BestCandidate, pools: Sequence[PoolRow], is_best: bool) -> WorkspaceRecord:
    """Add up the workspace pools of a plan that is, or is not known to be, the best of its schedule.

    Raises CheckFailed when it takes less than was said to be needed.
    """
    workspaces = [pool for pool in pools if pool.is_workspace]
    floor = _floor(chosen.analysis)
    any_schedule = max(chosen.bound, floor)
    with_overlap = max(any_schedule, sum(pool.bound for pool in workspaces))
    achieved = sum(pool.size for pool in workspaces)
    if with_overlap > achieved:
        message = f"the plan takes {count_bytes(achieved)} of workspace, where {with_overlap:,} were said to be needed"
        raise CheckFailed(Diagnostic("P503", message, help="report this, with the manifest and its models"))
    return WorkspaceRecord(
        any_schedule=any_schedule,
        with_overlap=with_overlap,
        achieved=achieved,
        floor=floor,
        proven=_proven(chosen, is_best),
    )


def _proven(chosen: BestCandidate, is_best: bool) -> Literal["every order", "this order", "this schedule", "nothing"]:
    """Name all schedules that are proven to have no better plan."""
    if chosen.orders_are_proven:
        return "every order"
    if chosen.directions_are_proven:
        return "this order"
    return "this schedule" if is_best else "nothing"


def _floor(analysis: Analysis) -> int:
    """Return the most bytes that are alive when a run of some model begins, or when it ends.

    No operator runs then, so no kernel lets two of these buffers overlap, and no order of operators changes them.
    """
    starts = analysis.schedule.starts
    ends = {step for start, stop in pairwise(starts) for step in (start, stop - 1)}
    return max((_alive(analysis, step) for step in ends), default=0)


def _alive(analysis: Analysis, step: int) -> int:
    buffers = zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    return sum(
        buffer.size
        for buffer, intervals in buffers
        if buffer.kind is not Kind.CONSTANT and any(start <= step < stop for start, stop in intervals)
    )


def _meetings(requests: Sequence[PoolRequest], pools: Sequence[PoolRow]) -> Iterator[Diagnostic]:
    """Yield each pool that runs into another one, as far as the manifest knows their addresses."""
    pairs = zip(pools, requests, strict=True)
    fixed = [(pool.origin, pool, request) for pool, request in pairs if pool.size and pool.origin is not None]
    ranges = sorted(fixed, key=lambda item: item[0])
    for (start, lower, request), (following, upper, _) in pairwise(ranges):
        over = start + lower.size - following
        if over > 0:
            message = (
                f'pool "{lower.name}" needs {count_bytes(lower.size)} from 0x{start:08X}, and pool "{upper.name}" '
                f"is at 0x{following:08X}: {count_bytes(over)} missing"
            )
            free = align_up(start + lower.size, upper.alignment)
            smaller = f', or give "{lower.name}" size = {following - start}, so that the rest goes to other pools'
            help_ = f'move "{upper.name}" to 0x{free:08X} or beyond{smaller if following > start else ""}'
            yield Diagnostic("P361", message, request.span, help_)
