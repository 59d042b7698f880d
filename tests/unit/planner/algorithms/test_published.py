"""The published instances and variants of them: solved with little work, which is the same on every machine."""

from pathlib import Path

import pytest

from benchmarks.solver import pools
from benchmarks.solver.instances import Instance, published, tiling, variants
from benchmarks.solver.models import problem_of
from tests.support.tools import few
from usmp_build.planner import solve
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.exact.walks import Status
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.solution import Status as Known


@pytest.fixture(scope="module")
def instances(dsa_cases: list[Path]) -> dict[str, Instance]:
    return {instance.name: instance for instance in map(published, dsa_cases)}


@pytest.mark.parametrize("name", "ABCDE")
def test_they_fit_into_their_capacity(name: str, instances: dict[str, Instance]) -> None:
    assert nodes(instances[name]) < 10_000


@pytest.mark.long
@pytest.mark.parametrize("name", "ABCDE")
def test_variants_of_them_fit_as_well(name: str, instances: dict[str, Instance]) -> None:
    assert max(map(nodes, variants(instances[name]))) < 100_000


@pytest.mark.parametrize("seed", few(range(1, 7), 1))
def test_a_rectangle_that_was_cut_up_is_put_together(seed: int) -> None:
    assert nodes(tiling(400, seed)) < 200_000


@pytest.mark.parametrize("name", "ABCE")
def test_their_least_capacity_is_proven(name: str, instances: dict[str, Instance]) -> None:
    solution = solve(instances[name].problem)
    assert (solution.status, solution.peaks) == (Known.OPTIMAL, (instances[name].max_load,))
    assert solution.witnesses[0].bytes == instances[name].max_load


@pytest.mark.slow
@pytest.mark.parametrize("backwards", few([True, False], 1))
def test_a_feasible_capacity_is_reached_without_being_given(backwards: bool, dsa_cases: list[Path]) -> None:
    """I, and I with time reversed, which takes another course."""
    path = dsa_cases[0].parent / "more" / "I.1048576.csv"
    if not path.is_file():
        pytest.skip(f"no {path.name} beside the other instances")
    base = published(path)
    instance = next(variants(base)) if backwards else base
    asked = solve(instance.problem, capacity=instance.capacity)
    assert (asked.status, asked.peaks) == (Known.OPTIMAL, (instance.max_load,))
    if not backwards:
        assert solve(instance.problem).peaks == asked.peaks


@pytest.mark.slow
def test_the_least_capacity_that_is_not_known(instances: dict[str, Instance]) -> None:
    """D has 986,112 bytes at one step.  Less than these is hard to find; that it does not exist nobody has proven."""
    solution = solve(instances["D"].problem, "exact", nodes=100_000)
    assert solution.status is Known.FEASIBLE
    assert solution.peaks[0] <= 1_021_000
    assert solution.bounds == (986_112,)


@pytest.mark.long
def test_the_default_gets_as_far(instances: dict[str, Instance], dsa_cases: list[Path]) -> None:
    """Without a capacity, and without an option: D, and J where it is there."""
    assert solve(instances["D"].problem).peaks[0] <= 998_400
    further = dsa_cases[0].parent / "more" / "J.1048576.csv"
    if further.is_file():
        assert solve(published(further).problem).peaks[0] <= 1_026_048


@pytest.mark.slow
@pytest.mark.parametrize("name", "ACE")
def test_a_fast_pool_of_half_the_load(name: str, instances: dict[str, Instance]) -> None:
    """Of the bytes that any plan could make useful, nearly all are."""
    figures = pools.measure(instances[name], 1, 30_000)
    assert figures.usmp < figures.ours
    assert 0.95 * figures.bound <= figures.ours <= figures.bound


@pytest.mark.parametrize("model", ["hello", "ic", "kws", "micro_speech", "vww"])
def test_real_models_need_no_search(model: str, real_models: Path) -> None:
    problem = problem_of(real_models / f"{model}.tflite")
    plan = Auto()(problem)
    assert plan is not None
    assert is_best(problem, plan)
    assert plan.work == 0


def nodes(instance: Instance) -> int:
    """Fit an instance into its capacity, and return the work that took."""
    problem = instance.problem
    strip = make_strip(problem, range(len(problem.buffers)))
    answer = Searcher(strip).fit(instance.capacity // strip.unit, 400_000)
    assert answer.status is Status.FITS
    ends = zip(answer.offsets, strip.sizes, strict=True)
    assert max(offset + size for offset, size in ends) * strip.unit <= instance.capacity
    return answer.nodes
