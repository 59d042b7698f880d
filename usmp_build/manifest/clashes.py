"""Finds names that clash: in the generated C, as files, or as linker sections."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, Span
from usmp_build.manifest import defaults
from usmp_build.manifest.model import Manifest
from usmp_build.naming import model_files, plan_files

_HEADERS = frozenset(
    """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
    alloca features malloc memory strings unistd""".split()
)
"""Headers of C and of common libraries: a generated file with such a name would hide them."""
_DEVICES = frozenset(["aux", "con", "nul", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))])
"""Names that no file may have on Windows."""


def clashes(manifest: Manifest, added: Collection[str]) -> Iterator[Diagnostic]:
    """Yield names that clash; `added` are models of overrides."""
    yield from _files(manifest, added)
    for kind in ("pools", "targets"):
        yield from _alike(manifest, kind)
    yield from _implicit_pools(manifest)
    yield from _sections(manifest)
    for model in manifest.models:
        yield from _tensors(manifest, model)


def pool_bytes(manifest: Manifest) -> list[str]:
    """Return the names of the pools whose bytes are files: constant pools of the application."""
    return [name for name, pool in manifest.pools.items() if (pool.access, pool.owner) == ("ro", "application")]


def file_problem(name: str) -> str:
    """Return why no file should have this name, whatever its suffix, as a clause; empty when one may."""
    if name.lower() in _HEADERS:
        return f"hides the header <{name.lower()}.h>"
    return "is not the name of a file on Windows" if name.lower() in _DEVICES else ""


def _files(manifest: Manifest, added: Collection[str]) -> Iterator[Diagnostic]:
    """Yield clashes of files, which are named after the project and models, on disks that may ignore case."""
    project = manifest.project.name
    project_place: Span | str = manifest.places.value("project", "name")
    owners = [("the project", project, plan_files(project, pool_bytes(manifest)), project_place)]
    for name in dict.fromkeys([*manifest.models, *added]):
        owners.append((f'model "{name}"', name, model_files(name), _model_place(manifest, name)))
    taken: dict[str, str] = {}
    for who, name, files, place in owners:
        other = next((file for file in files if taken.get(file.lower(), who) != who), "")
        if other and name.lower() == project.lower():
            message = f"{who} and the project have the same name: both get a file {other}"
            help_ = "rename the project, `name` in [project]: code calls models by their names, and the project by none"
            yield Diagnostic("M110", message, project_place, help_)
        elif other:
            message = f"{who} gets a file {other}, as does {taken[other.lower()]}"
            yield Diagnostic("M110", message, place, "choose another name; case does not count")
        elif file_problem(name):
            yield Diagnostic("M110", f"{who} gets a file {name}.h, which {file_problem(name)}", place, "rename it")
        for file in files:
            taken.setdefault(file.lower(), who)


def _model_place(manifest: Manifest, name: str) -> Span | str:
    return manifest.places.key("models", name) if name in manifest.models else manifest.places.source.file


def _alike(manifest: Manifest, kind: str) -> Iterator[Diagnostic]:
    """Yield names that differ only by case: they would become one macro."""
    taken: dict[str, str] = {}
    for name in getattr(manifest, kind):
        other = taken.setdefault(name.lower(), name)
        if other != name:
            message = f'{kind[:-1]} "{name}" differs from {kind[:-1]} "{other}" only in case'
            yield Diagnostic("M110", message, manifest.places.key(kind, name), "rename one: macros are in upper case")


def _implicit_pools(manifest: Manifest) -> Iterator[Diagnostic]:
    declared = {pool.access for pool in manifest.pools.values()}
    for access, implicit in defaults.IMPLICIT_POOLS.items():
        for name in manifest.pools:
            if access not in declared and name.lower() == implicit.name:
                message = f'pool "{name}" has the name of the default pool where none has access "{access}"'
                help_ = f'rename it, or declare a pool with access "{access}"'
                yield Diagnostic("M110", message, manifest.places.key("pools", name), help_)


def _sections(manifest: Manifest) -> Iterator[Diagnostic]:
    project, places = manifest.project.name, manifest.places
    declared = {pool.access for pool in manifest.pools.values()}
    taken = {
        pool.section(project): pool.name for access, pool in defaults.IMPLICIT_POOLS.items() if access not in declared
    }
    for name, pool in manifest.pools.items():
        section = pool.section or defaults.section(project, name)
        other = taken.setdefault(section, name)
        if other != name:
            message = f'pools "{other}" and "{name}" are both in section "{section}"'
            place = places.value("pools", name, "section")
            yield Diagnostic("M116", message, place, "give each its own section; a region may hold several")


def _tensors(manifest: Manifest, model: str) -> Iterator[Diagnostic]:
    """Yield clashes of the C names of inputs and outputs: fields of structs, and parts of macros."""
    taken: dict[str, str] = {}
    for tensor, name in manifest.models[model].names.items():
        other = taken.setdefault(name.lower(), tensor)
        if other != tensor:
            message = f'model "{model}" calls two tensors "{name}": {quoted(other)} and {quoted(tensor)}'
            place = manifest.places.value("models", model, "names", tensor)
            yield Diagnostic("M110", message, place, "rename one; case does not count")
