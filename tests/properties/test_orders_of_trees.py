"""The search for an order where it is cut short: trees, whose best order is known, and graphs that open and close."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.passes.order.branches import branch_by_branch
from usmp_build.passes.order.search import best_order
from usmp_build.passes.order.states import Job, Jobs, JobStep, States

Tree = tuple[tuple[int, tuple[int, ...]], ...]
"""Of each node the bytes that it makes, and those whose results it reads; the last is the root."""

sizes = st.integers(1, 99)


def job(reads: Sequence[int], after: Sequence[int], writes: int) -> Job:
    needs = sum(1 << buffer for buffer in reads)
    return Job(sum(1 << each for each in after), needs, 1 << writes, (JobStep(needs | 1 << writes),))


@st.composite
def trees(draw: st.DrawFn, nodes: int) -> Tree:
    """Nodes stand level by level, so the order of the file is a poor one."""
    count = draw(st.integers(8, nodes))
    parents = [draw(st.integers(number + 1, min(count - 1, number + 6))) for number in range(count - 1)]
    return tuple(
        (draw(sizes), tuple(child for child, parent in enumerate(parents) if parent == number))
        for number in range(count)
    )


def jobs_of(tree: Tree) -> Jobs:
    every = tuple(job(reads, reads, number) for number, (_, reads) in enumerate(tree))
    return Jobs(every, tuple(size for size, _ in tree), 0, 1 << len(tree) - 1)


def cut(profile: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cut (bytes while a node runs, bytes behind it) at the least behind the most, again and again: Liu's segments."""
    segments = []
    while profile:
        top = max(range(len(profile)), key=lambda at: (profile[at][0], at))
        low = min(range(top, len(profile)), key=lambda at: (profile[at][1], -at))
        segments.append((profile[top][0], profile[low][1]))
        profile = profile[low + 1 :]
    return segments


def liu(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the segments of the best order of a tree."""
    size, children = tree[node]
    rises = []
    for child in children:
        base = 0
        for hill, valley in liu(tree, child):
            rises.append((hill - base, valley - base))
            base = valley
    base, profile = 0, []
    for hill, valley in sorted(rises, key=lambda rise: rise[1] - rise[0]):
        profile.append((base + hill, base + valley))
        base += valley
    return cut([*profile, (base + size, size)])


@settings(max_examples=100)
@given(trees(nodes=60))
def test_for_trees_branch_by_branch_is_the_best_order(tree: Tree) -> None:
    jobs = jobs_of(tree)
    order = next(branch_by_branch(jobs))
    assert States(jobs).along(order).peak == liu(tree, len(tree) - 1)[0][0]


@settings(max_examples=40)
@given(trees(nodes=14))
def test_a_search_cut_short_finds_the_best_order_of_a_tree(tree: Tree) -> None:
    order = best_order(jobs_of(tree), states=0, beam=1)
    assert order.peak == liu(tree, len(tree) - 1)[0][0]
    assert order.bound <= order.peak


@settings(max_examples=40)
@given(trees(nodes=14))
def test_and_of_one_that_opens(tree: Tree) -> None:
    """Backward in time it is the same tree."""
    last = len(tree) - 1
    reader = {child: number for number, (_, children) in enumerate(tree) for child in children}
    sources = ([last - reader[node]] if node in reader else [] for node in reversed(range(len(tree))))
    every = [job([number], after, len(tree) + number) for number, after in enumerate(sources)]
    written = [sum(1 << last - child for child in children) for _, children in reversed(tree)]
    opening = tuple(
        Job(each.predecessors, each.needs, out, (JobStep(each.needs | out),))
        for each, out in zip(every, written, strict=True)
    )
    jobs = Jobs(opening, tuple(size for size, _ in reversed(tree)), 1, 0)
    assert best_order(jobs, states=0, beam=1).peak == liu(tree, last)[0][0]


@st.composite
def series_parallel(draw: st.DrawFn) -> Jobs:
    """Branches that part and meet again, one after the other and one in the other, at most 16 jobs."""
    bytes_of = [draw(sizes)]
    jobs: list[Job] = []

    def add_job(reads: list[int]) -> int:
        bytes_of.append(draw(sizes))
        jobs.append(job(reads, [buffer - 1 for buffer in reads if buffer], len(bytes_of) - 1))
        return len(bytes_of) - 1

    def built(source: int, left: int) -> int:
        if left < 3:
            return add_job([source])
        if draw(st.booleans()):
            return built(built(source, left // 2), left - left // 2)
        width = draw(st.integers(2, 3))
        return add_job([built(source, left // width) for _ in range(width)])

    built(0, 10)
    return Jobs(tuple(jobs), tuple(bytes_of), 1, 1 << len(jobs))


@settings(max_examples=60)
@given(series_parallel())
def test_what_is_cut_short_is_near_the_best_where_branches_part_and_meet(jobs: Jobs) -> None:
    best = best_order(jobs, states=1_000_000)
    order = best_order(jobs, states=0, beam=1)
    assert best.is_best
    assert order.bound <= best.peak <= order.peak <= best.peak * 1.02
