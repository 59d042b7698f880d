"""Checks that pools with known addresses do not overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.errors import Diagnostic
from usmp_build.manifest.model import Manifest
from usmp_build.units import align_up, count_bytes


class _Range(NamedTuple):
    """The addresses that a pool may use."""

    start: int
    end: int
    """The first address after it; `start` when the pool has no size."""
    pool: str


def addresses(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield pools that overlap, as far as origins and sizes show that before planning."""
    ranges = sorted(_ranges(manifest))
    for position, later in enumerate(ranges):
        for former in ranges[:position]:
            if later.start < former.end or later.start == former.start:
                yield _overlap(manifest, former, later)
                break


def _ranges(manifest: Manifest) -> Iterator[_Range]:
    for name, pool in manifest.pools.items():
        if pool.origin is not None:
            yield _Range(pool.origin, pool.origin + max(0, (pool.size or 0) - pool.reserve), name)


def _overlap(manifest: Manifest, former: _Range, later: _Range) -> Diagnostic:
    place = manifest.places.value("pools", later.pool, "origin")
    if later.start >= former.end:  # the former has no size
        message = f'pools "{former.pool}" and "{later.pool}" are both at 0x{later.start:08X}'
        return Diagnostic(
            "M128", message, place, f'move one of them; with a `size` for "{former.pool}" we say where to'
        )
    over = former.end - later.start
    message = (
        f'pool "{later.pool}" is at 0x{later.start:08X}, which is in pool "{former.pool}": '
        f"{count_bytes(former.end - former.start)} from 0x{former.start:08X}"
    )
    smaller = f', or take {count_bytes(over)} off the `size` of "{former.pool}"' if later.start > former.start else ""
    free = align_up(former.end, manifest.pools[later.pool].alignment)
    help_ = f"move it by {count_bytes(free - later.start)}, to 0x{free:08X}, or beyond{smaller}"
    return Diagnostic("M128", message, place, help_)
