"""Traffic + speeds of pools → what it costs each buffer to be in each of its pools, in one run of every model.

    time of a byte read     =  (read latency / burst + 1 / read bandwidth) / clock
    time of a byte written  =  (write latency / burst + 1 / write bandwidth) / clock

    cost of a buffer in a pool  =  sum over targets of  bytes read * time of a byte read
                                                      + bytes written * time of a byte written

The burst is that of the target that moves the bytes, and 1 byte where the manifest says nothing.  Of bandwidths and
latencies that are given for one direction only, the other direction has the same; without any latency it is 0.  Without
any bandwidth the speed of a pool is not known.  Without clocks, cycles are counted: the manifest gives a clock to all
pools with a speed or to none.

Where the speed of a candidate is not known, or no pool's is, what counts is rank: bytes moved times the position of the
pool among the candidates.  In a plan that knows other speeds, each of these is a cycle (of the slowest clock).

Costs are whole: multiples of what all of them have in common, or, where sums would need more than 62 bits, of the least
part for which they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor, lcm

from usmp_build.interfaces.analysis import OperatorTraffic
from usmp_build.interfaces.kernels import Traffic
from usmp_build.ir.costs import Costs, CostUnit
from usmp_build.ir.schedule import Schedule, Step, steps
from usmp_build.ir.scopes import Scopes
from usmp_build.ir.storage import Storage
from usmp_build.request import Request, Speed
from usmp_build.units import MAX_SUM

_APPLICATION = 0
"""The target that fills inputs and reads outputs, and runs statements of programs."""


def costs(request: Request, scopes: Scopes, schedule: Schedule, storage: Storage, traffic: OperatorTraffic) -> Costs:
    """Weigh the traffic of every buffer by the speed of each pool that it may be in."""
    speeds = [pool.speed if pool.speed and _is_known(pool.speed) else None for pool in request.pools]
    candidates = {pool for buffer in storage.buffers for pool in buffer.pools}
    clocks = {speed.clock for pool, speed in enumerate(speeds) if speed and pool in candidates}
    timed = bool(clocks) and None not in clocks
    slowest = min((clock for clock in clocks if clock and timed), default=1)
    unknown: set[int] = set()
    ranked = 0
    exact: list[tuple[Fraction, ...]] = []
    for buffer, moved in zip(storage.buffers, _moved(scopes, schedule, storage, traffic), strict=True):
        of_each = [speeds[pool] for pool in buffer.pools]
        known = [speed for speed in of_each if speed]
        if len(known) == len(of_each):
            exact.append(tuple(_time(moved, speed, timed) for speed in known))
            continue
        total = sum(each.read + each.written for each in moved.values())
        exact.append(tuple(Fraction(rank * total, slowest) for rank in range(len(of_each))))
        if len(of_each) > 1 and (clocks or any(request.pools[pool].speed for pool in buffer.pools)):
            unknown |= {pool for pool in buffer.pools if speeds[pool] is None}
            ranked += 1
    unit = CostUnit.SECONDS if timed else CostUnit.CYCLES if clocks else CostUnit.RANK
    scale = _scale(exact)
    values = tuple(tuple(floor(cost * scale) for cost in own) for own in exact)
    return Costs(values, unit, scale, tuple(sorted(unknown)), ranked)


def _is_known(speed: Speed) -> bool:
    return speed.read_bandwidth is not None or speed.write_bandwidth is not None


def _time(moved: Mapping[int, Traffic], speed: Speed, timed: bool) -> Fraction:
    """Return how long a buffer's traffic takes in a pool: in seconds if that is `timed`, else in cycles."""
    read_bandwidth = speed.read_bandwidth or speed.write_bandwidth or 1
    write_bandwidth = speed.write_bandwidth or read_bandwidth
    read_latency = _first(speed.read_latency, speed.write_latency)
    write_latency = _first(speed.write_latency, speed.read_latency)
    cycles = Fraction(0)
    for target, each in moved.items():
        burst = speed.bursts.get(target, 1)
        cycles += each.read * (Fraction(read_latency, burst) + Fraction(1, read_bandwidth))
        cycles += each.written * (Fraction(write_latency, burst) + Fraction(1, write_bandwidth))
    return cycles / speed.clock if timed and speed.clock else cycles


def _first(*latencies: int | None) -> int:
    return next((latency for latency in latencies if latency is not None), 0)


def _moved(
    scopes: Scopes, schedule: Schedule, storage: Storage, traffic: OperatorTraffic
) -> Sequence[Mapping[int, Traffic]]:
    """For each buffer, what each target moves per run.  A loop counts once: nobody knows how often it runs."""
    moved: list[dict[int, Traffic]] = [{} for _ in storage.buffers]
    for step in steps(schedule.root):
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
    """What the application fills and reads, and statements: all bytes of all that they touch."""
    for tensors, reads in ((step.reads, True), ((*step.writes, *step.updates), False)):
        for tensor in tensors:
            if tensor in storage.tensors:
                for buffer in storage.span(storage.tensors[tensor]):
                    size = storage.buffers[buffer].size
                    yield buffer, Traffic(read=size) if reads else Traffic(written=size)


def _scale(exact: Sequence[tuple[Fraction, ...]]) -> Fraction:
    """Return the factor that makes costs whole, and their sum at most `MAX_SUM`."""
    several = [cost for own in exact for cost in own if cost]
    most = sum((max(own, default=Fraction(0)) for own in exact), Fraction(0))
    if not several:
        return Fraction(1)
    parts = 1
    for cost in several:
        parts = lcm(parts, cost.denominator)
        if parts * most > MAX_SUM:
            return MAX_SUM / most
    return Fraction(parts)
