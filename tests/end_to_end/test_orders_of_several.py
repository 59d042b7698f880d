"""Several models have another order each: one that does not help the plan does not keep the others from helping."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli import RO, RW, manifest, tables
from tests.support.small_models import FORK
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.passes.order import ModelOrders, model_orders
from usmp_build.request import Request
from usmp_build.search import operator_order

ONE_BY_ONE = (0, 2, 1, 3, 4)


def one_by_one(text: str) -> str:
    """Let the file have the better order."""
    lines = text.splitlines()
    second = next(number for number, line in enumerate(lines) if line.startswith("  %2 = "))
    lines[second : second + 2] = reversed(lines[second : second + 2])
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("count", [2, 3, 5])
def test_an_order_that_looks_better_and_is_not_spoils_no_other(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first model is made to look so; the others need 111 bytes each instead of 210.

    Of many models no order is tried alone at first; that of the file still is, beside the better ones of the others.
    """

    def searched(request: Request, analysis: Analysis) -> tuple[ModelOrders | None, ...]:
        first, *others = model_orders(request, analysis)
        assert first
        return replace(first, best=ONE_BY_ONE, bound=0), *others

    monkeypatch.setattr(operator_order, "model_orders", searched)
    names = ["first", *(f"second{number}" for number in range(1, count))]
    for name in names:
        text = one_by_one(FORK) if name == "first" else FORK
        (tmp_path / f"{name}.model.txt").write_text(text.replace('"fork"', f'"{name}"'), encoding="utf-8")
    models = {name: f'path = "{name}.model.txt"\n' for name in names}
    together = f"concurrent = {[names]}\n".replace("'", '"')
    path = manifest(tmp_path, together + tables("p", {"ram": RW, "flash": RO}, models))
    files = DiskFiles(tmp_path)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    orders = [planned.analysis.choices.order(index, model) for index, model in enumerate(planned.analysis.models)]
    assert orders == [(0, 1, 2, 3, 4), *[ONE_BY_ONE] * (count - 1)]
    assert planned.summary.workspace.achieved == count * 111


def test_what_a_model_needs_by_itself_is_known_where_only_other_orders_fit(tmp_path: Path) -> None:
    """In the order of the file there is no plan of either model."""
    for name in "ab":
        (tmp_path / f"{name}.model.txt").write_text(FORK.replace('"fork"', f'"{name}"'), encoding="utf-8")
    models = {name: f'path = "{name}.model.txt"\n' for name in "ab"}
    path = manifest(tmp_path, tables("p", {"ram": f"{RW}size = 111\n", "flash": RO}, models))
    files = DiskFiles(tmp_path)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    assert [row.workspace for row in pipeline.compare(planned).models] == [111, 111]
