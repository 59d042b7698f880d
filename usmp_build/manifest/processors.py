"""Resolves processors for a `Request`: targets and their rules, the targets that reach a pool, places of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from usmp_build.manifest import defaults
from usmp_build.manifest.model import Manifest, Model, Place, Target, TargetRule
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.rules import SELECTORS
from usmp_build.request import Copying, Isa, OperandRule, PlaceRequest, TargetRequest


class Processors:
    """Replaces names of pools and targets by positions.  All names must be defined."""

    def __init__(self, manifest: Manifest, pools: Sequence[str], isa: Isa = Isa.PORTABLE) -> None:
        """`isa` is that of targets for which the manifest has none."""
        self._manifest = manifest
        self._isa = isa
        self._pools = {name: position for position, name in enumerate(pools)}
        names = dict.fromkeys([defaults.TARGET, *manifest.targets])
        self._targets = {name: position for position, name in enumerate(names)}

    def targets(self) -> tuple[TargetRequest, ...]:
        """Return the targets: "cpu" first, declared or not, then the others in the order of the manifest."""
        return tuple(map(self._target, self._targets))

    def places(self, name: str, model: Model) -> tuple[PlaceRequest, ...]:
        """Return the rules of `place` for operators and tensors of a model."""
        return tuple(self._place(place, name, position) for position, place in enumerate(model.place))

    def reach(self, pool: Pool) -> tuple[frozenset[int], frozenset[int]]:
        """Return who reads a pool, and who writes it: nothing where it is `ro`."""
        everyone = tuple(self._targets)
        named = everyone if pool.targets is None else pool.targets
        access = named if isinstance(named, Mapping) else dict.fromkeys(named, "rw")
        readers = frozenset(self._targets[name] for name in access)
        writers = frozenset(self._targets[name] for name, how in access.items() if how == pool.access == "rw")
        return readers, writers

    def by_target(self, numbers: Mapping[str, int]) -> Mapping[int, int]:
        """Return numbers that are given by the names of targets by their positions."""
        return {self._targets[name]: number for name, number in numbers.items()}

    def _target(self, name: str) -> TargetRequest:
        target = self._manifest.targets.get(name, Target())
        places = self._manifest.places
        return TargetRequest(
            name,
            target.kernels,
            Copying(target.copies),
            self._isa if target.isa is None else Isa(target.isa),
            tuple(self._rules(name, target.rules)),
            span=places.key("targets", name),
            kernels_span=places.value("targets", name, "kernels"),
        )

    def _rules(self, target: str, rules: Sequence[TargetRule]) -> Iterator[OperandRule]:
        places = self._manifest.places
        for position, rule in enumerate(rules):
            path = ("targets", target, "rules", position)
            yield OperandRule(
                operators=rule.operators,
                operands=rule.operands or (),
                pools=self._positions(rule.pools),
                scratch=rule.scratch or 0,
                alignment=rule.alignment or 1,
                span=places.key(*path, "operators") if places.has(*path, "operators") else places.value(*path),
            )

    def _place(self, place: Place, model: str, position: int) -> PlaceRequest:
        selector = next(key for key in SELECTORS if key in place.model_fields_set)
        return PlaceRequest(
            operators=place.operators or "",
            tensors=place.tensors or "",
            scope=place.scope or "",
            positions=(place.range[0], place.range[1]) if place.range else None,
            operands=place.operands or (),
            target=None if place.target is None else self._targets[place.target],
            pools=self._positions(place.pools),
            kernels=place.kernels or "",
            axis_separators=place.axis_separators,
            span=self._manifest.places.key("models", model, "place", position, selector),
        )

    def _positions(self, pools: Sequence[str] | None) -> tuple[int, ...]:
        return tuple(self._pools[name] for name in pools or ())
