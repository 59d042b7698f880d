"""Reads and writes problems as JSON.  The classes here are the published schema."""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from usmp_build.document.faults import Place
from usmp_build.document.json_lines import json_lines
from usmp_build.document.json_text import Paths, parse, validate
from usmp_build.document.source import Source
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.planner.problems.draft import LONGEST_NAME, BufferDraft, Draft, PoolDraft, SeparationDraft
from usmp_build.units import MAX_BYTES

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Count = Annotated[int, Field(ge=0, le=MAX_BYTES)]
Distance = Annotated[int, Field(ge=-MAX_BYTES, le=MAX_BYTES)]
# JSON makes lists, and what cannot be changed are tuples: hence `strict=False`, which concerns nothing else.
Interval = Annotated[tuple[Count, Count], Field(strict=False)]
Pair = Annotated[tuple[Name, Name], Field(strict=False)]
Names = Annotated[tuple[Name, ...], Field(strict=False)]
Counts = Annotated[tuple[Count, ...], Field(strict=False)]


class Record(BaseModel):
    """What all records of problems and plans have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class PoolRecord(Record):
    """A budget of bytes."""

    name: Name
    """Unlike those of other pools."""
    limit: Count | None = None
    """Bytes that may be used; null, or left out: as many as needed."""


class BufferRecord(Record):
    """Bytes to be placed."""

    name: Name
    """Unlike those of other buffers."""
    size: Count
    """Bytes."""
    alignment: Annotated[int, Field(ge=1, le=MAX_BYTES)] = 1
    """The offset is a multiple of this."""
    pools: Names = ()
    """The pools it may go to, most preferred first; left out: all, in their order."""
    costs: Counts = ()
    """What it costs to be in each of `pools`, in any unit; left out: each costs as many as there are before it, for
    each byte."""
    intervals: Annotated[tuple[Interval, ...], Field(strict=False)] = ()
    """Half-open steps [start, stop) in which it holds data."""
    offset: Count | None = None
    """Where it must start; null, or left out: anywhere."""


class SeparationRecord(Record):
    """Two buffers in conflict that may share bytes if one is above the other."""

    below: Name
    above: Name
    bytes: Distance
    """Least distance from the start of `below` to that of `above`: below the size of `below`, perhaps negative."""


class ProblemRecord(Record):
    """A memory problem: which buffer goes into which pool, at which offset?"""

    version: Literal[1] = 1
    """Of this format."""
    pools: Annotated[tuple[PoolRecord, ...], Field(strict=False)] = ()
    """Left out: one, called "memory", without a limit."""
    buffers: Annotated[tuple[BufferRecord, ...], Field(strict=False)]
    """What is to be placed."""
    conflicts: Annotated[tuple[Pair, ...], Field(strict=False)] | None = None
    """Pairs that may not overlap; null, or left out: those that are alive at one step."""
    separations: Annotated[tuple[SeparationRecord, ...], Field(strict=False)] = ()
    """Pairs in conflict that may overlap in part."""


Document: TypeAlias = dict[str, object]


def read_json(source: Source) -> Draft:
    """Read a problem.  Raises ProblemError with everything that is wrong by itself."""
    record = validate(ProblemRecord, parse(source), source)
    return Draft(
        Paths(source),
        [PoolDraft(pool.name, pool.limit, ("pools", i)) for i, pool in enumerate(record.pools)],
        [_draft(buffer, i) for i, buffer in enumerate(record.buffers)],
        [SeparationDraft(s.below, s.above, s.bytes, ("separations", i)) for i, s in enumerate(record.separations)],
        None if record.conflicts is None else [(*pair, ("conflicts", i)) for i, pair in enumerate(record.conflicts)],
    )


def problem_json(problem: Problem) -> str:
    """Write a problem, conflicts and all; it reads back as the same problem."""
    names = [buffer.name for buffer in problem.buffers]
    pairs = [(names[a], names[b]) for a, others in enumerate(problem.conflicts) for b in others if a < b]
    document: Document = {
        "version": 1,
        "pools": [{"name": pool.name, "limit": pool.limit} for pool in problem.pools],
        "buffers": [_buffer(problem, buffer) for buffer in problem.buffers],
        "conflicts": pairs,
        "separations": [
            {"below": names[low], "above": names[high], "bytes": distance}
            for (low, high), distance in problem.separations.items()
        ],
    }
    return json_lines(document)


def problem_schema() -> str:
    """Return the JSON schema of problems."""
    return json.dumps(ProblemRecord.model_json_schema(), indent=2, sort_keys=True) + "\n"


def _draft(record: BufferRecord, number: int) -> BufferDraft:
    place: Place = ("buffers", number)
    intervals: list[tuple[int, int, Place]] = [
        (start, stop, (*place, "intervals", i)) for i, (start, stop) in enumerate(record.intervals)
    ]
    facts = (record.alignment, record.pools, record.costs, record.offset)
    return BufferDraft(record.name, record.size, place, *facts, intervals)


def _buffer(problem: Problem, buffer: Buffer) -> Document:
    document: Document = {"name": buffer.name, "size": buffer.size}
    document |= {"alignment": buffer.alignment} if buffer.alignment > 1 else {}
    document["pools"] = [problem.pools[pool].name for pool in buffer.pools]
    document |= (
        {"costs": list(buffer.costs or [0] * len(buffer.pools))} if buffer.costs or len(buffer.pools) > 1 else {}
    )
    document |= {"intervals": [list(interval) for interval in buffer.intervals]} if buffer.intervals else {}
    return document | ({"offset": buffer.offset} if buffer.offset is not None else {})
