"""The project stays small enough to be read: a change that makes it larger says why, in `budget.toml`."""

import tomli

from tests.support.size import sizes
from tests.support.tree import ROOT

BUDGET = tomli.loads((ROOT / "tests" / "architecture" / "budget.toml").read_text("utf-8"))


def test_nothing_is_larger_than_its_budget() -> None:
    over = {name: (size, BUDGET[name]) for name, size in sizes().items() if size > BUDGET[name]}
    assert not over, "look what can go; what has to stay raises the number in budget.toml, with the reason above it"


def test_budgets_are_near_what_there_is() -> None:
    """Else something could grow unseen: lower the number when something went."""
    far = {name: (size, BUDGET[name]) for name, size in sizes().items() if size < BUDGET[name] * 0.98}
    assert not far
