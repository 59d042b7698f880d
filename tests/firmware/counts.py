"""What the counting plugin saw of each operator, beside what the plan says of it: buffer by buffer.

Every pool is cut where any buffer begins or ends.  A piece belongs to the buffers of the operator that lie on it; what
an operator moves in other pieces has gone astray.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.support import counting, firmware, image
from tests.support.counting import Interval, Traffic
from tests.support.image import Image
from usmp_build.cli.selftest.inputs import Sample
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.ir.schedule import Step

MEMORIES = ("CODE", "RAM")
"""Where tables and the stack are."""


@dataclass(frozen=True)
class Moved:
    """One buffer of one operator."""

    buffer: str
    pool: str
    declared: Traffic
    counted: Traffic


@dataclass(frozen=True)
class Counted:
    """One operator of a run."""

    name: str
    form: str
    """"whole", "rows" or "reduce"."""
    instructions: int
    moved: tuple[Moved, ...]
    astray: dict[str, Traffic]
    """In pools, but in none of its buffers; and in no memory that it may touch at all."""
    tables_written: int


def count(made: Image, inputs: Sequence[Sequence[Sample]], plugin: Path) -> list[list[Counted]]:
    """Run every model once; return what each operator did, by model."""
    symbols = firmware.symbols(made.board, made.elf)
    pieces = {
        f"{pool}+{start}": (symbols[f"__usmp_{pool}_start"][0] + start, stop - start)
        for pool, start, stop in _pieces(made)
    }
    regions = pieces | {name: made.board.regions[name] for name in MEMORIES}
    marks = {name: symbols[name][0] for name in ("harness_begin", "usmp_hook", "harness_end")}
    own = [place for name, place in symbols.items() if name.startswith(("harness_", "host_", "usmp_hook"))]
    out = made.folder / "counts.json"
    image.run(made, inputs, counting.plugin_arguments(plugin, out, regions, marks, own))
    return list(_by_model(made, iter(counting.read_intervals(out))))


def _pieces(made: Image) -> Iterator[tuple[str, int, int]]:
    """(pool, start, stop) of every piece."""
    rows = made.layout.summary.buffers
    for pool in made.layout.summary.pools:
        mine = [row for row in rows if row.pool == pool.name]
        cuts = {0, pool.size, *(row.offset for row in mine), *(row.offset + row.size for row in mine)}
        yield from ((pool.name, start, stop) for start, stop in pairwise(sorted(cuts)))


def _by_model(made: Image, intervals: Iterator[Interval]) -> Iterator[list[Counted]]:
    """Everything from begin to end of a run is between two marks; the hook is called once for each trace."""
    schedule = made.planned.analysis.schedule
    for program, (_, code) in zip(schedule.programs, made.layout.models, strict=True):
        assert next(intervals).mark == "harness_begin"
        for _ in code.views:
            assert next(intervals).mark == "usmp_hook"
        refs = [node.operator for node in program.body if isinstance(node, Step) and node.operator]
        yield [
            _operator(made, ref, tuple(next(intervals) for _ in step.traces))
            for ref, step in zip(refs, code.steps, strict=True)
        ]
        assert next(intervals).mark == "harness_end"


def _operator(made: Image, ref: OperatorRef, intervals: tuple[Interval, ...]) -> Counted:
    assert {interval.mark for interval in intervals} == {"usmp_hook"}
    analysis = made.planned.analysis
    operator, kernel = operator_at(analysis.models, ref), analysis.kernels[ref]
    assert isinstance(kernel, Kernel)
    seen: dict[str, Traffic] = {}
    for interval in intervals:
        for name, traffic in (*interval.regions.items(), ("nowhere", interval.outside)):
            before = seen.get(name, Traffic())
            seen[name] = Traffic(before.read + traffic.read, before.written + traffic.written)
    moved = []
    for buffer, declared in analysis.traffic[ref].items():
        place = made.planned.plan.allocations[buffer]
        pool, size = made.layout.summary.pools[place.pool].name, analysis.storage.buffers[buffer].size
        mine = [
            seen.pop(f"{name}+{start}", Traffic())
            for name, start, stop in _pieces(made)
            if name == pool and place.offset <= start and stop <= place.offset + size
        ]
        counted = Traffic(sum(t.read for t in mine), sum(t.written for t in mine))
        moved.append(Moved(analysis.storage.buffers[buffer].name, pool, Traffic(*declared), counted))
    tables = [seen.pop(name, Traffic()) for name in MEMORIES]
    return Counted(
        name=f"{made.layout.models[ref.model][0].name}: {operator.kind} {operator.position}",
        form=type(kernel.calls[0].form).__name__.lower(),
        instructions=sum(interval.instructions for interval in intervals),
        moved=tuple(moved),
        astray={name: traffic for name, traffic in seen.items() if traffic != Traffic()},
        tables_written=tables[0].written,
    )
