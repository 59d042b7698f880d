"""Orders jobs branch by branch: Liu's optimal order for trees, applied to graphs that are nearly trees.

A branch is a list of segments: each climbs to its *hill*, and ends in its *valley*, where the fewest bytes are alive
after the hill.  Where branches meet, their segments run by height of the hill above the valley, the highest first: so
segments that need much room have it while other branches hold little.

    bytes alive       hill
                      __/\\__        hill            segments of one branch: 5 above its valley, and 3
                     /     \\       __/\\_
                    /       \\_____/     \\____

A job with several successors belongs to the branch of the first one; if another one needs it earlier, it runs earlier.
For trees the order is optimal.  Backward in time, a tree that fans out is one that fans in, so both are tried.

Liu, J. W. H.: An application of generalized tree pebbling to sparse matrix factorization.  SIAM J. Algebraic Discrete
Methods 8 (1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from usmp_build.passes.effects import members_of
from usmp_build.passes.order.states import Jobs


class _Segment(NamedTuple):
    hill: int
    """Bytes above those alive when the segment begins."""
    valley: int
    """Bytes above those alive when the segment begins; negative if fewer."""
    jobs: tuple[int, ...]


def branch_by_branch(jobs: Jobs) -> Iterator[tuple[int, ...]]:
    """Yield one order for graphs that fan in, and one for graphs that fan out."""
    yield _fan_in_order(jobs)
    last = len(jobs.jobs) - 1
    yield tuple(last - job for job in reversed(_fan_in_order(_backward(jobs))))


def _fan_in_order(jobs: Jobs) -> tuple[int, ...]:
    """Return the order that merges branches from the leaves on; every job is the last one of its branch."""
    segments = list(_single_jobs(jobs))
    waiting: dict[int, list[_Segment]] = {}
    ends: list[_Segment] = []
    states = jobs.states
    for job, segment in enumerate(segments):
        branch = _segments([*_merged(waiting.pop(job, ())), segment])
        successors = states.successors(job)
        (waiting.setdefault(successors[0], []) if successors else ends).extend(branch)
    return _after_predecessors(jobs, [job for segment in _merged(ends) for job in segment.jobs])


def _single_jobs(jobs: Jobs) -> Iterator[_Segment]:
    states = jobs.states
    state, done = states.first, 0
    for job in range(len(jobs.jobs)):
        done |= 1 << job
        then = states.after(state._replace(peak=0), job, done)
        yield _Segment(then.peak - state.size, then.size - state.size, (job,))
        state = then


def _merged(segments: Iterable[_Segment]) -> list[_Segment]:
    """Sort the segments of several branches; those of one branch are sorted already."""
    return sorted(segments, key=lambda each: each.valley - each.hill)


def _segments(parts: list[_Segment]) -> list[_Segment]:
    """Join consecutive segments until each falls less from hill to valley than the one before."""
    joined: list[_Segment] = []
    for part in parts:
        last = part
        while joined and (_fall(joined[-1]) <= _fall(last) or (last.valley <= 0 and last.hill <= _fall(joined[-1]))):
            before = joined.pop()
            hill = max(before.hill, before.valley + last.hill)
            last = _Segment(hill, before.valley + last.valley, before.jobs + last.jobs)
        joined.append(last)
    return joined


def _fall(segment: _Segment) -> int:
    return segment.hill - segment.valley


def _after_predecessors(jobs: Jobs, preferred: list[int]) -> tuple[int, ...]:
    """Return the jobs in the preferred order as far as their predecessors allow."""
    rank = {job: number for number, job in enumerate(preferred)}
    done = 0
    order = []
    for job in preferred:
        stack = [job]
        while stack:
            missing = members_of(jobs.jobs[stack[-1]].predecessors & ~done)
            first = min(missing, key=rank.__getitem__, default=None)
            if first is not None:
                stack.append(first)
            elif not done >> (now := stack.pop()) & 1:
                done |= 1 << now
                order.append(now)
    return tuple(order)


def _backward(jobs: Jobs) -> Jobs:
    """Return the jobs with time reversed, the last one first."""
    states = jobs.states
    last = len(jobs.jobs) - 1
    reversed_jobs = (
        replace(
            job,
            predecessors=sum(1 << (last - b) for b in states.successors(number)),
            needs=job.writes,
            writes=job.needs,
        )
        for number, job in reversed(list(enumerate(jobs.jobs)))
    )
    return Jobs(tuple(reversed_jobs), jobs.sizes, jobs.after, jobs.before)
