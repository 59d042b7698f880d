"""Resolves pools for a `Request`: the declared ones, and the implicit ones where none is declared."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.errors import Span
from usmp_build.manifest import defaults
from usmp_build.manifest.locate import Places
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.processors import Processors
from usmp_build.request import Access, Owner, PoolRequest, Speed


def requested(manifest: Manifest, processors: Processors) -> tuple[PoolRequest, ...]:
    """Return all pools: the declared ones in the manifest's order, then the implicit ones."""
    return (*_declared(manifest, processors), *_implicit(manifest, processors))


def _declared(manifest: Manifest, processors: Processors) -> Iterator[PoolRequest]:
    for name, pool in manifest.pools.items():
        readers, writers = processors.reach(pool)
        yield PoolRequest(
            name=name,
            access=Access(pool.access),
            limit=None if pool.size is None else pool.size - pool.reserve,
            alignment=pool.alignment,
            region=pool.region or "",
            load_region=pool.load_region or "",
            section=pool.section or defaults.section(manifest.project.name, name),
            origin=pool.origin,
            span=_span_of_size(manifest.places, name),
            readers=readers,
            writers=writers,
            page=pool.page_bytes or 0,
            dims=pool.dims,
            owner=Owner(pool.owner),
            cache_line=pool.cache_line or 0,
            speed=_speed(pool, processors),
            budget=pool.budget,
        )


def _span_of_size(places: Places, pool: str) -> Span:
    """Return the place of a pool's size, or of its table if it has none."""
    return places.value("pools", pool, "size") if places.has("pools", pool, "size") else places.key("pools", pool)


def _speed(pool: Pool, processors: Processors) -> Speed | None:
    figures = (
        pool.clock_frequency_hz,
        pool.read_bandwidth_bytes_per_cycle,
        pool.write_bandwidth_bytes_per_cycle,
        pool.read_latency_cycles,
        pool.write_latency_cycles,
    )
    if all(number is None for number in figures) and not pool.target_burst_bytes:
        return None
    return Speed(*figures, processors.by_target(pool.target_burst_bytes))


def _implicit(manifest: Manifest, processors: Processors) -> Iterator[PoolRequest]:
    declared = {pool.access for pool in manifest.pools.values()}
    for access, implicit in defaults.IMPLICIT_POOLS.items():
        if access not in declared:
            pool = Pool(access=access)
            readers, writers = processors.reach(pool)
            yield PoolRequest(
                name=implicit.name,
                access=Access(access),
                limit=None,
                alignment=pool.alignment,
                region="",
                load_region="",
                section=implicit.section(manifest.project.name),
                origin=None,
                readers=readers,
                writers=writers,
            )
