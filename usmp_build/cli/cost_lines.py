"""What a plan costs, in lines for the table of the plan."""

from __future__ import annotations

from usmp_build.layout import CostRow, LargerPoolsRecord, Summary
from usmp_build.units import count_bytes, show_bytes


def cost_lines(summary: Summary, larger_pools: LargerPoolsRecord | None) -> list[str]:
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
    """Write a share with one decimal, rounded up."""
    tenths = -(-part * 1000 // whole)
    return f"{tenths // 10:,}.{tenths % 10}"


def _shown(cost: int, row: CostRow) -> str:
    if row.unit == "nanoseconds":
        return f"{cost // 1000:,}.{cost // 100 % 10} us"
    return f"{cost:,} {row.unit}"
