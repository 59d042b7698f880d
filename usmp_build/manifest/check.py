"""Checks that the keys of a manifest are consistent: all checks that need more than one value."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import lcm

from usmp_build.errors import Diagnostic, Span
from usmp_build.manifest.addresses import addresses
from usmp_build.manifest.clashes import clashes
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.model_ports import model_ports
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.references import dangling
from usmp_build.manifest.rules import rules
from usmp_build.manifest.speed_and_cache import speed_and_cache
from usmp_build.manifest.unsupported import not_yet
from usmp_build.manifest.unused import unused

MOST = 256
"""Most pools, targets or models in one plan: planning time grows with the square of each, or faster."""
_WORD = 4
"""Bytes of a machine word: pages are multiples of it."""


def problems(manifest: Manifest, models: Collection[str] | None = None) -> Iterator[Diagnostic]:
    """Yield everything that is wrong; `models` are those that overrides add or move, None if not known yet."""
    yield from _too_many(manifest)
    for name, pool in manifest.pools.items():
        yield from _pool(name, pool, manifest)
    yield from speed_and_cache(manifest)
    yield from model_ports(manifest)
    yield from rules(manifest)
    yield from dangling(manifest, models)
    yield from clashes(manifest, models or ())
    yield from addresses(manifest)
    yield from unused(manifest, models)
    yield from not_yet(manifest)


def _too_many(manifest: Manifest) -> Iterator[Diagnostic]:
    for kind in ("pools", "targets"):
        if names := list(getattr(manifest, kind))[MOST:]:
            yield too_many(kind, MOST + len(names), manifest.places.key(kind, names[0]))


def too_many(kind: str, count: int, place: Span | str) -> Diagnostic:
    """Return the error for more pools, targets or models than one plan may have."""
    help_ = "split the manifest: each part is planned separately"
    return Diagnostic("M140", f"there are {count:,} {kind}; at most {MOST} are planned together", place, help_)


def _pool(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    path = ("pools", name)
    if set(manifest.places.keys(*path)) != pool.model_fields_set:
        return  # values that are wrong by themselves are missing here
    if pool.reserve and pool.size is None:
        message = f'pool "{name}" has "reserve" but no "size"'
        yield Diagnostic("M112", message, manifest.places.key(*path, "reserve"), "give `size`, or leave `reserve` out")
    elif pool.size is not None and pool.reserve >= pool.size:
        message = f'pool "{name}" reserves {pool.reserve:,} of its {pool.size:,} bytes: nothing is left'
        yield Diagnostic("M112", message, manifest.places.value(*path, "reserve"), "reserve less than `size`")
    elif pool.size is not None and pool.budget is not None and pool.budget > pool.size - pool.reserve:
        message = f'pool "{name}" has a budget of {pool.budget:,} bytes, but only {pool.size - pool.reserve:,} to use'
        help_ = "a budget warns before the limit is reached: give less than `size` less `reserve`"
        yield Diagnostic("M112", message, manifest.places.value(*path, "budget"), help_)
    if pool.origin is not None and pool.origin % pool.alignment:
        message = f'pool "{name}" is at 0x{pool.origin:X}, which is no multiple of its alignment, {pool.alignment}'
        help_ = "correct `origin`, or give a smaller `alignment`"
        yield Diagnostic("M112", message, manifest.places.value(*path, "origin"), help_)
    yield from _load_region(name, pool, manifest)
    yield from _pages(name, pool, manifest)


def _load_region(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    if pool.load_region is None:
        return
    problems = {
        'is a workspace, but has "load_region": nothing is loaded into it': pool.access == "rw",
        'has "load_region" but no "region" to be copied to': pool.region is None,
        f'is loaded into region "{pool.region}", where it is used': pool.region == pool.load_region,
    }
    place = manifest.places.value("pools", name, "load_region")
    for problem in [problem for problem, applies in problems.items() if applies][:1]:
        help_ = "leave `load_region` out, or name the region that is copied from, and in `region` the one copied to"
        yield Diagnostic("M112", f'pool "{name}" {problem}', place, help_)


def _pages(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    path, places = ("pools", name), manifest.places
    if pool.dims == 1 or pool.page_bytes is None:
        if pool.page_bytes is not None:
            help_ = "add `dims = 2`, or leave `page_bytes` out"
            message = f'pool "{name}" has "page_bytes", but its "dims" is 1: plain memory'
            yield Diagnostic("M112", message, places.key(*path, "page_bytes"), help_)
        if pool.dims > 1:
            message = f'pool "{name}" has "dims" {pool.dims} but no "page_bytes"'
            yield Diagnostic("M112", message, places.key(*path, "dims"), 'add for example: page_bytes = "2 KiB"')
        return
    if pool.access == "ro":
        message = f'pool "{name}" has "dims" {pool.dims}, but its access is "ro"'
        help_ = "leave `dims` and `page_bytes` out: constants are read from plain memory"
        yield Diagnostic("M112", message, places.key(*path, "dims"), help_)
    if pool.owner == "application":
        message = f'pool "{name}" has "dims" {pool.dims}, but its owner is "application"'
        help_ = 'write owner = "generated": tables of rows hold addresses that the linker must know'
        yield Diagnostic("M125", message, places.value(*path, "owner"), help_)
    multiple = lcm(pool.alignment, _WORD)
    if pool.page_bytes % multiple:
        message = f'pool "{name}" has "page_bytes" {pool.page_bytes:,}, which is no multiple of {multiple}'
        help_ = f"every page begins at a multiple of `alignment`, and of {_WORD} bytes"
        yield Diagnostic("M112", message, places.value(*path, "page_bytes"), help_)
    for key, size in (("size", pool.size), ("reserve", pool.reserve)):
        if size and size % pool.page_bytes:
            message = f'pool "{name}" has "{key}" {size:,}, which is not a number of pages of {pool.page_bytes:,} bytes'
            yield Diagnostic("M112", message, places.value(*path, key), "make it a multiple of `page_bytes`")
