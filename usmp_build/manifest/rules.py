"""Whether the rules of a manifest, those of targets and the places of models, say something, and one thing only."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic
from usmp_build.manifest.explain import shown
from usmp_build.manifest.locate import Path, Places
from usmp_build.manifest.model import Manifest, Place, Target, TargetRule
from usmp_build.manifest.table import Table

SELECTORS = ("operators", "tensors", "scope", "range")


def rules(manifest: Manifest) -> Iterator[Diagnostic]:
    """Find rules that say nothing, or what contradicts itself."""
    places = manifest.places
    for name, target in manifest.targets.items():
        for position, rule in enumerate(target.rules):
            path: Path = ("targets", name, "rules", position)
            if _is_read(rule, path, places):
                yield from _rule(rule, path, places)
                yield from _scratch(rule, path, places, name, target)
    for name, model in manifest.models.items():
        for position, place in enumerate(model.place):
            path = ("models", name, "place", position)
            if _is_read(place, path, places):
                yield from _place(place, path, places)


def _is_read(table: Table, path: Path, places: Places) -> bool:
    """Whether all keys of a table are good by themselves: only then is there more to say."""
    return set(places.keys(*path)) == table.model_fields_set


def _rule(rule: TargetRule, path: Path, places: Places) -> Iterator[Diagnostic]:
    if not rule.model_fields_set & {"pools", "scratch", "alignment"}:
        help_ = "add `pools`, `scratch` or `alignment`"
        yield Diagnostic("M112", f"{shown(path)} demands nothing", places.value(*path), help_)
    elif rule.operands and rule.model_fields_set <= {"operators", "operands", "scratch"}:
        message = '"operands" selects what `pools` and `alignment` apply to, and neither is given'
        yield Diagnostic("M112", message, places.key(*path, "operands"), "add one of them, or leave `operands` out")


def _scratch(rule: TargetRule, path: Path, places: Places, name: str, target: Target) -> Iterator[Diagnostic]:
    if rule.scratch is not None and target.kernels != "extern":
        message = f'target "{name}" states "scratch", but has the kernels {quoted(target.kernels)}'
        help_ = 'leave it out: these kernels declare their scratch memory; only kernels = "extern" needs this key'
        yield Diagnostic("M112", message, places.key(*path, "scratch"), help_)


def _place(place: Place, path: Path, places: Places) -> Iterator[Diagnostic]:
    selectors = [key for key in SELECTORS if key in place.model_fields_set]
    if not selectors:
        help_ = 'add for example: operators = "CONV_2D"'
        yield Diagnostic("M112", f"{shown(path)} selects nothing", places.value(*path), help_)
    for key in selectors[1:]:
        message = f'{shown(path)} selects by "{selectors[0]}" and by "{key}"'
        yield Diagnostic("M112", message, places.key(*path, key), "write one rule for each")
    if not place.model_fields_set - {*SELECTORS, "operands"}:
        help_ = "add `target`, `pools`, `kernels` or `axis_separators`"
        yield Diagnostic("M112", f"{shown(path)} changes nothing", places.value(*path), help_)
    elif place.operands and place.pools is None:
        message = '"operands" selects the operands that `pools` applies to, and there is no "pools"'
        yield Diagnostic("M112", message, places.key(*path, "operands"), "add `pools`, or leave `operands` out")
    for selector in {"tensors", "scope"} & place.model_fields_set:
        for key in ("target", "kernels", "operands"):
            if key in place.model_fields_set:
                message = f'"{key}" applies to operators, but "{selector}" selects tensors'
                help_ = f"select by `operators` or `range`, or leave `{key}` out"
                yield Diagnostic("M112", message, places.key(*path, key), help_)
    if place.range and place.range[0] > place.range[1]:
        message = f'"range" goes from {place.range[0]} to {place.range[1]}'
        yield Diagnostic("M112", message, places.value(*path, "range"), "the first operator comes first")
