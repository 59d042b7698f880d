"""Overrides: what build systems or the command line say about models; they take precedence over the manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen
from usmp_build.manifest.kinds import Access
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.references import undefined_pool, wrong_access
from usmp_build.request import Isa

_OPTIONS: Mapping[Access, str] = MappingProxyType({"rw": "--workspace-pools", "ro": "--constant-pools"})


@frozen
class NameList:
    """An option that gives a model a list of names: "--workspace-pools kws=dtcm,sram"."""

    option: str
    model: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.option} {self.model}={','.join(self.names)}"


@frozen
class Overrides:
    """What a build system or the command line says about the models of a plan; each mapping is by model."""

    models: tuple[str, ...] | None = None
    """Exactly those to plan; None: those of the manifest."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Files of models.  A model that the manifest does not have has defaults for everything else."""
    workspace_pools: Mapping[str, NameList] = field(default_factory=dict)
    """Instead of the manifest's."""
    constant_pools: Mapping[str, NameList] = field(default_factory=dict)
    concurrent: Mapping[str, NameList] = field(default_factory=dict)
    """Models that may run at the same time as this one, besides those in the manifest."""
    isa: Isa = Isa.PORTABLE
    """The instructions of targets for which the manifest has none."""

    def planned(self, manifest: Manifest) -> list[str]:
        """Return the names of the models to plan, sorted, whether or not they exist."""
        return sorted({*manifest.models, *self.paths} if self.models is None else set(self.models))

    def with_other_pools(self, manifest: Manifest) -> list[str]:
        """Return the planned models whose pools are overridden, or that the manifest does not have."""
        new = {name for name in self.paths if name not in manifest.models}
        return sorted({*new, *self.workspace_pools, *self.constant_pools}.intersection(self.planned(manifest)))

    def of(self, model: str) -> dict[str, tuple[str, ...]]:
        """Return the overrides of a model by key: pools in their order, other models sorted, paths left empty."""
        given: dict[str, tuple[str, ...]] = {"path": ()} if model in self.paths else {}
        if model in self.workspace_pools:
            given["workspace_pools"] = self.workspace_pools[model].names
        if model in self.constant_pools:
            given["constant_pools"] = self.constant_pools[model].names
        if model in self.concurrent:
            given["concurrent"] = tuple(sorted(self.concurrent[model].names))
        return given


NO_OVERRIDES = Overrides()
"""All is as the manifest says."""


def mistakes(overrides: Overrides, manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield names in overrides that are undefined, or of the wrong kind.

    Requires a valid manifest.
    """
    planned = overrides.planned(manifest)
    pools: Mapping[Access, Mapping[str, NameList]] = {"rw": overrides.workspace_pools, "ro": overrides.constant_pools}
    for access, lists in pools.items():
        for given in lists.values():
            yield from _not_planned(given, [given.model], planned)
            yield from _pools(given, access, manifest)
    for given in overrides.concurrent.values():
        yield from _not_planned(given, [given.model, *given.names], planned)
        if given.model in given.names:
            message = f"model {quoted(given.model)} cannot run at the same time as itself"
            yield Diagnostic("U235", message, str(given), "name other models of the plan")


def _not_planned(given: NameList, models: Sequence[str], planned: Collection[str]) -> Iterator[Diagnostic]:
    for model in models:
        if model not in planned:
            help_ = suggestion(model, planned, "models of the plan")
            yield Diagnostic("U234", f"the plan has no model {quoted(model)}", str(given), help_)


def _pools(given: NameList, access: Access, manifest: Manifest) -> Iterator[Diagnostic]:
    who = f"model {quoted(given.model)}"
    for name in given.names:
        if name not in manifest.pools:
            message, help_ = undefined_pool(who, name, manifest, given.option)
            yield Diagnostic("U233", message, str(given), help_)
        elif manifest.pools[name].access != access:
            message, help_ = wrong_access(who, name, manifest, _OPTIONS)
            yield Diagnostic("U233", message, str(given), help_)
