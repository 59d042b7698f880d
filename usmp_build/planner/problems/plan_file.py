"""Reads plans of problems: our JSON with its proofs, or CSV of any tool with an offset for each id."""

from __future__ import annotations

from usmp_build.document.faults import Faults, Place, Places
from usmp_build.document.json_text import Paths
from usmp_build.document.source import Source, check_size, decode, is_json
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ProblemError, Span
from usmp_build.frozen import frozen
from usmp_build.planner.problems.bulk import in_bulk
from usmp_build.planner.problems.csv_form import ALIASES
from usmp_build.planner.problems.fields import Fields
from usmp_build.planner.problems.solution_record import SolutionRecord, read_solution
from usmp_build.planner.problems.table import Cells, Table, tables


@frozen
class Placed:
    """The place of a buffer, as the file states it."""

    name: str
    pool: str
    """Empty: the only pool."""
    offset: int
    place: Place
    """Its place in the file."""


@frozen
class PlanFile:
    """A plan as its file states it."""

    places: Places
    placed: tuple[Placed, ...]
    facts: SolutionRecord | None
    """All else that the file states; None for CSV."""


def read_plan(data: bytes, file: str) -> PlanFile:
    """Read a plan; `file` is its name in messages.  Raises ProblemError when it is not a plan."""
    check_size(data, file)
    with in_bulk():
        source = decode(data, file)
        if not is_json(data):
            return _read_csv(source)
        record = read_solution(source)
        placed = (
            Placed(buffer.name, buffer.pool, buffer.offset, ("buffers", i)) for i, buffer in enumerate(record.buffers)
        )
        return PlanFile(Paths(source), tuple(placed), record)


def _read_csv(source: Source) -> PlanFile:
    """Read ids and offsets; other columns are ignored."""
    all_tables = tables(source)
    wanted = ("id", "offset")
    table = next((table for table in all_tables if {*wanted} <= _columns(table)), None)
    if table is None:
        message = 'this is not a plan: no table has columns "id" and "offset"'
        help_ = "give a plan as `usmp-build solve --out` writes it: JSON, or CSV with these columns"
        raise ProblemError(Diagnostic("Q120", message, Span(source.file, 1, 1), help_))
    faults = Faults()
    places = Cells(source, all_tables)
    placed: dict[str, Placed] = {}
    fields = Fields(table, places, faults, ALIASES)
    for _ in fields.rows():
        row = Placed(fields.name("id"), fields.text("pools"), fields.place_in_pool("offset"), fields.place)
        first = placed.setdefault(row.name, row)
        if (first.pool, first.offset) != (row.pool, row.offset):
            message = f"buffer {quoted(row.name)} has another place in an earlier row"
            help_ = "a buffer has one place for all its intervals"
            faults.add("Q107", message, places.span(row.place, "offset"), help_)
    faults.stop()
    return PlanFile(places, tuple(placed.values()), None)


def _columns(table: Table) -> set[str]:
    return {ALIASES.get(name.lower(), name.lower()) for name in table.header}
