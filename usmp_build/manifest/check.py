"""Checks that the keys of a manifest are consistent: all checks that need more than one value."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import lcm
from typing import NamedTuple

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, Span
from usmp_build.manifest.clashes import clashes
from usmp_build.manifest.model import Manifest, Model
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.references import dangling
from usmp_build.manifest.rules import rules
from usmp_build.manifest.unsupported import not_yet
from usmp_build.units import align_up, count_bytes

MOST = 256
"""Most pools, targets or models in one plan: planning time grows with the square of each, or faster."""
_WORD = 4
"""Bytes of a machine word: pages are multiples of it."""

_CACHED = ("dma", "cacheable")
_LISTS = {"rw": "workspace_pools", "ro": "constant_pools"}


def problems(manifest: Manifest, models: Collection[str] | None = None) -> Iterator[Diagnostic]:
    """Yield everything that is wrong; `models` are those that overrides add or move, None if not known yet."""
    yield from _too_many(manifest)
    for name, pool in manifest.pools.items():
        yield from _pool(name, pool, manifest)
    yield from _speed_and_cache(manifest)
    yield from _model_ports(manifest)
    yield from rules(manifest)
    yield from dangling(manifest, models)
    yield from clashes(manifest, models or ())
    yield from _addresses(manifest)
    yield from _unused(manifest, models)
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


class _Range(NamedTuple):
    """The addresses that a pool may use."""

    start: int
    end: int
    """The first address after it; `start` when the pool has no size."""
    pool: str


def _addresses(manifest: Manifest) -> Iterator[Diagnostic]:
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


def _model_ports(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield models that keep inputs or outputs which are not in pools, or have rows from outside that cannot be."""
    yield from _kept_by_the_caller(manifest)
    yield from _rows_from_outside(manifest)


def _kept_by_the_caller(manifest: Manifest) -> Iterator[Diagnostic]:
    for name, model in manifest.models.items():
        for side, value in (("inputs", model.inputs), ("outputs", model.outputs)):
            if model.io == "application" and value in ("preserved", "reserved"):
                message = f'model "{name}" has {side} = "{value}", which is for pools, and io = "application"'
                help_ = f"leave `{side}` out: the arrays are the caller's, and nothing else uses their memory; or `io`"
                yield Diagnostic("M112", message, manifest.places.value("models", name, side), help_)


def _rows_from_outside(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield models with such ports where the manifest has layers run as a whole, or something computed again."""
    for name, model in manifest.models.items():
        recompute = manifest.plan.recompute if model.recompute is None else model.recompute
        obstacles = {
            "[plan] does not let layers run row by row": ("write rows = true in [plan]", not manifest.plan.rows),
            "[plan] has overlap = false, which is for whole layers": (
                "leave `overlap` out",
                not manifest.plan.overlap,
            ),
            'order = "file" is for whole layers': ("leave `order` out", model.order == "file"),
            f'recompute = "{recompute} %" is for whole inputs and outputs': (
                f'write recompute = "0 %" in [models.{name}]',
                recompute > 0,
            ),
        }
        for side in (side for side in ("inputs", "outputs") if getattr(model, side) == "rows"):
            for obstacle, (way_out, is_there) in obstacles.items():
                if is_there:
                    message = f'model "{name}" has {side} = "rows", but {obstacle}'
                    help_ = f"{way_out}, or another value of `{side}`"
                    yield Diagnostic("M112", message, manifest.places.value("models", name, side), help_)


def _speed_and_cache(manifest: Manifest) -> Iterator[Diagnostic]:
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


def _unused(manifest: Manifest, models: Collection[str] | None) -> Iterator[Diagnostic]:
    """Find pools that every model leaves out of its lists.

    `models` are those that overrides add, or give other pools; None when they are not known yet.
    """
    if models is None or models or not manifest.models:
        return
    if not _is_understood(manifest):
        return
    named = set(_named_in_rules(manifest))
    for name, pool in manifest.pools.items():
        key = _LISTS[pool.access]
        if name not in named and not any(_may_use(model, key, name) for model in manifest.models.values()):
            who, which = _models(manifest)
            message = f'no model may use pool "{name}": {who} lists other {key.replace("_", " ")}'
            help_ = f'add "{name}" to `{key}` of {which}, or remove [pools.{name}]'
            yield Diagnostic("M129", message, manifest.places.key("pools", name), help_)


def _is_understood(manifest: Manifest) -> bool:
    """Whether all models could be read, and list only pools that exist: misspelled names get another message."""
    for access, key in _LISTS.items():
        pool_names = {name for name, pool in manifest.pools.items() if pool.access == access}
        if any(not pool_names.issuperset(getattr(model, key) or ()) for model in manifest.models.values()):
            return False
    return {*manifest.places.keys("models")} == {*manifest.models}


def _models(manifest: Manifest) -> tuple[str, str]:
    names = [f'"{model}"' for model in manifest.models]
    alone = f"model {names[0]}"
    return (alone, alone) if len(names) == 1 else ("every model", f"a model ({', '.join(names)})")


def _may_use(model: Model, key: str, pool: str) -> bool:
    listed = getattr(model, key)
    return listed is None or pool in listed


def _named_in_rules(manifest: Manifest) -> Iterator[str]:
    """Yield the pools that rules name: whether these may be used is said of the rule."""
    for model in manifest.models.values():
        for place in model.place:
            yield from place.pools or ()
    for target in manifest.targets.values():
        for rule in target.rules:
            yield from rule.pools or ()
