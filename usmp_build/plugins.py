"""Names → things: the built-in ones in tables, those of other packages by entry point.

Both are given as "module:object" and loaded when they are asked for.  Two providers of one name are an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ManifestError, ModelError, Span
from usmp_build.interfaces import Algorithm, Emitter, Importer, KernelLibrary
from usmp_build.interfaces.foreign import Foreign
from usmp_build.interfaces.options import options_of
from usmp_build.request import TargetRequest

ALGORITHMS = {
    "auto": "usmp_build.algorithms.auto:Auto",
    "exact": "usmp_build.algorithms.exact:Exact",
    "greedy_by_conflicts": "usmp_build.algorithms.greedy:GreedyByConflicts",
    "greedy_by_size": "usmp_build.algorithms.greedy:GreedyBySize",
    "hill_climb": "usmp_build.algorithms.hill_climb:HillClimb",
}
IMPORTERS = {
    ".model.txt": "usmp_build.importers.text:import_text",
    ".program.json": "usmp_build.importers.program:import_program",
    ".tflite": "usmp_build.importers.tflite:import_tflite",
}
KERNELS = {
    "extern": "usmp_build.kernels.extern:Extern",
    "reference": "usmp_build.kernels.reference:Reference",
}
EMITTERS = {
    "bazel": "usmp_build.emitters.bazel:emit",
    "c": "usmp_build.emitters.c:emit",
    "cmake": "usmp_build.emitters.cmake:emit",
    "linker": "usmp_build.emitters.linker:emit",
    "make": "usmp_build.emitters.make:emit",
    "plan.json": "usmp_build.emitters.plan_json:emit",
}

_GROUPS = ("algorithms", "emitters", "importers", "kernels")

_NOWHERE: Mapping[str, Span] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
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
    found = {name: Provider(name, target, "") for name, target in builtin.items()}
    for entry in _entries(group, tuple(sys.path)):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
        if entry.name in found:
            other = found[entry.name].distribution or "usmp_build"
            message = f'both {other} and {package} bring {group} called "{entry.name}"'
            raise ManifestError(Diagnostic("P401", message, help="uninstall one of them"))
        found[entry.name] = Provider(entry.name, entry.value, package)
    return dict(sorted(found.items()))


def installed() -> Iterator[EntryPoint]:
    """Yield the plug-ins of other packages."""
    for group in _GROUPS:
        yield from _entries(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _entries(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the plug-ins that are on the path: looking takes milliseconds, and is done for each model and target."""
    del path
    return tuple(entry_points(group=f"usmp_build.{group}"))


def algorithm(
    name: str, options: Mapping[str, object], place: Span | str, option_places: Mapping[str, Span] = _NOWHERE
) -> Algorithm:
    """Return the algorithm that the manifest asks for, with its options set.

    A ValueError of our own algorithms begins with the name of the option, in quotes.
    """
    provider = _choose(providers("algorithms", ALGORITHMS), name, "algorithm", place)
    made = provider.load()
    known = options_of(made)
    chosen = {}
    for key, value in options.items():
        where = option_places.get(key, place)
        if key not in known:
            help_ = f"its options are: {', '.join(known)}" if known else "it has no options"
            raise ManifestError(Diagnostic("P402", f'algorithm "{name}" has no option "{key}"', where, help_))
        try:
            chosen[key] = known[key].fitted(value)
        except TypeError as error:
            message = f'option "{key}" of algorithm "{name}" should be {error}'
            default = "" if known[key].default is MISSING else f"its default is {known[key].default!r}"
            raise ManifestError(Diagnostic("P406", message, where, default)) from None
    if provider.distribution:
        return Foreign(title(name), place, made, chosen)
    try:
        result: Algorithm = made(**chosen)
    except ValueError as error:
        where = next((option_places.get(key, place) for key in chosen if str(error).startswith(f'"{key}"')), place)
        raise ManifestError(Diagnostic("P406", f'algorithm "{name}": {error}', where, "correct the value")) from None
    return result


def title(algorithm: str) -> str:
    """Name an algorithm in a message, and the package that brings it."""
    package = providers("algorithms", ALGORITHMS)[algorithm].distribution
    return f'algorithm "{algorithm}"' + (f" of {package}" if package else "")


def importer_suffixes() -> list[str]:
    """Return how the names of model files end."""
    return list(providers("importers", IMPORTERS))


def importer(path: str, place: Span | str) -> Importer:
    """Return the importer for a file, by the end of its name."""
    found = providers("importers", IMPORTERS)
    for suffix, provider in found.items():
        if path.lower().endswith(suffix):
            result: Importer = provider.load()
            return result
    message = f'no importer reads "{path}"'
    raise ModelError(Diagnostic("P403", message, place, f"model files end in {' or '.join(found)}"))


def kernels(name: str, place: Span | str, target: TargetRequest | None = None) -> KernelLibrary:
    """Return the kernel library that the manifest asks for, to run operators on a target.

    A library that depends on the target has a function `for_target`, which makes it.
    """
    made = _choose(providers("kernels", KERNELS), name, "kernel library", place).load()
    library: KernelLibrary = made.for_target(target) if target and hasattr(made, "for_target") else made()
    return library


def emitters() -> tuple[Emitter, ...]:
    """Return all emitters, by name."""
    return tuple(provider.load() for provider in providers("emitters", EMITTERS).values())


def _choose(found: Mapping[str, Provider], name: str, what: str, place: Span | str) -> Provider:
    if name in found:
        return found[name]
    help_ = suggestion(name, found, "there are")
    raise ManifestError(Diagnostic("P404", f'there is no {what} called "{name}"', place, help_))
