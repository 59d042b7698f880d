"""Pools that no model may use."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from usmp_build.errors import Diagnostic
from usmp_build.manifest.model import Manifest, Model

_LISTS = {"rw": "workspace_pools", "ro": "constant_pools"}


def unused(manifest: Manifest, models: Collection[str] | None) -> Iterator[Diagnostic]:
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
    """Return what to call all models, and one of them."""
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
