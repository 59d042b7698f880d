"""Lists the files of the generator, ours and those of plug-ins, as dependencies of what is generated."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

import usmp_build
from usmp_build.providers import installed

_SUFFIXES = (".py", ".j2", ".c", ".h")
"""Suffixes of code, templates and kernels."""


def generator_files() -> Iterator[str]:
    """Yield the paths of these files."""
    for path in _below(Path(usmp_build.__file__).parent):
        yield path.as_posix()
    for path in sorted({path for entry in installed() for path in _plugin_files(entry)}):
        yield path.as_posix()


def _plugin_files(entry: EntryPoint) -> Iterator[Path]:
    """Yield the files of the package of a plug-in, and the one that names the plug-in."""
    for file in (entry.dist.files if entry.dist else None) or ():
        if file.name == "entry_points.txt":
            yield Path(str(file.locate()))
    spec = _package(entry.module)
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _below(Path(folder))
    if spec.has_location and spec.origin:
        yield Path(spec.origin)


def _package(module: str) -> ModuleSpec | None:
    """Return the outermost package that a module is in, and that is no namespace; nothing of it is imported."""
    names = module.split(".")
    for depth in range(1, len(names) + 1):
        spec = find_spec(".".join(names[:depth]))
        if spec is None or spec.origin:
            return spec
    return None


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)
