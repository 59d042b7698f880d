"""Whether the words of a manifest go together: the checks that need more than one value."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from usmp_build.errors import Diagnostic
from usmp_build.manifest.clashes import clashes
from usmp_build.manifest.explain import shown
from usmp_build.manifest.model import Manifest, Place, Pool
from usmp_build.manifest.references import dangling
from usmp_build.manifest.unsupported import not_yet


def problems(manifest: Manifest, models: Collection[str] | None = None) -> Iterator[Diagnostic]:
    """Find everything that is wrong; `models` are those that the build system brings, None when that is not known."""
    for name, pool in manifest.pools.items():
        yield from _pool(name, pool, manifest)
    for name, model in manifest.models.items():
        for position, place in enumerate(model.place):
            yield from _place(place, ("models", name, "place", position), manifest)
    yield from dangling(manifest, models)
    yield from clashes(manifest, models or ())
    yield from not_yet(manifest)


def _pool(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    path = ("pools", name)
    if set(manifest.places.keys(*path)) != pool.model_fields_set:
        return  # some of it is wrong by itself
    if pool.reserve and pool.size is None:
        message = f'pool "{name}" has "reserve" but no "size"'
        yield Diagnostic("M112", message, manifest.places.key(*path, "reserve"), "give `size`, or leave `reserve` out")
    elif pool.size is not None and pool.reserve >= pool.size:
        message = f'pool "{name}" reserves {pool.reserve:,} of its {pool.size:,} bytes: nothing is left'
        yield Diagnostic("M112", message, manifest.places.value(*path, "reserve"), "reserve less than `size`")
    if pool.origin is not None and pool.origin % pool.alignment:
        message = f'pool "{name}" is at 0x{pool.origin:X}, which is no multiple of its alignment, {pool.alignment}'
        help_ = "correct `origin`, or give a smaller `alignment`"
        yield Diagnostic("M112", message, manifest.places.value(*path, "origin"), help_)
    yield from _load_region(name, pool, manifest)


def _load_region(name: str, pool: Pool, manifest: Manifest) -> Iterator[Diagnostic]:
    if pool.load_region is None:
        return
    problems = {
        'is a workspace, but has "load_region": nothing is loaded into it': pool.access == "rw",
        'has "load_region" but no "region" to be copied to': pool.region is None,
        f'is loaded into region "{pool.region}", where it is used': pool.region == pool.load_region,
    }
    place = manifest.places.value("pools", name, "load_region")
    for problem in [problem for problem, there in problems.items() if there][:1]:
        help_ = "leave `load_region` out, or name the region that is copied from, and in `region` the one copied to"
        yield Diagnostic("M112", f'pool "{name}" {problem}', place, help_)


def _place(place: Place, path: tuple[str | int, ...], manifest: Manifest) -> Iterator[Diagnostic]:
    where = manifest.places
    selectors = [key for key in ("operators", "tensors", "range") if key in place.model_fields_set]
    effects = place.model_fields_set - set(selectors)
    if set(where.keys(*path)) != place.model_fields_set:
        return
    if not selectors:
        help_ = 'add for example: operators = "CONV_2D"'
        yield Diagnostic("M112", f"{shown(path)} selects nothing", where.value(*path), help_)
    for key in selectors[1:]:
        message = f'{shown(path)} selects by "{selectors[0]}" and by "{key}"'
        yield Diagnostic("M112", message, where.key(*path, key), "write one rule for each")
    if not effects:
        help_ = "add `target`, `pools`, `kernels` or `axis_separators`"
        yield Diagnostic("M112", f"{shown(path)} changes nothing", where.value(*path), help_)
    if place.range and place.range[0] > place.range[1]:
        message = f'"range" goes from {place.range[0]} to {place.range[1]}'
        yield Diagnostic("M112", message, where.value(*path, "range"), "the first operator comes first")
