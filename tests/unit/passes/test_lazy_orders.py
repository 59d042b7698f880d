"""Lazy orders with cuts: legal, no worse than layer by layer, and no longer than they must be."""

import pytest

from tests.support.road import request
from tests.support.row_nets import all_rows, drawn
from usmp_build import effort, plugins
from usmp_build.ir.choices import Choices
from usmp_build.passes.order import model_orders
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.lazy import JobStretch, Lazy
from usmp_build.passes.order.states import Job, Jobs, JobStep, States
from usmp_build.search.replanner import Replanner


def chain(*lengths: int) -> tuple[Jobs, list[int]]:
    """Operators in a chain on rows of one byte; each row is computed from those with its number and the next."""
    first = [sum(lengths[:n]) for n in range(len(lengths))]
    jobs, operators = [], []
    for operator, length in enumerate(lengths):
        for row in range(length):
            read = [first[operator - 1] + r for r in (row, row + 1) if operator and r < lengths[operator - 1]]
            needs, result = sum(1 << each for each in read), 1 << len(jobs)
            in_turn = result >> 1 if row else 0
            jobs.append(Job(needs | in_turn, needs, result, (JobStep(needs | result),)))
            operators.append(operator)
    last = sum(1 << n for n, operator in enumerate(operators) if operator == len(lengths) - 1)
    return Jobs(tuple(jobs), (1,) * len(jobs), 0, last), operators


def test_each_row_is_computed_when_it_is_needed() -> None:
    """Two rows of the first tensor and two of the second one, until the last tensor grows."""
    jobs, operators = chain(4, 3, 1)
    order = Lazy(jobs, operators).lowest()
    assert [operators[job] for job in order] == [0, 0, 1, 0, 1, 2, 0, 1]
    assert States(jobs).along(order).peak == 4


@pytest.mark.parametrize(
    ("below", "stretches"),
    [(99, [1, 1, 1]), (6, [1, 1, 1]), (5, [8]), (4, [])],
)
def test_as_few_steps_as_the_limit_allows(below: int, stretches: list[int]) -> None:
    jobs, operators = chain(4, 3, 1)
    shortest = Lazy(jobs, operators).shortest(below)
    assert [each.steps for each in shortest] == stretches


@pytest.mark.parametrize("seed", range(8))
def test_in_random_nets(seed: int) -> None:
    """Each job comes after its predecessors; a limit that can be kept is kept."""
    model = plugins.importer("net.tflite", "")(drawn(seed), "net", "net")
    replanner = Replanner.of(request("net"), (model,))
    first = replanner.analyze()
    analysis = replanner.retime(first, Choices({}, {}, all_rows(replanner, first)))
    jobs, operators = jobs_of(analysis, 0)
    lazy, states = Lazy(jobs, operators), States(jobs)
    peak = states.along(lazy.lowest()).peak
    shortest = lazy.shortest(peak + 1)
    order = [job for stretch in shortest for job in stretch.jobs]
    assert sorted(order) == list(range(len(operators)))
    assert all(jobs.jobs[job].predecessors & ~sum(1 << b for b in order[:at]) == 0 for at, job in enumerate(order))
    assert states.along(order).peak == peak <= states.along(range(len(operators))).peak
    assert lazy.shortest(peak) == ()
    (orders,) = model_orders(replanner.request, analysis)
    assert orders is not None
    assert orders.best_peak <= peak


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no work left for longer ones, each operator is a stretch of its own."""
    monkeypatch.setattr(effort, "LAZY_STEPS", 0)
    jobs, operators = chain(4, 3, 1)
    assert Lazy(jobs, operators).shortest(99) == (
        JobStretch(range(1), (0, 1, 2, 3)),
        JobStretch(range(1, 2), (4, 5, 6)),
        JobStretch(range(2, 3), (7,)),
    )
