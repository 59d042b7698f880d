"""Finds names that refer to something undefined, or of the wrong kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, Span
from usmp_build.manifest import defaults
from usmp_build.manifest.kinds import Access
from usmp_build.manifest.locate import Path
from usmp_build.manifest.model import Manifest

_LISTS: Mapping[Access, str] = MappingProxyType({"rw": "workspace_pools", "ro": "constant_pools"})


def dangling(manifest: Manifest, models: Collection[str] | None) -> Iterator[Diagnostic]:
    """Yield references to undefined pools, targets and models.

    `models` are those that overrides add; None: not known yet, so that models are not checked.
    """
    for name, model in manifest.models.items():
        path: Path = ("models", name)
        who = f'model "{name}"'
        yield from _pools(manifest, who, model.workspace_pools, (*path, "workspace_pools"), "rw")
        yield from _pools(manifest, who, model.constant_pools, (*path, "constant_pools"), "ro")
        for position, place in enumerate(model.place):
            yield from _pools(manifest, who, place.pools, (*path, "place", position, "pools"), None)
    for name, target in manifest.targets.items():
        for position, rule in enumerate(target.rules):
            path = ("targets", name, "rules", position, "pools")
            yield from _pools(manifest, f'target "{name}"', rule.pools, path, None)
    yield from _targets(manifest)
    if models is not None:
        yield from _models(manifest, models)


def undefined_model(name: str, defined_models: Iterable[str]) -> tuple[str, str]:
    """Return the message for an undefined model, as a clause, and the help."""
    names = list(defined_models)
    help_ = suggestion(name, names, "defined models") if names else "add its table, [models.*], with its path"
    return f"model {quoted(name)}, which no [models.*] defines", help_


def undefined_pool(who: str, name: str, manifest: Manifest, word: str) -> tuple[str, str]:
    """Return the message for an undefined pool, which `who` names in `word`, and the help."""
    defined = [str(key) for key in manifest.places.keys("pools")]
    none = f'add a table [pools.*] for it, or leave "{word}" out'
    message = f"{who} names pool {quoted(name)}, which no [pools.*] defines"
    return message, suggestion(name, defined, "defined pools") if defined else none


def wrong_access(who: str, name: str, manifest: Manifest, lists: Mapping[Access, str] = _LISTS) -> tuple[str, str]:
    """Return the message for a pool in the wrong one of two lists for its access, and the help."""
    here = manifest.pools[name].access
    access: Access = "ro" if here == "rw" else "rw"
    use = "to work in" if access == "rw" else "for constants"
    fit = [key for key, pool in manifest.pools.items() if pool.access == access]
    pools = f'pools with access "{access}": {", ".join(fit)}' if fit else f'no pool has access "{access}"'
    message = f'{who} names pool "{name}" {use}, but its access is "{here}"'
    return message, f"it may stand in {lists[here]}; {pools}"


def _pools(
    manifest: Manifest, who: str, names: Iterable[str] | None, path: Path, access: Access | None
) -> Iterator[Diagnostic]:
    for position, name in enumerate(names or ()):
        place = manifest.places.value(*path, position)
        if not manifest.places.has("pools", name):
            message, help_ = undefined_pool(who, name, manifest, str(path[-1]))
            yield Diagnostic("M104", message, place, help_)
        elif access and name in manifest.pools and manifest.pools[name].access != access:
            message, help_ = wrong_access(who, name, manifest)
            yield Diagnostic("M114", message, place, help_)


def _targets(manifest: Manifest) -> Iterator[Diagnostic]:
    defined = dict.fromkeys([defaults.TARGET, *map(str, manifest.places.keys("targets"))])
    for who, name, place in _uses_of_targets(manifest):
        if name not in defined:
            message = f"{who} names target {quoted(name)}, which no [targets.*] defines"
            yield Diagnostic("M118", message, place, suggestion(name, defined, "defined targets"))


def _uses_of_targets(manifest: Manifest) -> Iterator[tuple[str, str, Span]]:
    """Yield who names a target, its name, and where: as a key or as a value."""
    places = manifest.places
    for name, pool in manifest.pools.items():
        who = f'pool "{name}"'
        for position, target in enumerate(pool.targets or ()):
            part = position if isinstance(pool.targets, tuple) else target
            yield who, target, places.key("pools", name, "targets", part)
        for target in pool.target_burst_bytes:
            yield who, target, places.key("pools", name, "target_burst_bytes", target)
    for name, model in manifest.models.items():
        for position, place in enumerate(model.place):
            if place.target is not None:
                where = places.value("models", name, "place", position, "target")
                yield f'model "{name}"', place.target, where


def _models(manifest: Manifest, added: Collection[str]) -> Iterator[Diagnostic]:
    defined = dict.fromkeys([*manifest.models, *added])
    for position, group in enumerate(manifest.concurrent):
        for member, name in enumerate(group):
            if name not in defined:
                message, help_ = undefined_model(name, defined)
                place = manifest.places.value("concurrent", position, member)
                yield Diagnostic("M117", f'"concurrent" names {message}', place, help_)
    for position, connection in enumerate(manifest.connections):
        for key, port in (("from", connection.from_), ("to", connection.to)):
            name = port.split(".")[0]
            if name not in defined:
                message, help_ = undefined_model(name, defined)
                place = manifest.places.value("connections", position, key)
                yield Diagnostic("M117", f'"{key}" names {message}', place, help_)
