"""What all workspace pools take together, in lines for the table of the plan."""

from __future__ import annotations

from usmp_build.layout import Summary, WorkspaceRecord
from usmp_build.units import show_bytes

_OTHERS = {
    "every order": "no order and no directions make a better plan",
    "this order": "no directions are better, another order may be",
}
"""What is known of other schedules, by what is proven."""

_NO_SCHEDULE = "no order and no directions of operators need less, with the same buffers"
_NO_ORDER_OF_ROWS = "no order of rows needs less, all forward or all backward, with the same buffers"


def workspace_lines(summary: Summary, max_live: int | None) -> list[str]:
    """Say what the models would take as they are, what is possible, what the plan takes, and what cannot be saved."""
    row = summary.workspace
    several = sum(pool.is_workspace and pool.size > 0 for pool in summary.pools) > 1
    least = "of the chosen schedule" + (", with the same buffers in each pool," if several else "")
    has_rows = any(model.by_rows for model in summary.models)
    lines = (
        ("max-live", max_live, "alive together in the models as their files have them, nothing overlapping"),
        ("any schedule", row.any_schedule, _NO_ORDER_OF_ROWS if has_rows else _NO_SCHEDULE),
        ("with overlap", row.with_overlap, f"no plan {least} needs less"),
        ("achieved", row.achieved, _quality(row)),
        ("floor", row.floor, "alive when a run begins or ends: all inputs, or all outputs, and what outlives runs"),
    )
    names = max(len(name) for name, _, _ in lines)
    counts = ["-" if count is None else show_bytes(count) for _, count, _ in lines]
    widest = max(map(len, counts))
    shown = [f"{name:<{names}}  {n:>{widest}}  {text}" for (name, _, text), n in zip(lines, counts, strict=True)]
    note = ["(sums over pools, each fullest at a step of its own: a sum can be more than is alive at one, or max-live)"]
    return ["workspace of all pools, in bytes:", *shown, *(note if several else ())]


def _quality(row: WorkspaceRecord) -> str:
    """Say how good the plan is: of all schedules, of all directions in its order, or of its schedule.

    With several pools the best of all plans is not always the one that takes fewest bytes in all of them.
    """
    if row.achieved == row.any_schedule:
        return "as little as possible in any schedule"
    others = _OTHERS.get(row.proven, "another one may need less")
    if not row.gap:
        return f"as little as possible in this schedule; {others}"
    is_proven = row.proven != "nothing"
    verdict = "no plan in these pools is better, proven by search" if is_proven else "not proven to be the least"
    return f"{show_bytes(row.gap)} above that; {verdict}; of schedules, {others}"
