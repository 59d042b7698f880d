"""Jobs → orders that finish one branch after the other: Liu's order of trees, for graphs that are nearly trees.

A branch is a list of segments: each climbs to its *hill*, and ends in its *valley*, where fewest bytes are alive behind
the hill.  Where branches meet, the segments of all of them are done by how far the hill is above the valley, the most
first: what needs much room has it while little is left over from others.

    bytes alive       hill
                      __/\\__        hill            segments of one branch: 5 above its valley, and 3
                     /     \\       __/\\_
                    /       \\_____/     \\____

A job that several others wait for belongs to the first of them; whoever else needs it earlier has it done earlier.  For
trees the order is the best there is.  Backward in time, a tree that opens is one that closes, so both are tried.

Liu, J. W. H.: An application of generalized tree pebbling to sparse matrix factorization.  SIAM J. Algebraic Discrete
Methods 8 (1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from usmp_build.passes.effects import members_of
from usmp_build.passes.order.states import Jobs, States


class _Segment(NamedTuple):
    hill: int
    """Bytes above those that are alive when it begins."""
    valley: int
    jobs: tuple[int, ...]


def branch_by_branch(jobs: Jobs) -> Iterator[tuple[int, ...]]:
    """Yield an order for where branches meet, and one for where they part."""
    yield _closing(jobs)
    last = len(jobs.jobs) - 1
    yield tuple(last - job for job in reversed(_closing(_backward(jobs))))


def _closing(jobs: Jobs) -> tuple[int, ...]:
    """Merge the branches from the leaves on; every job is the last of its own."""
    own = list(_own(jobs))
    waiting: dict[int, list[_Segment]] = {}
    ends: list[_Segment] = []
    states = States(jobs)
    for job, segment in enumerate(own):
        branch = _segments([*_merged(waiting.pop(job, ())), segment])
        behind = states.behind(job)
        (waiting.setdefault(behind[0], []) if behind else ends).extend(branch)
    return _obeying(jobs, [job for segment in _merged(ends) for job in segment.jobs])


def _own(jobs: Jobs) -> Iterator[_Segment]:
    """Yield what each job by itself does to the bytes that are alive, in the order of the file."""
    states = States(jobs)
    state, done = states.first, 0
    for job in range(len(jobs.jobs)):
        done |= 1 << job
        then = states.after(state._replace(peak=0), job, done)
        yield _Segment(then.peak - state.size, then.size - state.size, (job,))
        state = then


def _merged(segments: Iterable[_Segment]) -> list[_Segment]:
    """Sort segments of several branches; those of one branch are sorted already."""
    return sorted(segments, key=lambda each: each.valley - each.hill)


def _segments(parts: list[_Segment]) -> list[_Segment]:
    """Join what is done one after the other to segments that fall less and less from hill to valley."""
    found: list[_Segment] = []
    for part in parts:
        last = part
        while found and (_fall(found[-1]) <= _fall(last) or (last.valley <= 0 and last.hill <= _fall(found[-1]))):
            before = found.pop()
            hill = max(before.hill, before.valley + last.hill)
            last = _Segment(hill, before.valley + last.valley, before.jobs + last.jobs)
        found.append(last)
    return found


def _fall(segment: _Segment) -> int:
    return segment.hill - segment.valley


def _obeying(jobs: Jobs, wanted: list[int]) -> tuple[int, ...]:
    """Do jobs as wanted, each after those that must come before it."""
    rank = {job: number for number, job in enumerate(wanted)}
    done = 0
    order = []
    for job in wanted:
        open_ = [job]
        while open_:
            missing = members_of(jobs.jobs[open_[-1]].after & ~done)
            first = min(missing, key=rank.__getitem__, default=None)
            if first is not None:
                open_.append(first)
            elif not done >> (now := open_.pop()) & 1:
                done |= 1 << now
                order.append(now)
    return tuple(order)


def _backward(jobs: Jobs) -> Jobs:
    """Return the jobs as they are when time runs backward, the last first."""
    states = States(jobs)
    last = len(jobs.jobs) - 1
    turned = (
        replace(job, after=sum(1 << (last - b) for b in states.behind(number)), needs=job.writes, writes=job.needs)
        for number, job in reversed(list(enumerate(jobs.jobs)))
    )
    return Jobs(tuple(turned), jobs.sizes, jobs.behind, jobs.before)
