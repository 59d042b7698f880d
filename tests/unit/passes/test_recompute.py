"""Orders in which rows are computed again: every job occurs, before what reads its rows, in the work allowed."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.support.large_nets import mobilenet_v2
from tests.support.road import request
from tests.support.row_nets import all_rows, drawn
from usmp_build import plugins
from usmp_build.ir.choices import Choices
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.demand import OrderMaker
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.recompute import RepeatableRows, recomputable_rows, recomputed_order
from usmp_build.passes.order.states import Jobs
from usmp_build.search.replanner import Replanner


def given(file: bytes) -> tuple[Jobs, RepeatableRows]:
    """Return the jobs of a model, row by row, and the rows that may be computed again."""
    asked = replace(request("net"), rows=True)
    replanner = Replanner.of(asked, (plugins.importer("net.tflite", "")(file, "net", "net"),))
    analysis = replanner.analyze()
    in_rows = replanner.retime(analysis, Choices(by_rows=all_rows(replanner, analysis)))
    jobs, operators = jobs_of(in_rows, 0)
    return jobs, recomputable_rows(in_rows, 0, jobs, operators)


def check(jobs: Jobs, rows: RepeatableRows, order: tuple[int, ...]) -> None:
    """Each job finds what it needs; those that compute no such row occur once, and all others at least once."""
    written = jobs.before
    for number in order:
        assert not jobs.jobs[number].needs & ~written
        written |= jobs.jobs[number].writes
    counts = Counter(order)
    assert counts.keys() == set(range(len(jobs.jobs)))
    again = set(rows.writers.values())
    assert all(count == 1 for number, count in counts.items() if number not in again)


@pytest.mark.parametrize("seed", range(12))
def test_any_rows_may_be_dropped(seed: int) -> None:
    jobs, rows = given(drawn(seed))
    demand, r = OrderMaker(jobs, rows.tensors, rows.writers), Random(seed)
    once = demand.order({}, ())
    assert once is not None
    assert sorted(once) == list(range(len(jobs.jobs)))
    for _ in range(4):
        kept = {tensor: r.randint(0, 3) for tensor in rows.tensors if r.random() < 0.6}
        order = demand.order(kept, [tensor for tensor in rows.tensors if r.random() < 0.2])
        if order is not None:
            check(jobs, rows, order)


def test_the_work_is_within_the_limit() -> None:
    jobs, rows = given(mobilenet_v2(24, 0.35, stages=2))
    assert any(len([*members_of(job.needs)]) == 3 for job in jobs.jobs)
    for most in (100, 110, 140):
        limit = sum(rows.work) * most // 100
        order = recomputed_order(jobs, rows, limit)
        assert order is not None
        check(jobs, rows, order.order)
        assert sum(rows.work[number] for number in order.order) == order.work <= limit
