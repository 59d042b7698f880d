"""Check that a problem is well-formed, before it is planned: algorithms rely on what `memory.problem` documents.

Files are checked where they are read, with places; problems made in Python are checked only here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, pairwise

import numpy as np

from usmp_build.planner.memory.problem import Buffer, Problem

_MOST = 20
"""Most sentences in a report."""


def malformed(problem: Problem) -> tuple[str, ...]:
    """Return what is wrong with a problem, in at most `_MOST` sentences; empty when it is well-formed."""
    for check in (_pools, _buffers, _listed, _conflicts, _separations):  # each relies on those before it
        if faults := tuple(islice(check(problem), _MOST)):
            return faults
    return ()


def is_count(value: object) -> bool:
    """Return whether this is an integer of at least 0; booleans are not."""
    return type(value) is int and value >= 0


def _pools(problem: Problem) -> Iterator[str]:
    """Check that names of pools are distinct, and limits are counts of bytes."""
    yield from _twice("pool", [pool.name for pool in problem.pools])
    for pool in problem.pools:
        if pool.limit is not None and not is_count(pool.limit):
            yield f'the limit of pool "{pool.name}" is {pool.limit!r}, which is no number of bytes'


def _buffers(problem: Problem) -> Iterator[str]:
    yield from _twice("buffer", [buffer.name for buffer in problem.buffers])
    for buffer in problem.buffers:
        faults = chain(_numbers(buffer), _candidates(buffer, len(problem.pools)), _lives(buffer))
        yield from (f'buffer "{buffer.name}" {words}' for words in faults)


def _twice(what: str, names: list[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        if type(name) is not str:
            yield f"the name of a {what} is {name!r}, which is no text"
        if count > 1:
            yield f'{count} {what}s are called "{name}"'


def _numbers(buffer: Buffer) -> Iterator[str]:
    if not is_count(buffer.size):
        yield f"has size {buffer.size!r}, which is no number of bytes"
    if type(buffer.alignment) is not int or buffer.alignment < 1:
        yield f"has alignment {buffer.alignment!r}, which is no whole number of at least 1"
    elif buffer.offset is not None:
        if not is_count(buffer.offset):
            yield f"is fixed at offset {buffer.offset!r}, which is no number of bytes"
        elif buffer.offset % buffer.alignment:
            yield f"is fixed at offset {buffer.offset}, which is no multiple of its alignment {buffer.alignment}"


def _candidates(buffer: Buffer, pools: int) -> Iterator[str]:
    """Check the candidate pools of a buffer and their costs."""
    if not isinstance(buffer.pools, tuple) or not isinstance(buffer.costs, tuple):
        yield "has pools or costs that are no tuple"
        return
    if not buffer.pools:
        yield "has no pool that it may go to"
    for pool in buffer.pools:
        if not is_count(pool) or pool >= pools:
            yield f"names pool {pool!r}, and there are {pools}, counted from 0"
    if len(set(buffer.pools)) < len(buffer.pools):
        yield f"names a pool twice: {buffer.pools}"
    if len(buffer.costs) not in (0, len(buffer.pools)):
        yield f"has {len(buffer.costs)} costs for {len(buffer.pools)} pools"
    for cost in buffer.costs:
        if type(cost) is not int:
            yield f"has cost {cost!r}, which is no whole number"


def _lives(buffer: Buffer) -> Iterator[str]:
    """Check that intervals are not empty, ascend, and do not overlap."""
    intervals = buffer.intervals
    if not isinstance(intervals, tuple) or not all(map(_is_pair, intervals)):
        yield f"has intervals that are no tuple of pairs of whole numbers: {intervals!r}"
        return
    empty = [interval for interval in intervals if interval[0] >= interval[1]]
    yield from (f"is never alive in {interval}: intervals are half-open" for interval in empty)
    if not empty and any(one[1] > other[0] for one, other in pairwise(intervals)):
        yield f"has intervals that are not sorted, or overlap: {intervals}"


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and [type(part) for part in value] == [int, int]


def _listed(problem: Problem) -> Iterator[str]:
    count = len(problem.buffers)
    if not isinstance(problem.conflicts, tuple) or len(problem.conflicts) != count:
        yield f"the conflicts are no tuple with an entry for each of {count} buffers"
        return
    for buffer, others in zip(problem.buffers, problem.conflicts, strict=True):
        if not isinstance(others, tuple) or not set(map(type, others)) <= {int}:
            yield f'the conflicts of buffer "{buffer.name}" are no tuple of whole numbers'
        elif others and not 0 <= min(others) <= max(others) < count:
            wrong = next(other for other in others if not 0 <= other < count)
            yield f'buffer "{buffer.name}" conflicts with buffer {wrong}, and there are {count}, counted from 0'


def _conflicts(problem: Problem) -> Iterator[str]:
    """Check that conflicts ascend and are mutual."""
    lengths = np.fromiter(map(len, problem.conflicts), np.int64, len(problem.conflicts))
    one = np.repeat(np.arange(len(lengths)), lengths)
    other = np.fromiter(chain.from_iterable(problem.conflicts), np.int64, len(one))
    names = [buffer.name for buffer in problem.buffers]
    for index in one[one == other].tolist():
        yield f'buffer "{names[index]}" conflicts with itself'
    descends = (one[1:] == one[:-1]) & (other[1:] <= other[:-1])
    for index in dict.fromkeys(one[1:][descends].tolist()):
        yield f'the conflicts of buffer "{names[index]}" are not ascending'
    if descends.any():
        return
    there, back = one * len(names) + other, other * len(names) + one  # each pair as a number, seen from both sides
    if not np.array_equal(there, np.sort(back)):
        for pair in np.setdiff1d(there, back).tolist():
            a, b = divmod(pair, len(names))
            yield f'buffer "{names[a]}" conflicts with "{names[b]}", but not the other way round'


def _separations(problem: Problem) -> Iterator[str]:
    """Check that separations are of pairs in conflict, and no larger than the lower buffer."""
    count = len(problem.buffers)
    conflicts: dict[int, frozenset[int]] = {}
    for pair, distance in problem.separations.items():
        if not _is_pair(pair) or not 0 <= min(pair) <= max(pair) < count:
            yield f"there is a separation of {pair!r}, which are no indices of two buffers"
            continue
        below, above = pair
        names = f'"{problem.buffers[above].name}" above "{problem.buffers[below].name}"'
        if above not in conflicts.setdefault(below, frozenset(problem.conflicts[below])):
            yield f"there is a separation of {names}, which do not conflict"
        elif type(distance) is not int:
            yield f"the separation of {names} is {distance!r}, which is no whole number"
        elif distance > (size := problem.buffers[below].size):
            yield f"the separation of {names} is {distance}, which is more than the size of the lower one, {size}"
