"""Solutions as JSON: places, and what is proven about them.  The classes here are the published schema.

A witness can be checked by looking at its buffers; `usmp-build verify` does.  A claim cannot: it says what a search
through all plans found, and how much work that was.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field

from usmp_build.document.json_text import parse, validate
from usmp_build.document.source import Source
from usmp_build.planner.problems.json_form import Count, Name, Names, Record
from usmp_build.units import MAX_SUM

Sum = Annotated[int, Field(ge=0, le=MAX_SUM)]
"""Bytes of many buffers together, or an offset above them: more than one buffer may have."""

Offset = Annotated[int, Field(ge=-MAX_SUM, le=MAX_SUM)]
"""Of a plan that is to be checked, and may be wrong."""


class WitnessRecord(Record):
    """Buffers that all conflict with each other, so that they need this many bytes, however they are placed."""

    bytes: Sum
    step: Count | None = None
    """One at which they are alive; null when that is not known, or they are not alive at one step."""
    buffers: Names
    """Largest first."""


class ClaimRecord(Record):
    """What a search through all plans proved, says the algorithm."""

    bytes: Sum
    """No plan of these buffers needs less of the pool."""
    algorithm: str
    work: Count
    """Nodes of its search."""


class PoolResult(Record):
    """A pool and how full it is."""

    name: Name
    limit: Count | None
    """Bytes that may be used; null: as many as needed."""
    peak: Sum
    """Bytes that the plan uses."""
    bound: Sum
    """No plan that puts these buffers into this pool needs fewer bytes: by the witness, or by the claim."""
    witness: WitnessRecord
    claim: ClaimRecord | None = None
    """Where the search proved more than the witness shows."""


class PlaceRecord(Record):
    """A buffer and its place."""

    name: Name
    pool: Name
    offset: Offset
    """Bytes from the start of the pool; a plan with a negative one can be read, and is wrong."""


class ShortageRecord(Record):
    """Why there is no plan, or, without a proof, what is missing in the best that was found."""

    pools: Names
    """That are too small, taken together; none where a search found that all are."""
    room: Sum
    """Bytes that they offer."""
    missing: Sum
    """Bytes by which that is too little."""
    proven: bool
    """Whether no plan can do with less."""
    witness: WitnessRecord
    """Buffers that have no other place; they need more than `room` if that is the proof."""
    claim: ClaimRecord | None = None
    """If that is the proof."""


class SolutionRecord(Record):
    """What usmp_build found of a memory problem."""

    version: Literal[1] = 1
    """Of this format."""
    generator: str = ""
    """Who wrote this."""
    status: Literal["OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"]
    """A plan, and no plan is better; a plan; there is no plan; none was found."""
    algorithm: str = ""
    """Who found the plan."""
    work: Count = 0
    """Nodes of its search, or other units that it explains; the same on every machine."""
    capacity: Count | None = None
    """The limit of pools to which the problem gives none; null: they have none."""
    shortage: ShortageRecord | None = None
    """Without a plan."""
    pools: Annotated[tuple[PoolResult, ...], Field(strict=False)] = ()
    buffers: Annotated[tuple[PlaceRecord, ...], Field(strict=False)] = ()
    """The plan: every buffer of the problem, once."""


def read_solution(source: Source) -> SolutionRecord:
    """Read a solution.  Raises ProblemError with everything that is wrong with its form."""
    return validate(SolutionRecord, parse(source), source)


def solution_schema() -> str:
    """Return the JSON schema of solutions."""
    return json.dumps(SolutionRecord.model_json_schema(), indent=2, sort_keys=True) + "\n"
