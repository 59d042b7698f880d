"""The plan as a table for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.errors import one_line
from usmp_build.layout import AlternativesRecord, CostRow, LargerPoolsRecord, Summary, WorkspaceRecord
from usmp_build.manifest.defaults import IMPLICIT_POOLS
from usmp_build.report.remarks import compiler_plans, over_budget
from usmp_build.units import count_bytes, show_bytes

_SHOWN = 5
"""Most operators named in a note."""

_COUNTED = {
    "operators": "operator{}",
    "channels": "channel{}",
    "weights": "weight{}",
    "macs": "MAC{}",
    "constant_bytes": "byte{} of constants",
}
"""Fields of what a rewrite removed, in words."""

_OTHERS = {
    "every order": "no order and no directions make a better plan",
    "this order": "no directions are better, another order may be",
}
"""What is known of other schedules, by what is proven."""
_NO_SCHEDULE = "no order and no directions of operators need less, with the same buffers"
_NO_ORDER_OF_ROWS = "no order of rows needs less, all forward or all backward, with the same buffers"


def plan_table(summary: Summary, alternatives: AlternativesRecord) -> str:
    """Show pools, models, what sharing saved, and what is known of the plan."""
    pools = [
        (
            pool.name,
            pool.access,
            show_bytes(pool.size),
            show_bytes(pool.limit) if pool.limit is not None else "-",
            show_bytes(pool.bound),
            show_bytes(pool.gap),
            *map(show_bytes, summary.moved(pool.name)),
            pool.region or "-",
        )
        for pool in summary.pools
    ]
    models = [
        (model.name, show_bytes(alone.workspace), show_bytes(model.shared), show_bytes(model.constants))
        for model, alone in zip(summary.models, alternatives.models, strict=True)
    ]
    lines = [
        *columns(("pool", "access", "used", "limit", "bound", "gap", "read", "written", "region"), pools, "<<>>>>>><"),
        "(bytes; read and written are those of one run of every model)",
        "",
        *_workspace_lines(summary, alternatives.max_live),
        "",
        *columns(("model", "alone", "shared", "constants"), models, "<>>>"),
        "(bytes; alone: the workspace that it would need on its own; shared: bytes that other models use, too)",
        "",
        *_overrides(summary),
        *[f'{each.name}: kernels for isa = "{each.isa}"' for each in summary.targets if each.isa != "portable"],
        *_rewrites(summary),
        *_strips(summary),
        *_recomputed(summary),
        *_sharing(summary, alternatives),
        *_keeping(summary, alternatives),
        *compiler_plans(alternatives),
        *_constants(summary),
        *_state(summary),
        *_moves(summary),
        _proof(summary),
        *_cost_lines(summary, alternatives.larger_pools),
        *_empty(summary),
        *_declined(summary),
        *(f"warning: {sentence}" for sentence in over_budget(summary, alternatives)),
        *extern_functions(summary),
        *_on_demand(summary),
    ]
    return "\n".join(lines)


def pool_lines(summary: Summary) -> list[str]:
    """Say how full each pool is, a line each: for builds, whose output is long enough."""
    lines = []
    for pool in summary.pools:
        used = count_bytes(pool.size) if pool.limit is None else f"{show_bytes(pool.size)} of {count_bytes(pool.limit)}"
        lines.append(f"{summary.project}: {pool.name} {used}")
    return lines


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> list[str]:
    """Set rows in columns, each to the left (<) or to the right (>)."""
    table = [head, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in table
    ]


def _overrides(summary: Summary) -> list[str]:
    """List what overrides the manifest; paths, which all build systems pass, need no mention."""
    return [
        f"{model.name}: {word} = {', '.join(names)} is an override, not in the manifest"
        for model in summary.models
        for word, names in model.overrides.given.items()
        if names is not True
    ]


def _rewrites(summary: Summary) -> list[str]:
    lines = []
    for model in summary.models:
        for row in model.rewrites:
            counts = {word: getattr(row, name) for name, word in _COUNTED.items()}
            removed = _counted({word: count for word, count in counts.items() if count > 0})
            added = _counted({word: -count for word, count in counts.items() if count < 0})
            changes = [f"{verb} {what}" for verb, what in (("removes", removed), ("adds", added)) if what]
            lines.append(f"{model.name}: the rewrite {row.rewrite} {' and '.join(changes)}")
    return lines


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {word.format('' if count == 1 else 's')}" for word, count in counts.items())


def _strips(summary: Summary) -> list[str]:
    """Say which operators run once for each strip of columns."""
    stages = ((model, stage) for model in summary.models for stage in model.strips)
    return [f"{model.name}: operators {s.first} to {s.last} run in {s.strips} strips of columns" for model, s in stages]


def _recomputed(summary: Summary) -> list[str]:
    """Say what columns cost that are computed again."""
    return [
        f"{model.name}: what is computed again takes {model.recomputed_macs:,} MACs"
        f" ({100 * model.recomputed_macs / model.macs:.1f} % more)"
        for model in summary.models
        if model.recomputed_macs
    ]


def _sharing(summary: Summary, alternatives: AlternativesRecord) -> list[str]:
    apart = sum(model.workspace for model in alternatives.models)
    together = sum(pool.size for pool in summary.pools if pool.is_workspace)
    if len(summary.models) < 2:
        return []
    saved = apart - together
    text = f"workspace: {show_bytes(together)} bytes together, {show_bytes(apart)} apart"
    return [f"{text}: sharing saves {show_bytes(saved)}" if saved > 0 else text]


def _keeping(summary: Summary, alternatives: AlternativesRecord) -> list[str]:
    """Say what it costs that data outlive runs, and that models run at the same time."""
    lines = [
        f'{model.name}: {keep.key} = "{keep.value}" costs {count_bytes(keep.workspace)} of workspace'
        for model in alternatives.models
        for keep in model.keeps
        if keep.workspace is not None
    ]
    left_out = sum(keep.workspace is None for model in alternatives.models for keep in model.keeps)
    if left_out:
        lines.append(f"what {left_out} more such words cost is not worked out")
    if summary.concurrent:
        pairs = ", ".join(f"{one} and {other}" for one, other in summary.concurrent)
        cost = count_bytes(alternatives.concurrent_workspace)
        lines.append(f"models at the same time ({pairs}) cost {cost} of workspace")
    return lines


def _constants(summary: Summary) -> list[str]:
    saved = summary.repeated_constants
    once = sum(buffer.size for buffer in summary.buffers if buffer.kind == "constant")
    text = f"constants: {show_bytes(once)} bytes once, {show_bytes(once + saved)} if each tensor had its own"
    return [f"{text}: equal ones save {show_bytes(saved)}"] if saved else []


def _state(summary: Summary) -> list[str]:
    kept = (model for model in summary.models if model.state)
    return [f"state: {show_bytes(m.state)} bytes of {m.name} are kept between runs ({m.name}_reset)" for m in kept]


def _moves(summary: Summary) -> Iterator[str]:
    """Say how much is copied to make room."""
    sizes = {buffer.tensor: buffer.size for buffer in summary.buffers}
    for model in summary.models:
        moved = [sizes[step.buffer] for step in summary.steps if step.buffer and step.model == model.name]
        if moved:
            times = f"{len(moved):,} times" if len(moved) > 1 else "once"
            yield f"{model.name}: rows move {times} in a run, {count_bytes(sum(moved))}, to make room for others"


def _proof(summary: Summary) -> str:
    """Say what is proven of the plan: of any schedule only where the bytes of any schedule are its own."""
    several = sum(pool.is_workspace and pool.size > 0 for pool in summary.pools) > 1
    any_schedule = not several and summary.workspace.achieved == summary.workspace.any_schedule
    plan = "no plan of this schedule"
    if any_schedule:
        plan = "no order of rows" if any(model.by_rows for model in summary.models) else "no plan"
        plan += " with these buffers" if summary.other_buffers else ""
    if summary.is_at_bound and several:
        best, same = f"and {plan} in these pools is better", f"so {plan} with the same buffers in each needs less"
        verdict = f"every pool is at its bound, {best if summary.is_best else same}"
    elif summary.is_at_bound:
        verdict = f"every pool is at its bound, so {plan} needs less"
    elif summary.is_best:
        verdict = f"its search found that {plan} in these pools is better"
    else:
        row, same = summary.workspace, ", with the same buffers in each pool" if several else ""
        more = f"at most {count_bytes(row.gap)} ({100 * row.gap / max(1, row.with_overlap):.1f} %) more than the least"
        verdict = f"{more} of this schedule{same}" if row.gap else f"{plan}{same} needs less"
    return f"verified plan by {summary.algorithm}; {verdict}"


def _empty(summary: Summary) -> list[str]:
    """One line for each pool that the manifest declares and nothing is in."""
    why = {
        "rw": 'no tensor needs it, and weights live in pools with access "ro"',
        "ro": 'no weights need it, and tensors live in pools with access "rw"',
    }
    implicit = {(access, pool.name) for access, pool in IMPLICIT_POOLS.items()}
    empty = [pool for pool in summary.pools if not pool.size and (pool.access, pool.name) not in implicit]
    return [f'note: pool "{pool.name}" is empty: {why[pool.access]}' for pool in empty]


def extern_functions(summary: Summary) -> list[str]:
    """Say which functions the application must supply; nothing when it needs none."""
    lines = []
    for header in dict.fromkeys(model.declared_in for model in summary.models if model.extern_functions):
        models = [model for model in summary.models if model.declared_in == header]
        functions = sorted({name for model in models for name in model.extern_functions})
        lines.append(f"the application supplies these functions ({header} declares them):")
        lines += (f"  {name}" for name in functions)
    return lines


def _on_demand(summary: Summary) -> list[str]:
    """Say for what the application provides memory while models run."""
    return [
        f"{model.name}: memory on demand for {', '.join(map(one_line, model.on_demand))}"
        for model in summary.models
        if model.on_demand
    ]


def _declined(summary: Summary) -> list[str]:
    """One line for each model and reason, with the operators that have no faster kernel for it."""
    return [
        f"{model.name}: {operators}: not {reason}"
        for model in summary.models
        for reason, operators in _by_reason(model.declined)
    ]


def _by_reason(entries: Sequence[str]) -> list[tuple[str, str]]:
    """Group entries such as "CONV_2D 3: reason" by reason: return each with its operators, the first few by name."""
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        operator, _, reason = entry.partition(": ")
        reasons.setdefault(reason, []).append(operator)
    return [
        (reason, ", ".join(operators[:_SHOWN]) + (f" and {len(operators) - _SHOWN} more" if operators[_SHOWN:] else ""))
        for reason, operators in reasons.items()
    ]


def _cost_lines(summary: Summary, larger_pools: LargerPoolsRecord | None) -> list[str]:
    """Say what the plan costs and what would cost less; nothing where there was no choice to be made."""
    cost = summary.cost
    lines = []
    if cost.total or cost.bound:
        lines.append(f"cost: {_shown(cost.total, cost)} for one run of every model, {_quality(cost)}")
    if larger_pools is not None and larger_pools.pools:
        larger = " and ".join(
            f"{count_bytes(row.size)} of {row.pool} ({show_bytes(row.more)} more)" for row in larger_pools.pools
        )
        saved, moved = _shown(larger_pools.saved, cost), count_bytes(larger_pools.moved)
        line = f"in larger pools, with {larger}, every buffer is where it costs least, by {larger_pools.algorithm}: "
        lines.append(f"{line}saves {saved}, for {moved} read and written")
    if cost.by_rank:
        pools = ", ".join(cost.by_rank)
        buffers = "1 buffer" if cost.ranked_buffers == 1 else f"{cost.ranked_buffers} buffers"
        verb = "was" if cost.ranked_buffers == 1 else "were"
        placed = f"{buffers} that may be there {verb} placed by the order of pools"
        lines.append(f"note: the bandwidth of {pools} is not known: {placed}")
    return lines


def _quality(cost: CostRow) -> str:
    if cost.is_least:
        return "and no placement of this schedule in these pools costs less"
    above = cost.total - cost.bound
    if not cost.bound:
        return f"at most {_shown(above, cost)} above the least possible in this schedule"
    return f"at most {_percent(above, cost.bound)} % above the least possible in this schedule"


def _percent(part: int, whole: int) -> str:
    tenths = -(-part * 1000 // whole)
    return f"{tenths // 10:,}.{tenths % 10}"


def _shown(cost: int, row: CostRow) -> str:
    if row.unit == "nanoseconds":
        return f"{cost // 1000:,}.{cost // 100 % 10} us"
    return f"{cost:,} {row.unit}"


def _workspace_lines(summary: Summary, max_live: int | None) -> list[str]:
    """Say what the models would take as they are, what is possible, what the plan takes, and what cannot be saved."""
    row = summary.workspace
    several = sum(pool.is_workspace and pool.size > 0 for pool in summary.pools) > 1
    least = "of the chosen schedule" + (", with the same buffers in each pool," if several else "")
    has_rows = any(model.by_rows for model in summary.models)
    lines = (
        ("max-live", max_live, "alive together in the models as their files have them, nothing overlapping"),
        ("any schedule", row.any_schedule, _NO_ORDER_OF_ROWS if has_rows else _NO_SCHEDULE),
        ("with overlap", row.with_overlap, f"no plan {least} needs less"),
        ("achieved", row.achieved, _workspace_quality(row)),
        ("floor", row.floor, "alive when a run begins or ends: all inputs, or all outputs, and what outlives runs"),
    )
    names = max(len(name) for name, _, _ in lines)
    counts = ["-" if count is None else show_bytes(count) for _, count, _ in lines]
    widest = max(map(len, counts))
    shown = [f"{name:<{names}}  {n:>{widest}}  {text}" for (name, _, text), n in zip(lines, counts, strict=True)]
    note = ["(sums over pools, each fullest at a step of its own: a sum can be more than is alive at one, or max-live)"]
    return ["workspace of all pools, in bytes:", *shown, *(note if several else ())]


def _workspace_quality(row: WorkspaceRecord) -> str:
    """Say how good the plan is: of all schedules, of all directions in its order, or of its schedule.

    With several pools the best of all plans is not always the one that takes fewest bytes in all of them.
    """
    if row.achieved == row.any_schedule:
        return "as little as possible in any schedule"
    others = _OTHERS.get(row.proven, "another schedule may need less")
    if not row.gap:
        return f"as little as possible in this schedule; {others}"
    is_proven = row.proven != "nothing"
    verdict = "no plan in these pools is better, proven by search" if is_proven else "not proven to be the least"
    return f"{show_bytes(row.gap)} above that; {verdict}; {others}"
