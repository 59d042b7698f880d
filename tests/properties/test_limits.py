"""What was planned once is planned again, when each pool is as large as that plan needs it, or only one of them.

And rows make use of a fast pool that is too small for whole tensors.
"""

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.firmwares import Firmware, firmware
from tests.support.shared_cases import FOLDER
from tests.support.tools import few
from usmp_build import pipeline, plugins
from usmp_build.files import DiskFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve
from usmp_build.pipeline import Planned
from usmp_build.planner.memory.plan import quality
from usmp_build.request import Request
from usmp_build.search import limits as limits_module
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner

COUNT = int(os.environ.get("USMP_CASES", "60")) // 2


def plan(drawn: Firmware, folder: Path, limits: dict[str, int], rows: bool | None = None) -> Planned:
    """Plan within limits, with rows or without; None: as the manifest says."""
    files = DiskFiles(folder)
    request = pipeline.read(drawn.written(folder, limits).name, files)
    return pipeline.plan(request if rows is None else replace(request, rows=rows), files)


def sizes(planned: Planned) -> dict[str, int]:
    """Return the bytes of the pools that are not empty."""
    return {pool.name: pool.size for pool in planned.summary.pools if pool.size}


def rank(planned: Planned) -> tuple[Fraction, ...]:
    """Return what ranks a plan, with the cost in a unit that does not depend on the plan."""
    cost, *peaks = quality(planned.analysis.problem, planned.plan)
    return (planned.analysis.costs.of(cost), *map(Fraction, peaks))


@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", few(range(COUNT), 6))
def test_a_plan_fits_into_its_own_sizes(seed: int, tmp_path: Path) -> None:
    drawn = firmware(seed)
    free = plan(drawn, tmp_path, {})
    planned = sizes(free)
    for limits in (planned, *({name: size} for name, size in planned.items() if len(planned) > 1)):
        limited = plan(drawn, tmp_path, limits)
        again = sizes(limited)
        assert all(again[name] <= size for name, size in limits.items() if name in again)
        assert rank(limited)[0] <= rank(free)[0]


@pytest.mark.slow
def test_a_limit_of_its_own_size_changes_no_plan() -> None:
    """Within it, a split that copies costs more and takes less: neither is better in all respects."""
    folder = FOLDER.parent / "faults" / "15-limit-worse"
    if not folder.is_dir():
        pytest.skip(f"no cases in {folder}; set USMP_PROBLEMS")
    free, limited = (
        pipeline.plan(pipeline.read(name, files), files)
        for files in [DiskFiles(folder)]
        for name in ("usmp.toml", "lim.toml")
    )
    assert (sizes(limited), rank(limited)) == (sizes(free), rank(free))


@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", few([65, 71, 5, 11, 14, 20, 35, 41, 68, 74], 2))
def test_rows_are_better_where_the_fast_pool_is_small(seed: int, tmp_path: Path) -> None:
    """It has two thirds of what whole layers fill of it; in most of these firmwares, rows of a tensor are in both."""
    drawn = firmware(seed)
    limits = {"w0": max(16, 2 * sizes(plan(drawn, tmp_path, {}, rows=False))["w0"] // 3)}
    whole, rows = plan(drawn, tmp_path, limits, rows=False), plan(drawn, tmp_path, limits)
    assert rank(rows) < rank(whole)
    again = sizes(plan(drawn, tmp_path, sizes(rows)))
    assert all(again[name] <= size for name, size in sizes(rows).items() if name in again)


@pytest.mark.parametrize(("size", "is_hopeless"), [(40, True), (2_000, False)])
def test_nothing_is_searched_within_limits_that_an_input_exceeds(
    size: int, is_hopeless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what the message needs is planned then: a plan without limits."""
    asked: list[Request] = []

    def noticed(replanner: Replanner, *first: Analysis) -> BestCandidate:
        asked.append(replanner.request)
        return choose(replanner, *first)

    monkeypatch.setattr(limits_module, "choose", noticed)
    text = f'[project]\nname = "p"\n[pools.ram]\naccess = "rw"\nsize = {size}\n[pools.flash]\naccess = "ro"\n'
    text += '[models.digits]\npath = "digits.tflite"\n'
    request = resolve(load(text.encode(), "usmp.toml"))
    files = DiskFiles(DATA)
    replanner = Replanner.of(request, tuple(plugins.import_model(model, files) for model in request.models))
    fitted = limits_module.fit(replanner)
    assert (fitted.chosen.plan is None) is is_hopeless
    assert [any(pool.limit for pool in each.pools) for each in asked] == ([False] if is_hopeless else [True])
