"""Computes the cost of each buffer in each of its candidate pools, from its traffic and the speeds of the pools.

A cost is the time of one run of every model:

    time of a byte read     =  (read latency / burst + 1 / read bandwidth) / clock
    time of a byte written  =  (write latency / burst + 1 / write bandwidth) / clock

    cost of a buffer in a pool  =  sum over targets of  bytes read * time of a byte read
                                                      + bytes written * time of a byte written

The burst is that of the target that moves the bytes, by default 1 byte.  A bandwidth or latency given for one direction
holds for the other direction too; the default latency is 0.  Without any bandwidth the speed of a pool is unknown.
Without clocks, costs are in cycles: the manifest gives a clock to all pools with a speed or to none.

A buffer with a candidate pool of unknown speed is weighed by rank: bytes moved times the position of the pool among its
candidates.  In a plan where other speeds are known, each of these units counts as a cycle (of the slowest clock).

Costs are integers.  Their unit follows from the times of a byte alone, so that plans of the same models can be compared
however these are cut into buffers: all times are multiples of it or, where the longest of them would be a larger
multiple, it is 2^-32 of that one.  (It is larger still where a sum would need more than 62 bits.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import floor, lcm
from typing import TypeAlias

from usmp_build.interfaces.analysis import OperatorTraffic
from usmp_build.interfaces.kernels import Traffic
from usmp_build.ir.costs import Costs, CostUnit
from usmp_build.ir.schedule import Schedule, Step, without_rows
from usmp_build.ir.scopes import Scopes
from usmp_build.ir.storage import Storage, StorageBuffer
from usmp_build.request import Request, Speed
from usmp_build.units import MAX_SUM

_Move: TypeAlias = tuple[int, Fraction]
"""Bytes, and the time of each."""

_LONGEST_TIME = 1 << 32
"""The longest time of a byte, in units of costs, where that is not exact."""

_APPLICATION = 0
"""The target that fills inputs and reads outputs, and runs statements of programs."""


def costs(request: Request, scopes: Scopes, schedule: Schedule, storage: Storage, traffic: OperatorTraffic) -> Costs:
    """Weigh the traffic of every buffer by the speed of each pool that it may be in."""
    speeds = [_known(pool.speed) for pool in request.pools]
    candidates = {pool for buffer in storage.buffers for pool in buffer.pools}
    clocks = {speed.clock for pool, speed in enumerate(speeds) if speed and pool in candidates}
    timed = bool(clocks) and None not in clocks
    slowest = min(filter(None, clocks), default=1) if timed else 1
    moves = [
        _moves(moved, [speeds[pool] for pool in buffer.pools], timed, slowest)
        for buffer, moved in zip(storage.buffers, _moved(scopes, schedule, storage, traffic), strict=True)
    ]
    unknown = [pools for buffer in storage.buffers if (pools := _unknown(request, buffer, speeds, bool(clocks)))]
    unit = CostUnit.SECONDS if timed else CostUnit.CYCLES if clocks else CostUnit.RANK
    values, scale = _scaled(moves)
    return Costs(values, unit, scale, tuple(sorted({*chain(*unknown)})), len(unknown))


def _moves(
    moved: Mapping[int, Traffic], speeds: Sequence[Speed | None], timed: bool, slowest: int
) -> tuple[tuple[_Move, ...], ...]:
    """Return what a buffer moves in each of its pools: at their speed, or, where one has none, by their rank."""
    known = [speed for speed in speeds if speed]
    if len(known) == len(speeds):
        return tuple(tuple(_timed(moved, speed, timed)) for speed in known)
    total_bytes = sum(each.read + each.written for each in moved.values())
    return tuple(((rank * total_bytes, Fraction(1, slowest)),) for rank in range(len(speeds)))


def _unknown(request: Request, buffer: StorageBuffer, speeds: Sequence[Speed | None], has_clocks: bool) -> list[int]:
    """Return the pools without a speed for which a buffer is ranked, though speeds are given elsewhere."""
    is_given = has_clocks or any(request.pools[pool].speed for pool in buffer.pools)
    return [pool for pool in buffer.pools if speeds[pool] is None] if is_given and len(buffer.pools) > 1 else []


def _known(speed: Speed | None) -> Speed | None:
    """Return a speed that says how fast bytes are read or written; None if it does not."""
    if speed is None or (speed.read_bandwidth is None and speed.write_bandwidth is None):
        return None
    return speed


def _timed(moved: Mapping[int, Traffic], speed: Speed, timed: bool) -> Iterator[_Move]:
    """Yield a buffer's traffic in a pool; times are in seconds if that is `timed`, else in cycles."""
    read_bandwidth = speed.read_bandwidth or speed.write_bandwidth or 1
    write_bandwidth = speed.write_bandwidth or read_bandwidth
    read_latency = _first(speed.read_latency, speed.write_latency)
    write_latency = _first(speed.write_latency, speed.read_latency)
    clock = speed.clock if timed and speed.clock else 1
    for target, bytes_moved in moved.items():
        burst = speed.bursts.get(target, 1)
        yield bytes_moved.read, (Fraction(read_latency, burst) + Fraction(1, read_bandwidth)) / clock
        yield bytes_moved.written, (Fraction(write_latency, burst) + Fraction(1, write_bandwidth)) / clock


def _first(*latencies: int | None) -> int:
    return next((latency for latency in latencies if latency is not None), 0)


def _moved(
    scopes: Scopes, schedule: Schedule, storage: Storage, traffic: OperatorTraffic
) -> Sequence[Mapping[int, Traffic]]:
    """For each buffer, the traffic of each target per run.  A loop counts once: its number of rounds is unknown."""
    moved: list[dict[int, Traffic]] = [{} for _ in storage.buffers]
    for step in without_rows(schedule.root):  # the traffic of an operator is that of all of its rows
        if step.operator is not None:
            target = scopes.targets[step.operator]
            touched = iter(traffic[step.operator].items())
        else:
            target = _APPLICATION
            touched = _whole(step, storage)
        for buffer, each in touched:
            moved[buffer][target] = moved[buffer].get(target, Traffic()) + each
    return moved


def _whole(step: Step, storage: Storage) -> Iterator[tuple[int, Traffic]]:
    """Yield the traffic of a step without an operator: every byte of every buffer that it touches."""
    for values, reads in ((step.reads, True), ((*step.writes, *step.updates), False)):
        for buffer in chain.from_iterable(map(storage.buffers_of, values)):
            size = storage.buffers[buffer].size
            yield buffer, Traffic(read=size) if reads else Traffic(written=size)


def _scaled(moves: Sequence[tuple[tuple[_Move, ...], ...]]) -> tuple[tuple[tuple[int, ...], ...], Fraction]:
    """Return the cost of each buffer in each of its pools, and how many of these units make one."""
    exact = [tuple(sum((count * time for count, time in each), Fraction(0)) for each in pools) for pools in moves]
    scale = _scale({time for pools in moves for each in pools for _, time in each}, exact)
    return tuple(tuple(floor(cost * scale) for cost in buffer_costs) for buffer_costs in exact), scale


def _scale(times: Collection[Fraction], exact: Sequence[tuple[Fraction, ...]]) -> Fraction:
    """Return the factor that makes costs integers, and keeps their sum within `MAX_SUM`."""
    longest, largest_sum = max(times, default=0), sum(max(costs_, default=Fraction(0)) for costs_ in exact)
    scale = Fraction(lcm(*(time.denominator for time in times)))
    for most, cost in ((_LONGEST_TIME, longest), (MAX_SUM, largest_sum)):
        if cost * scale > most:
            scale = most / Fraction(cost)
    return scale
