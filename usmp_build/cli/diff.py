"""Compare two plans (plan.json): what grew, shrank, moved, came and went."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from usmp_build.cli.table import columns
from usmp_build.errors import UsageError
from usmp_build.files import DiskFiles
from usmp_build.layout import BufferRecord, PlanRecord, RowsRecord
from usmp_build.layout.plan_json import read_plan
from usmp_build.units import show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("old", help="plan.json before")
    parser.add_argument("new", help="plan.json after")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    old, new = _read(parsed.old), _read(parsed.new)
    print("\n".join(_pools(old, new)))
    changes = _buffers(old, new)
    if changes:
        print("\n".join(["", *changes]))
    return 0


def _read(path: str) -> PlanRecord:
    data = DiskFiles(Path(path).parent).read(Path(path).name)
    return read_plan(data, path, UsageError, "U204", "give the plan.json of two runs of generate")


def _pools(old: PlanRecord, new: PlanRecord) -> list[str]:
    before = {pool.name: pool.size for pool in old.pools}
    after = {pool.name: pool.size for pool in new.pools}
    rows = []
    for name in dict.fromkeys([*after, *before]):
        a, b = before.get(name, 0), after.get(name, 0)
        rows.append((name, show_bytes(a), show_bytes(b), f"{b - a:+,}"))
    return columns(("pool", "old", "new", "change"), rows, "<>>>")


def _buffers(old: PlanRecord, new: PlanRecord) -> list[str]:
    before = {buffer.name: buffer for buffer in old.buffers}
    after = {buffer.name: buffer for buffer in new.buffers}
    lines = [f"- {b.name}  {_size(b)}" for name, b in before.items() if name not in after]
    lines += [f"+ {b.name}  {_size(b)}" for name, b in after.items() if name not in before]
    for name in sorted(before.keys() & after.keys()):
        if _places(before[name]) != _places(after[name]):
            lines.append(f"~ {name}  {_moved(before[name], after[name])}")
    return lines


def _moved(old: BufferRecord | RowsRecord, new: BufferRecord | RowsRecord) -> str:
    if _place(old) != _place(new):
        return f"{_place(old)} -> {_place(new)}"
    return f"{_place(new)}: rows have other places among these"


def _places(buffer: BufferRecord | RowsRecord) -> tuple[object, ...]:
    """Return what makes two records places of the same bytes."""
    return buffer.pool, _size(buffer), buffer.offsets if isinstance(buffer, RowsRecord) else buffer.offset


def _place(buffer: BufferRecord | RowsRecord) -> str:
    """Return where a buffer begins; of rows, where the lowest and the highest one do, and how many places they have."""
    if isinstance(buffer, BufferRecord):
        return f"{buffer.pool}+{buffer.offset} ({_size(buffer)})"
    places = {*zip(buffer.pools, buffer.offsets, strict=True)}
    where = ", ".join(
        _range(pool, [offset for each, offset in places if each == pool]) for pool in sorted({*buffer.pools})
    )
    return f"{where} ({_size(buffer)} in {len(places)} place{'s' if len(places) > 1 else ''})"


def _range(pool: str, offsets: Sequence[int]) -> str:
    return f"{pool}+{min(offsets)}" + (f"..{max(offsets)}" if len(offsets) > 1 else "")


def _size(buffer: BufferRecord | RowsRecord) -> str:
    if isinstance(buffer, BufferRecord):
        return show_bytes(buffer.size)
    return f"{len(buffer.offsets)} row{'s' if len(buffer.offsets) > 1 else ''} of {show_bytes(buffer.row_size)}"
