"""Where names of plug-ins come from: tables of our own, and entry points of other packages.

Both are given as "module:object" and loaded when they are asked for.  Two providers of one name are an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.frozen import frozen

_GROUPS = ("algorithms", "emitters", "importers", "kernels")


@frozen
class Provider:
    """Where a name comes from."""

    name: str
    target: str
    """"module:object"."""
    distribution: str
    """The package that brings it, with its version; empty for our own."""

    def load(self) -> Any:
        """Import the object.  Raises ManifestError when a foreign package does not hold what it promises."""
        module, _, attribute = self.target.partition(":")
        if not self.distribution:
            return getattr(import_module(module), attribute)
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            message = f'plug-in "{self.name}" of {self.distribution} cannot be loaded: {error}'
            raise ManifestError(
                Diagnostic("P405", message, help="install a version that works, or remove it")
            ) from None


def providers(group: str, builtin: Mapping[str, str]) -> dict[str, Provider]:
    """Return every provider of a group, sorted by name.  Raises ManifestError when two have one name."""
    providers_by_name = {name: Provider(name, target, "") for name, target in builtin.items()}
    for entry in _entries(tuple(sys.path))[group]:
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
        if entry.name in providers_by_name:
            other = providers_by_name[entry.name].distribution or "usmp_build"
            message = f'both {other} and {package} provide {group} called "{entry.name}"'
            raise ManifestError(Diagnostic("P401", message, help="uninstall one of them"))
        providers_by_name[entry.name] = Provider(entry.name, entry.value, package)
    return dict(sorted(providers_by_name.items()))


def installed() -> Iterator[EntryPoint]:
    """Yield the plug-ins of other packages."""
    for group in _GROUPS:
        yield from _entries(tuple(sys.path))[group]


@lru_cache(maxsize=16)
def _entries(path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the plug-ins on the path by group: looking takes milliseconds, and is done for each model and target."""
    del path
    everything = entry_points()
    return {group: tuple(everything.select(group=f"usmp_build.{group}")) for group in _GROUPS}


def choose(providers_by_name: Mapping[str, Provider], name: str, what: str, place: Span | str) -> Provider:
    """Return the provider of a name.  Raises ManifestError when there is none."""
    if name in providers_by_name:
        return providers_by_name[name]
    help_ = suggestion(name, providers_by_name, "there are")
    raise ManifestError(Diagnostic("P404", f'there is no {what} called "{name}"', place, help_))
