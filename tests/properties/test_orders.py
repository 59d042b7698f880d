"""The search for an order against all orders there are, on small random graphs."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.passes.effects import members_of
from usmp_build.passes.order import orders_below
from usmp_build.passes.order.search import best_order
from usmp_build.passes.order.states import Job, Jobs, JobStep, States
from usmp_build.passes.order.together import Near


def closeness(written: int, read: int) -> st.SearchStrategy[tuple[int, int]]:
    """How far the read buffer starts behind the written one where it is above it, and the other way round."""
    return st.tuples(st.integers(0, written), st.integers(0, read))


@st.composite
def graphs(draw: st.DrawFn) -> Jobs:
    """Job i writes buffer i + 1 and reads some of those before it; buffer 0 is the input, some are outputs."""
    count = draw(st.integers(1, 5))
    sizes = tuple(draw(st.lists(st.integers(1, 9), min_size=count + 1, max_size=count + 1)))
    jobs = []
    for number in range(count):
        needs = draw(st.integers(1, (1 << (number + 1)) - 1))
        touches = needs | 1 << (number + 1)
        inputs = list(members_of(needs))
        ways = draw(st.lists(st.tuples(*(closeness(sizes[number + 1], sizes[a]) for a in inputs)), max_size=2))
        named = tuple({(number + 1, a): near for a, near in zip(inputs, way, strict=True)} for way in ways)
        jobs.append(Job(needs >> 1, needs, 1 << (number + 1), (JobStep(touches, named),)))
    behind = draw(st.integers(0, (1 << (count + 1)) - 1)) | 1 << count
    return Jobs(tuple(jobs), sizes, 1, behind)


def extent(sizes: dict[int, int], near: Near) -> int:
    """Return the bytes that buffers take in the best of all orders from below; pairs that no order binds are free."""
    apart = {pair: sizes[pair[0]] for pair in permutations(sizes, 2)}
    for (written, read), (above, below) in near.items():
        apart |= {(written, read): above, (read, written): below}
    bound = {(a, b): n for (a, b), n in apart.items() if n + apart[b, a] > 0}
    ends = []
    for order in permutations(sizes):
        starts: dict[int, int] = {}
        for b in order:
            starts[b] = max([0, *(starts[a] + bound.get((a, b), -starts[a]) for a in starts)])
        ends.append(max(starts[b] + sizes[b] for b in order))
    return min(ends)


def peak(jobs: Jobs, order: tuple[int, ...]) -> int | None:
    """Walk an order the slow way; None for one that the jobs do not allow."""
    last = {
        b: max((t for t, j in enumerate(order) if jobs.jobs[j].needs >> b & 1), default=-1)
        for b in range(len(jobs.sizes))
    }
    born = {0: -1} | {next(members_of(jobs.jobs[j].writes)): t for t, j in enumerate(order)}
    if any(jobs.jobs[j].predecessors & ~sum(1 << o for o in order[:t]) for t, j in enumerate(order)):
        return None
    last |= {b: len(order) for b in members_of(jobs.after)}
    most = jobs.sizes[0] if last[0] >= 0 else 0
    for t, number in enumerate(order):
        job = jobs.jobs[number]
        alive = [b for b, start in born.items() if start <= t <= last[b] or start == t]
        dying = {b for b in alive if last[b] == t and born[b] < t}
        new = {b for b in alive if born[b] == t}
        ways = [{p: n for p, n in way.items() if p[0] in new and p[1] in dying} for way in job.steps[0].near]
        together = min(extent({b: jobs.sizes[b] for b in alive}, way) for way in [*ways, {}])
        left = sum(jobs.sizes[b] for b in alive if last[b] > t)
        most = max(most, together, left)
    return most


@settings(max_examples=60)
@given(graphs())
def test_the_order_is_the_best_of_all(jobs: Jobs) -> None:
    best = best_order(jobs)
    every = {order: peak(jobs, order) for order in permutations(range(len(jobs.jobs)))}
    least = min(value for value in every.values() if value is not None)
    assert every[best.order] == best.peak == best.bound == least
    in_file = tuple(range(len(jobs.jobs)))
    assert best.order == in_file or best.peak < (every[in_file] or 0)


@settings(max_examples=60)
@given(graphs())
def test_a_search_cut_short_returns_a_sound_order(jobs: Jobs) -> None:
    """Only one set of each size is pursued, and what is said of all orders is still true."""
    every = {order: peak(jobs, order) for order in permutations(range(len(jobs.jobs)))}
    best = best_order(jobs, states=0, beam=1)
    in_file = every[tuple(range(len(jobs.jobs)))]
    assert in_file is not None
    assert every[best.order] == best.peak <= in_file
    assert best.bound <= min(value for value in every.values() if value is not None)


@settings(max_examples=60)
@given(graphs(), st.integers(0, 12), st.integers(0, 30))
def test_orders_below_a_limit_are_all_of_them_the_best_first(jobs: Jobs, more: int, most: int) -> None:
    every = {order: peak(jobs, order) for order in permutations(range(len(jobs.jobs)))}
    peaks = sorted(value for value in every.values() if value is not None)
    limit = peaks[0] + more
    expected = [value for value in peaks if value < limit]
    orders = orders_below(jobs, limit, most)
    assert [each.peak for each in orders.orders] == [every[each.order] for each in orders.orders] == expected[:most]
    assert len({each.order for each in orders.orders}) == len(orders.orders)
    assert orders.are_all == (most >= len(expected))


def test_no_orders_are_listed_where_too_many_sets_lead_to_them() -> None:
    jobs = Jobs((Job(0, 1, 2, (JobStep(3),)), Job(0, 1, 4, (JobStep(5),))), (1, 1, 1), 1, 6)
    assert len(orders_below(jobs, 9, 8).orders) == 2
    cut = orders_below(jobs, 9, 8, states=3)
    assert not cut.orders
    assert not cut.are_all


def test_what_may_be_next_is_not_looked_for_among_all_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long chain, and its input is read once more at the end: the work grows as the chain does."""
    count, asked = 500, list[int]()
    is_ready = States.is_ready

    def counted(states: States, job: int, done: int) -> bool:
        asked.append(job)
        return is_ready(states, job, done)

    reads = [1 << number | (number == count - 1) for number in range(count)]
    jobs = tuple(
        Job(1 << number >> 1, needs, 2 << number, (JobStep(needs | 2 << number),)) for number, needs in enumerate(reads)
    )
    monkeypatch.setattr(States, "is_ready", counted)
    order = best_order(Jobs(jobs, (1_000, *(100 + (number == 250) for number in range(count))), 1, 1 << count))
    assert order.order == tuple(range(count))
    assert len(asked) <= 20 * count
