"""Reads problems as CSV: MiniMalloc's columns, and ours.

    id,lower,upper,size,alignment,pools,offset
    a,0,3,100,16,tcm:0|sram:5,
    b,2,5,64 KiB,16,sram,128

    pool,limit
    tcm,64 KiB
    sram,

    below,above,separation
    a,b,60

Only the first table is required, and only its first four columns.  Columns are identified by name.
"""

from __future__ import annotations

from usmp_build.document.faults import Faults, Place
from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.planner.problems.draft import BufferDraft, Draft, PoolDraft, SeparationDraft
from usmp_build.planner.problems.fields import Fields
from usmp_build.planner.problems.table import Cells, Table, tables

COLUMNS = {
    "buffers": ("id", "lower", "upper", "size", "alignment", "gaps", "pools", "offset"),
    "pools": ("pool", "limit"),
    "separations": ("below", "above", "separation"),
}
NEEDED = {"buffers": 4, "pools": 1, "separations": 3}
"""How many of the columns, from the first, are required."""
ALIASES = {"buffer": "id", "buffer_id": "id", "begin": "lower", "start": "lower", "end": "upper", "pool": "pools"}
"""Other names of the columns of buffers; an `end` is the last step, not the one after it."""

_BEGIN = f"begin with a header: {','.join(COLUMNS['buffers'][:4])}"


def read_csv(source: Source) -> Draft:
    """Read a problem.  Raises ProblemError with everything that is wrong by itself."""
    all_tables = tables(source)
    faults = Faults()
    reader = _Reader(Cells(source, all_tables), faults)
    kinds = {table.number: kind for table in all_tables if (kind := _kind(table, faults))}
    for kind in COLUMNS:
        same_kind = [table for table in all_tables if kinds.get(table.number) == kind]
        for duplicate in same_kind[1:]:
            message = f"a second table of {kind}"
            faults.add("Q102", message, source.span(duplicate.first, 1, 80), "join the two: an empty line ends a table")
        for table in same_kind[:1]:
            reader.read(kind, table)
    if "buffers" not in kinds.values() and all(kinds.get(table.number) for table in all_tables):
        faults.add("Q102", "there is no table of buffers", source.span(1, 1), _BEGIN)
    faults.stop()
    return reader.draft()


def _kind_of(names: list[str]) -> str:
    if {"below", "above", "separation"}.intersection(names):
        return "separations"
    return "pools" if names[:1] == ["pool"] and "id" not in names else "buffers"


def _kind(table: Table, faults: Faults) -> str:
    """Return the kind of a table by its header; empty when the header is wrong."""
    names = [name.lower() for name in table.header]
    place = table.source.span(table.first, 1, len(table.source.lines[table.first - 1]))
    kind = _kind_of(names)
    canonical = [ALIASES.get(name, name) for name in names] if kind == "buffers" else names
    columns = COLUMNS[kind]
    if any(name.isdecimal() for name in names):
        faults.add("Q102", "this is not a header: columns have names", place, _BEGIN)
        return ""
    for name, column in zip(names, canonical, strict=True):
        if column not in columns:
            help_ = f"remove it, or correct its name: {suggestion(name, columns, 'the columns are')}"
            faults.add("Q102", f"a table of {kind} has no column {quoted(name)}", place, help_)
            return ""
        if canonical.count(column) > 1:
            faults.add("Q102", f"there are two columns {quoted(column)}", place, "remove one of the two")
            return ""
    missing = [column for column in columns[: NEEDED[kind]] if column not in canonical]
    if missing:
        help_ = f"a table of {kind} needs {', '.join(columns[: NEEDED[kind]])}"
        faults.add("Q102", f"there is no column {quoted(missing[0])}", place, help_)
    return "" if missing else kind


class _Reader:
    """Reads tables row by row."""

    def __init__(self, places: Cells, faults: Faults) -> None:
        self._places = places
        self._faults = faults
        self._buffers: dict[str, BufferDraft] = {}
        self._declared: list[PoolDraft] = []
        self._mentioned: dict[str, Place] = {}
        self._separations: list[SeparationDraft] = []

    def read(self, kind: str, table: Table) -> None:
        take = {"buffers": self._buffer, "pools": self._pool, "separations": self._separation}[kind]
        cells = Fields(table, self._places, self._faults, ALIASES if kind == "buffers" else {})
        for _ in cells.rows():
            take(cells)

    def draft(self) -> Draft:
        """Return what was read; without a table of pools, those that buffers name."""
        pools = self._declared or [PoolDraft(name, None, place) for name, place in self._mentioned.items()]
        return Draft(self._places, pools, list(self._buffers.values()), self._separations)

    def _pool(self, cells: Fields) -> None:
        limit = cells.optional("limit", cells.bytes)
        self._declared.append(PoolDraft(cells.name("pool"), limit, cells.place))

    def _separation(self, cells: Fields) -> None:
        distance = cells.distance("separation")
        self._separations.append(SeparationDraft(cells.name("below"), cells.name("above"), distance, cells.place))

    def _buffer(self, cells: Fields) -> None:
        name = cells.name("id")
        pools, costs = cells.pools()
        intervals = cells.intervals()
        buffer = self._buffers.get(name)
        if buffer is None:
            size, alignment = cells.bytes("size"), cells.optional("alignment", cells.positive)
            offset = cells.optional("offset", cells.bytes)
            self._buffers[name] = buffer = BufferDraft(name, size, cells.place, alignment or 1, pools, costs, offset)
            for pool in pools:
                self._mentioned.setdefault(pool, cells.place)
        else:
            self._agree(buffer, cells, pools, costs)
        buffer.intervals += intervals

    def _agree(self, buffer: BufferDraft, cells: Fields, pools: tuple[str, ...], costs: tuple[int, ...]) -> None:
        """Check that a row with a further interval of a buffer repeats its other fields, or leaves them empty."""
        repeated: dict[str, object] = {
            "size": cells.optional("size", cells.bytes),
            "alignment": cells.optional("alignment", cells.positive),
            "offset": cells.optional("offset", cells.bytes),
        }
        agreed: dict[str, object] = {"size": buffer.size, "alignment": buffer.alignment, "offset": buffer.offset}
        wrong = [key for key, value in repeated.items() if value not in (None, agreed[key])]
        if pools not in ((), buffer.pools) or costs not in ((), buffer.costs):
            wrong.append("pools")
        for key in wrong[:1]:
            message = f"buffer {quoted(buffer.name)} has a different `{key}` in an earlier row"
            help_ = "several rows are several intervals of one buffer; if it is another buffer, give it its own id"
            cells.fault("Q107", message, key, help_)
