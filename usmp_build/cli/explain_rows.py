"""`explain`: a tensor that is computed row by row: how many rows it has, where they go, and with whom they share bytes.

Rows count from 0.  Places that repeat are listed once:

    rows    25 of 320 bytes, each aligned to 1, at most 4 alive at the same time
    place   pool sram, bytes [380, 3,260) of 3,946
            row 0 at 1,340
            rows 1 to 23 go round 9 places: 1,020 700 1,340 1,980 2,620 380 2,940 2,300 1,660
            row 24 at 380

Rows that move are listed where they are written.  Where they are in several pools, there is a line for each pool, and
places are `sram+380`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from usmp_build.cli.explain_overlaps import apart_lines, reason_line
from usmp_build.layout import BufferRow, PoolRow, Summary
from usmp_build.units import show_bytes, show_range

_MOST_PLACES = 32
"""Most places that rows are said to go round."""
_SHOWN = 12
"""Most offsets shown of rows whose places do not repeat."""


def rows_lines(summary: Summary, tensor: str) -> list[str]:
    """Return what is to be said of all rows of a tensor; empty if it is not computed row by row."""
    rows = _rows_of(summary, tensor)
    if not rows:
        return []
    first, used = rows[0], {row.pool for row in rows}
    pools = [pool for pool in summary.pools if pool.name in used]
    start, stop = min(row.intervals[0][0] for row in rows), max(row.intervals[-1][1] for row in rows)
    written = [row for row in rows if row.moved is None]
    return [
        f"{tensor}: {first.kind}, {first.reason}",
        f"  rows    {len(written)} of {show_bytes(first.size)} bytes, each aligned to {first.alignment}, "
        f"at most {_most_alive(rows)} alive at the same time",
        *(f"  place   {_extent(pool, rows)}" for pool in pools),
        *_places(written, has_one_pool=len(pools) == 1),
        *_moves(rows),
        *([f"  scope   {first.scope}"] if first.scope not in ("", first.reason) else []),
        f"  alive   [{start}, {stop}): from {summary.steps[start].text} to {summary.steps[stop - 1].text}",
        *(line for pool in pools for line in _peak(pool, rows)),
        *_together(summary, rows),
        *apart_lines(rows, [other for other in summary.buffers if other.tensor != tensor]),
    ]


def _moves(rows: Sequence[BufferRow]) -> Iterator[str]:
    if moved := [row.moved for row in rows if row.moved is not None]:
        yield f"  moves   {len(moved)}, of {len({*moved})} rows, to make room for others"


def _rows_of(summary: Summary, tensor: str) -> list[BufferRow]:
    numbered = [(row.row, row) for row in summary.buffers if row.tensor == tensor and row.row is not None]
    return [row for _, row in sorted(numbered, key=itemgetter(0))]


def _places(rows: Sequence[BufferRow], has_one_pool: bool) -> Iterator[str]:
    """Yield lines with the offset of each row, and its pool where it is not always the same."""
    for line in place_lines([f"{'' if has_one_pool else f'{row.pool}+'}{show_bytes(row.offset)}" for row in rows]):
        yield f"          {line}"


def _extent(pool: PoolRow, rows: Sequence[BufferRow]) -> str:
    """Return which bytes of a pool rows fill, from the lowest to the highest."""
    places = [(row.offset, row.end) for row in rows if row.pool == pool.name]
    begin, end = min(begin for begin, _ in places), max(end for _, end in places)
    return f"pool {pool.name}, bytes {show_range(begin, end)} of {show_bytes(pool.size)}"


def _peak(pool: PoolRow, rows: Sequence[BufferRow]) -> Iterator[str]:
    setters = pool.certificate.buffers if pool.certificate and pool.size == pool.bound else ()
    if peak := sum(row.name in setters for row in rows):
        yield f"  peak    {peak} of the {len(setters)} buffers that set the size of {pool.name} are rows"


def _most_alive(rows: Sequence[BufferRow]) -> int:
    changes = sorted(
        (step, change) for row in rows for start, stop in row.intervals for step, change in ((start, 1), (stop, -1))
    )
    most = alive = 0
    for _, change in changes:
        alive += change
        most = max(most, alive)
    return most


def place_lines(places: Sequence[str]) -> Iterator[str]:
    """Yield where rows are: those that go round the same places in one line, and others before and after them."""
    stretch, period = _longest_repetition(places)
    yield from _listed(places, range(stretch.start))
    if period > 1:
        yield f"{_rows(stretch)} go round {period} places: {' '.join(places[stretch.start : stretch.start + period])}"
    elif stretch:
        yield f"{_rows(stretch)} at {places[stretch.start]}"
    yield from _listed(places, range(stretch.stop, len(places)))


def _longest_repetition(places: Sequence[str]) -> tuple[range, int]:
    """Return the longest stretch of rows that go round the same places twice or more, and how many places these are."""
    longest, count = range(0), 0
    for period in range(1, min(_MOST_PLACES, len(places) // 2) + 1):
        start = 0
        for row in range(period, len(places) + 1):
            if row == len(places) or places[row] != places[row - period]:
                if row - start >= max(2 * period, len(longest) + 1):
                    longest, count = range(start, row), period
                start = row - period + 1
    return longest, count


def _listed(places: Sequence[str], rows: range) -> Iterator[str]:
    if rows:
        more = " ..." if len(rows) > _SHOWN else ""
        yield f"{_rows(rows)} at {' '.join(places[rows.start : rows.stop][:_SHOWN])}{more}"


def _rows(rows: range) -> str:
    return f"rows {rows.start} to {rows[-1]}" if len(rows) > 1 else f"row {rows.start}"


def _together(summary: Summary, rows: Sequence[BufferRow]) -> Iterator[str]:
    """Yield lines for each tensor that rows share bytes with while both are alive, and the operator that allows it."""
    tensors = {buffer.name: buffer.tensor for buffer in summary.buffers}
    shared: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        for each in row.overlaps:
            shared.setdefault((tensors[each.buffer], each.operator, each.direction), []).append(each.bytes)
    for (tensor, operator, direction), sizes in shared.items():
        count = f"{len(sizes)} rows share" if len(sizes) > 1 else "1 row shares"
        most = show_bytes(max(sizes))
        yield f"  {count} up to {most} bytes with {tensor} while both are alive:"
        yield reason_line(operator, direction)
