"""Linker fragments to `INCLUDE` in the user's own script: an output section for each pool, and what start-up copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.emitters.render import render
from usmp_build.frozen import frozen
from usmp_build.layout import PoolRow
from usmp_build.layout.layout import Layout
from usmp_build.layout.plan_json import plan_hash
from usmp_build.naming import region_symbols
from usmp_build.output.bundle import OutputFile
from usmp_build.units import count_bytes, show_bytes


@frozen
class _Shared:
    """A region that several pools are in, or are loaded from."""

    region: str
    pools: tuple[PoolRow, ...]

    @property
    def needs(self) -> str:
        """Who needs how much of it, as a sentence without its end: linkers print no numbers."""
        each = " and ".join(f"{pool.name} ({count_bytes(pool.size)})" for pool in self.pools)
        return f"pools {each} need {show_bytes(sum(pool.size for pool in self.pools))} bytes"


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the fragments."""
    summary = layout.summary
    pools = _in_order(summary.pools)
    facts = {"objects": _objects(layout), "shared": _shared(pools), "region_symbols": region_symbols}
    facts["plan_hash"] = plan_hash(summary)
    yield OutputFile(f"{summary.project}.ld", render("plan.ld.j2", summary=summary, pools=pools, **facts))
    yield OutputFile(f"{summary.project}_copy_table.ld", render("copy_table.ld.j2", summary=summary))


def _in_order(pools: Sequence[PoolRow]) -> list[PoolRow]:
    """Return the pools that are not empty; those with an address first, because the others of a region follow them."""
    there = [pool for pool in pools if pool.size]
    fixed = [pool for pool in there if pool.origin is not None]
    fixed.sort(key=lambda pool: pool.origin or 0)
    return [*fixed, *(pool for pool in there if pool.origin is None)]


def _shared(pools: Sequence[PoolRow]) -> list[_Shared]:
    regions: dict[str, list[PoolRow]] = {}
    for pool in pools:
        for region in filter(None, (pool.region, pool.load_region)):
            regions.setdefault(region, []).append(pool)
    return [_Shared(region, tuple(members)) for region, members in regions.items() if len(members) > 1]


def _objects(layout: Layout) -> dict[str, list[str]]:
    """Return the C objects that must be in each pool's section; those of the application may be anywhere.

    Constants of a pool without a region may stay with those of the program, where scripts place `.rodata.*` as a whole.
    The names of the application's objects are not known.
    """
    objects: dict[str, list[str]] = {pool.name: [] for pool in layout.summary.pools}
    for pool in layout.summary.pools:
        if pool.is_workspace and not pool.is_passed:
            objects[pool.name].append(pool.symbol)
    for group in layout.constants:
        if group.pool.region and not group.pool.is_passed:
            objects[group.pool.name].append(group.symbol)
    return objects
