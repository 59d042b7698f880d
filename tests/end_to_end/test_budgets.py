"""Budgets: warnings of `plan`, `generate`, `diff` and `report`, and a refusal only where that is asked for."""

import json
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, RO, RW, call, manifest, planned, says, tables
from tests.support.report_pages import texts, tree

OF_POOL, OF_MODEL = (
    "pool sram is 59 bytes over its budget of 700",
    "model digits alone is 9 bytes over its budget of 750",
)


@pytest.fixture
def usmp(tmp_path: Path) -> Path:
    pools = {"sram": RW + 'size = "1 KiB"\nbudget = "700 B"\n', "flash": RO}
    return manifest(tmp_path, tables("doorbell", pools, {"digits": DIGITS + 'budget = "750 B"\n'}))


def test_plan_warns_and_fails_only_where_asked(usmp: Path) -> None:
    done = call("plan", usmp)
    assert done.code == 0
    assert f"\nwarning: {OF_POOL}\nwarning: {OF_MODEL}\n" in done.out
    done = call("plan", usmp, "--fail-over-budget", "--isa", "portable")
    assert done.code == 4
    assert done.err == f"usmp.toml: error[U248]: {OF_POOL}\nusmp.toml: error[U248]: {OF_MODEL}\n"


def test_a_budget_that_suffices_is_no_matter(tmp_path: Path) -> None:
    pools = {"sram": RW + 'budget = "759 B"\n', "flash": RO}
    usmp = manifest(tmp_path, tables("doorbell", pools, {"digits": DIGITS + 'budget = "759 B"\n'}))
    done = call("plan", usmp, "--fail-over-budget")
    assert done.code == 0
    assert "budget" not in done.out + done.err


def test_generate_warns_of_pools_and_plan_json_has_budgets(usmp: Path, tmp_path: Path) -> None:
    done = call("generate", usmp, "--out", tmp_path / "generated", "--isa", "portable")
    assert done.code == 0
    assert done.err == f"warning: {OF_POOL}\n"
    assert call("generate", usmp, "--out", tmp_path / "generated", "--quiet").err == ""
    plan = json.loads((tmp_path / "generated" / "plan.json").read_text(encoding="utf-8"))
    assert [pool["budget"] for pool in plan["pools"]] == [700, None]
    assert plan["models"][0]["budget"] == 750
    out = call("diff", tmp_path / "generated", tmp_path / "generated", "--format", "markdown").out
    assert f"**Warning:** {OF_POOL}." in out
    assert f"warning: {OF_POOL}\n" in call("diff", tmp_path / "generated", tmp_path / "generated").out


def test_plans_from_before_budgets_are_read(usmp: Path, tmp_path: Path) -> None:
    plan = planned(usmp)
    for each in (*plan["pools"], *plan["models"]):
        del each["budget"]
    (tmp_path / "old.json").write_text(json.dumps(plan), encoding="utf-8")
    assert call("diff", tmp_path / "old.json", tmp_path / "old.json").code == 0


def test_the_report_warns_and_draws_the_line(usmp: Path, tmp_path: Path) -> None:
    assert call("report", usmp, "--out", tmp_path / "report.html").code == 0
    root = tree((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert f"Warning: {OF_POOL}." in texts(root)
    assert f"Warning: {OF_MODEL}." in texts(root)
    heights = {
        kind: float(next(line for line in root.iter("line") if line.get("class") == kind).get("y1", ""))
        for kind in ("budget", "used", "limit")
    }
    assert heights["limit"] < heights["used"] < heights["budget"]


def test_a_budget_above_the_limit_is_refused(tmp_path: Path) -> None:
    pools = {"sram": RW + 'size = "1 KiB"\nreserve = 24\nbudget = 1001\n'}
    done = call("plan", manifest(tmp_path, tables("doorbell", pools, {"digits": DIGITS})))
    says(done, 1, ':7:10: error[M112]: pool "sram" has a budget of 1,001 bytes, but only 1,000 to use')
