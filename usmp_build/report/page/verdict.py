"""What a plan comes to, in words: what is proven, what is free, and what a change of the manifest would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.errors import one_line
from usmp_build.frozen import frozen
from usmp_build.layout import AlternativesRecord, PlanRecord, PoolRecord
from usmp_build.report.page.places import Place
from usmp_build.report.page.pool_map import percent_full, witness_step
from usmp_build.report.study import Study
from usmp_build.units import count_bytes, show_bytes


@frozen
class Card:
    """A number that the page begins with."""

    number: int
    words: str
    is_tight: bool = False
    """Whether it speaks of a pool that is nearly full."""


@frozen
class ChangeRow:
    """A change of the manifest, and what it would do."""

    what: str
    workspace: int | None
    """Bytes; None: it does not fit."""
    difference: int
    effect: str
    """In words; empty where the numbers say it."""


def proven(plan: PlanRecord) -> str:
    """Say what is proven of the workspace."""
    workspace = plan.workspace
    if workspace.achieved == workspace.any_schedule:
        return "no schedule of these buffers needs less"
    same = "of this schedule, with the same buffers in each pool,"
    if not workspace.gap:
        return f"no plan {same} needs less"
    more = f"{count_bytes(workspace.gap)} ({100 * workspace.gap / max(1, workspace.with_overlap):.1f} %)"
    return f"takes at most {more} more than the least plan {same} may take"


def instructions(plan: PlanRecord) -> str:
    """Say for which instructions the kernels were chosen, by target where there are several."""
    isas = {target.name: "portable C" if target.isa == "portable" else f"isa {target.isa}" for target in plan.targets}
    if len({*isas.values()}) < 2:
        return next(iter(isas.values()), "")
    return ", ".join(f"{isa} on {name}" for name, isa in isas.items())


def bound(plan: PlanRecord, pool: PoolRecord, places: Mapping[str, Place]) -> str:
    """Say of a workspace pool why it is not smaller."""
    is_alone = sum(each.is_workspace for each in plan.pools) == 1
    least = max(pool.bound, plan.workspace.any_schedule) if is_alone else pool.bound
    less = "No plan that has these buffers in this pool takes less"
    if pool.size > least:
        less = f"Another plan of these buffers may take less, by at most {count_bytes(pool.size - least)}"
    if least > pool.bound:
        return f"{less}: no schedule needs fewer than {count_bytes(least)}."
    if pool.certificate is None:
        return f"{less}: a search has proven it."
    step = witness_step(plan, pool, places)
    if step is None:
        return f"{less}: these need {count_bytes(pool.bound)}, as they may be alive at the same time."
    return f"{less}: in step {one_line(plan.steps[step].text)}, these need {count_bytes(pool.bound)}."


def cards(plan: PlanRecord, alternatives: AlternativesRecord | None) -> Iterator[Card]:
    """Yield the numbers that the page begins with."""
    yield Card(plan.workspace.achieved, "bytes of workspace")
    limited = [pool for pool in plan.pools if pool.is_workspace and pool.limit is not None]
    for pool in limited[:2]:
        free, limit = (pool.limit or 0) - pool.size, pool.limit or 0
        yield Card(free, f"bytes free in {pool.name}: {percent_full(pool)}", is_tight=20 * free <= limit)
    if alternatives is not None and len(plan.models) > 1:
        apart = sum(model.workspace for model in alternatives.models)
        if apart > plan.workspace.achieved:
            yield Card(apart - plan.workspace.achieved, f"saved by sharing, from {show_bytes(apart)}")
    elif alternatives is not None and alternatives.max_live is not None:
        yield Card(alternatives.max_live, "alive together in the model file")
    yield Card(sum(pool.size for pool in plan.pools if not pool.is_workspace), "bytes of constants")


def changes(plan: PlanRecord, study: Study) -> Iterator[ChangeRow]:
    """Yield what would change, those that save most first."""
    rows = []
    for change in study.changes:
        if change.workspace is None:
            rows.append(ChangeRow(change.what, None, 0, "does not fit"))
            continue
        effect = "the same plan" if change.is_same_plan else ""
        if change.cost is not None and change.cost != plan.cost.total:
            effect = f"costs {change.cost:,} in place of {plan.cost.total:,} {plan.cost.unit}"
        rows.append(ChangeRow(change.what, change.workspace, change.workspace - plan.workspace.achieved, effect))
    yield from sorted(rows, key=lambda row: (row.workspace is None, row.difference))
