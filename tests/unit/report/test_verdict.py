"""What the page says of the bound of a pool."""

from dataclasses import replace
from pathlib import Path

from tests.support.cli import DIGITS, call, manifest, tables
from usmp_build.errors import ProblemError
from usmp_build.layout import PlanRecord
from usmp_build.layout.plan_json import read_plan
from usmp_build.report.page.verdict import bound


def planned(folder: Path) -> PlanRecord:
    """Plan a model into one workspace pool."""
    text = call("plan", manifest(folder, tables("p", {}, {"digits": DIGITS})), "--json").out
    return read_plan(text.encode(), "plan.json", ProblemError, "V101", "")


def test_the_only_pool_needs_what_any_schedule_needs(tmp_path: Path) -> None:
    """That may be more than the bound of the pool, which is of this schedule's buffers."""
    plan = planned(tmp_path)
    pool = next(each for each in plan.pools if each.is_workspace)
    larger = replace(pool, size=pool.bound + 30)
    higher = replace(plan, workspace=replace(plan.workspace, any_schedule=pool.bound + 20))
    words = f"may take less, by at most 10 bytes: no schedule needs fewer than {pool.bound + 20:,} bytes."
    assert bound(higher, larger, {}).endswith(words)
    two = replace(higher, pools=(*plan.pools, replace(pool, name="other")))
    assert "may take less, by at most 30 bytes" in bound(two, larger, {})
    assert bound(plan, pool, {}).startswith("No plan that has these buffers in this pool takes less: ")
