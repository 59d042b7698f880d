"""Request + Analysis + Plan → Summary: what a plan says to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import usmp_build
from usmp_build.arrange.function_names import function_names
from usmp_build.arrange.ports import ports
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel, Traffic
from usmp_build.ir.graph import operator_at
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.layout import BufferRow, ModelRow, PoolRow, Summary, TrafficRow
from usmp_build.memory.best import is_best
from usmp_build.memory.bounds import pool_bounds
from usmp_build.memory.plan import Plan, peaks
from usmp_build.memory.problem import Buffer
from usmp_build.request import Access, InputOutput, PoolRequest, Request

_LARGEST_ALIGNMENT = 1 << 16
"""Bytes; linkers align no section to more that is worth the gap before it."""


def summarize(request: Request, analysis: Analysis, plan: Plan, alone: tuple[int, ...]) -> Summary:
    """Gather the facts of a plan; `alone[m]` are the bytes of workspace that model m needs by itself."""
    timeline = tuple(step.name for step in steps(analysis.schedule.root))
    moved = [analysis.moved_by(model) for model in range(len(request.models))]
    pools = _pools(request, analysis, plan, timeline)
    buffers = _buffers(request, analysis, plan, moved)
    models = []
    for model in range(len(request.models)):
        traffic = _traffic(request, plan, moved[model])
        models.append(_model(request, analysis, buffers, pools, model, alone[model], traffic))
    return Summary(
        project=request.project,
        macro=request.project.upper(),
        version=usmp_build.__version__,
        manifest=request.manifest,
        algorithm=plan.algorithm,
        optimal=all(pool.gap == 0 for pool in pools),
        best=is_best(analysis.problem, plan),
        work=plan.work,
        pools=pools,
        buffers=buffers,
        steps=timeline,
        models=tuple(models),
    )


def _pools(request: Request, analysis: Analysis, plan: Plan, timeline: tuple[str, ...]) -> tuple[PoolRow, ...]:
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
                bound=max(witness.bytes, claims[index]),
                claim=claims[index],
                alignment=_base_alignment(pool, members),
                section=pool.section,
                region=pool.region,
                load_region=pool.load_region,
                origin=pool.origin,
                symbol=f"{request.project}_{pool.name}_pool",
                macro=f"{request.project}_{pool.name}".upper(),
                peak_step=timeline[witness.step] if witness.step is not None and timeline else "",
                peak_bytes=witness.bytes,
                peak_buffers=tuple(analysis.problem.buffers[b].name for b in witness.buffers),
            )
        )
    return tuple(rows)


def _base_alignment(pool: PoolRequest, members: Sequence[Buffer]) -> int:
    """Return what the pool's base is aligned to, so that offsets align its buffers: a power of two, at most 64 KiB.

    Offsets may be multiples of a page, which is no power of two; addresses then are multiples of its largest one.
    Raises ManifestError when the pool's address, as far as the manifest knows it, is none.
    """
    alignment = max([pool.alignment, *(min(b.alignment & -b.alignment, _LARGEST_ALIGNMENT) for b in members)])
    if pool.origin is not None and pool.origin % alignment:
        message = f'pool "{pool.name}" is at 0x{pool.origin:X}, and its buffers need a multiple of {alignment:,}'
        hint = "correct `origin`, or demand a smaller alignment in the rules of targets, or smaller pages"
        raise ManifestError(Diagnostic("P307", message, pool.span, hint))
    return alignment


def _buffers(
    request: Request, analysis: Analysis, plan: Plan, moved: Sequence[Mapping[int, Traffic]]
) -> tuple[BufferRow, ...]:
    """By pool, then offset, then name; `moved[m]` is what model m moves to and from each buffer."""
    rows = []
    scopes: dict[int, str] = {}
    for ref, buffer_of in analysis.storage.tensors.items():
        scopes.setdefault(buffer_of, analysis.scopes.reasons.get(ref, ""))
    facts = zip(analysis.storage.buffers, analysis.lifetimes.intervals, plan.allocations, strict=True)
    for index, (buffer, intervals, place) in enumerate(facts):
        traffic = sum((moved[model].get(index, Traffic()) for model in buffer.models), Traffic())
        row = BufferRow(
            name=buffer.name,
            kind=buffer.kind.value,
            models=tuple(request.models[m].name for m in buffer.models),
            pool=request.pools[place.pool].name,
            offset=place.offset,
            size=buffer.size,
            alignment=buffer.alignment,
            intervals=tuple((i.start, i.stop) for i in intervals),
            read=traffic.read,
            written=traffic.written,
            reason=buffer.reason,
            scope=scopes.get(index, ""),
        )
        rows.append((place, row))
    return tuple(row for _, row in sorted(rows, key=lambda item: (item[0], item[1].name)))


def _traffic(request: Request, plan: Plan, moved: Mapping[int, Traffic]) -> tuple[TrafficRow, ...]:
    """What one run of a model moves to and from each pool that it touches."""
    totals = [Traffic()] * len(request.pools)
    for buffer, traffic in moved.items():
        totals[plan.allocations[buffer].pool] += traffic
    rows = zip(request.pools, totals, strict=True)
    return tuple(TrafficRow(pool.name, total.read, total.written) for pool, total in rows if total != Traffic())


def _model(
    request: Request,
    analysis: Analysis,
    buffers: tuple[BufferRow, ...],
    pools: tuple[PoolRow, ...],
    m: int,
    alone: int,
    traffic: tuple[TrafficRow, ...],
) -> ModelRow:
    name = request.models[m].name
    inputs, outputs = ports(request.models[m], analysis.models[m], tuple(pool.name for pool in pools))
    mine = [row for row in buffers if name in row.models]
    used = {row.pool for row in mine if row.size}
    missing = [
        f"{op.kind} {op.position}: {kernel.reason}"
        for ref, kernel in analysis.kernels.items()
        if ref.model == m and isinstance(kernel, NoKernel)
        for op in [operator_at(analysis.models, ref)]
    ]
    return ModelRow(
        name=name,
        macro=name.upper(),
        workspace=alone,
        shared=_shared(buffers, name),
        constants=sum(row.size for row in mine if row.kind == Kind.CONSTANT.value),
        pools=tuple((p, _extent(mine, p)) for p in pools if p.name in used),
        traffic=traffic,
        without_kernel=tuple(missing),
        extern_functions=_extern_functions(request, analysis, m),
        on_demand=_on_demand(analysis, m),
        declared_in=f"{name}.h" if analysis.models[m].is_program else f"{request.project}_kernels.h",
        application_io=request.models[m].io is InputOutput.APPLICATION,
        inputs=tuple(inputs.values()),
        outputs=tuple(outputs.values()),
    )


def _extern_functions(request: Request, analysis: Analysis, m: int) -> tuple[str, ...]:
    if analysis.models[m].is_program:
        functions = function_names(analysis.models[m]).values()
        return tuple(sorted(f"{request.models[m].name}_{function}" for function in functions))
    kernels = (kernel for ref, kernel in analysis.kernels.items() if ref.model == m and isinstance(kernel, Kernel))
    names = {call.function for kernel in kernels for call in kernel.calls if call.prototype}
    return tuple(f"{request.project.lower()}_{name}" for name in sorted(names))


def _on_demand(analysis: Analysis, m: int) -> tuple[str, ...]:
    graphs = analysis.models[m].subgraphs
    mine = (ref for ref in analysis.storage.on_demand if ref.model == m)
    return tuple(f"{graphs[ref.subgraph].name}.{graphs[ref.subgraph].tensors[ref.tensor].name}" for ref in mine)


def _extent(rows: list[BufferRow], pool: PoolRow) -> int:
    """Up to where these buffers fill a workspace pool; the bytes of the constants in a constant pool."""
    mine = [row for row in rows if row.pool == pool.name]
    if pool.access == Access.CONSTANT.value:
        return sum(row.size for row in mine)
    return max((row.offset + row.size for row in mine), default=0)


def _shared(buffers: tuple[BufferRow, ...], model: str) -> int:
    """Count the bytes of workspace that lie under buffers of this model and of others; sweep over where they end."""
    edges: list[tuple[str, int, bool, int]] = []
    for row in buffers:
        if row.kind != Kind.CONSTANT.value and row.size:
            mine = model in row.models
            edges += [(row.pool, row.offset, mine, 1), (row.pool, row.offset + row.size, mine, -1)]
    edges.sort()
    covering = {True: 0, False: 0}
    total = previous = 0
    for _, offset, mine, change in edges:
        if covering[True] and covering[False]:
            total += offset - previous
        covering[mine] += change
        previous = offset
    return total
