"""Whether what a manifest says of the speed and the cache of its memories goes together."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.pool_table import Pool

_CACHED = ("dma", "cacheable")


def speed_and_cache(manifest: Manifest) -> Iterator[Diagnostic]:
    """Find speeds that cannot be compared, and cache settings that are incomplete or contradictory."""
    places = manifest.places
    good = {n: pool for n, pool in manifest.pools.items() if set(places.keys("pools", n)) == pool.model_fields_set}
    yield from _clocks(manifest, good)
    for name, pool in good.items():
        yield from _cache(name, pool, manifest)
        yield from _lines(name, pool, manifest)


def _clocks(manifest: Manifest, pools: dict[str, Pool]) -> Iterator[Diagnostic]:
    """Cycles of a clock that is known, and cycles of one that is not, cannot be compared."""
    fast = {name: pool for name, pool in pools.items() if _has_bandwidth(pool)}
    clocked = [name for name, pool in fast.items() if pool.clock_frequency_hz is not None]
    for name, pool in fast.items():
        if clocked and pool.clock_frequency_hz is None:
            message = f'pool "{name}" has a bandwidth but no clock, while pool "{clocked[0]}" has both'
            help_ = "give `clock_frequency_hz` for every pool with a bandwidth, or for none: then cycles are compared"
            yield Diagnostic("M131", message, manifest.places.key("pools", name), help_)


def _has_bandwidth(pool: Pool) -> bool:
    return (pool.read_bandwidth_bytes_per_cycle or pool.write_bandwidth_bytes_per_cycle) is not None


def _cache(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    path, places = ("pools", name), manifest.places
    missing = [attribute for attribute in _CACHED if attribute not in pool.attributes]
    if pool.cache_line is not None and pool.access == "ro":
        message = f'pool "{name}" has "cache_line", but its access is "ro"'
        help_ = "leave `cache_line` out: nothing writes there while models run, so what is cached is what is in memory"
        yield Diagnostic("M132", message, places.key(*path, "cache_line"), help_)
    elif pool.cache_line is not None and missing:
        message = f'pool "{name}" has "cache_line", which has no effect without the attribute {quoted(missing[0])}'
        help_ = 'write attributes = ["dma", "cacheable"], or leave `cache_line` out'
        yield Diagnostic("M132", message, places.key(*path, "cache_line"), help_)
    elif pool.cache_line is None and pool.access == "rw" and not missing:
        message = f'pool "{name}" has the attributes "dma" and "cacheable", but no "cache_line"'
        help_ = "add the bytes of a cache line, for example: cache_line = 32"
        yield Diagnostic("M132", message, places.value(*path, "attributes"), help_)


def _lines(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    """The pool, and its pages, begin where a cache line does."""
    line, places = pool.cache_line, manifest.places
    if line is None:
        return
    if pool.origin is not None and pool.origin % line:
        message = f'pool "{name}" is at 0x{pool.origin:X}, within a cache line of {line} bytes'
        help_ = "correct `origin`: the pool shares its first line with what is before it"
        yield Diagnostic("M133", message, places.value("pools", name, "origin"), help_)
    if pool.page_bytes is not None and pool.page_bytes % line:
        message = f'pool "{name}" has "page_bytes" {pool.page_bytes:,}, no multiple of its "cache_line", {line}'
        help_ = "make it a multiple: rows in different pages share no line"
        yield Diagnostic("M133", message, places.value("pools", name, "page_bytes"), help_)
