"""Names models that are in no manifest: for `init`, and for verbs that plan without a manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from usmp_build.document.suggest import quoted
from usmp_build.errors import one_line
from usmp_build.manifest.clashes import file_problem
from usmp_build.manifest.kinds import name_problem

PROJECT = "firmware"
"""The name of the project where none is given."""


def wanted_names(paths: Sequence[Path], module: str = "") -> list[str]:
    """Return the preferred names of models: their files' names up to the first dot; for the last `module`, if given."""
    wanted = [path.name.partition(".")[0] for path in paths]
    if paths and module:
        wanted[-1] = module
    return wanted


def renamings(paths: Sequence[Path], wanted: Sequence[str], names: Sequence[str], project: str) -> Iterator[str]:
    """Yield a line for each model that does not get the name that was wanted, with the reason."""
    for path, preferred, name in zip(paths, wanted, names, strict=True):
        if name != preferred:
            taken = "is the project, which --project names" if preferred.lower() == project.lower() else "is taken"
            why = unfit(preferred) or taken
            yield f'{one_line(path.name)} is model "{name}", which C runs with {name}_run(): {quoted(preferred)} {why}'


def unfit(name: str) -> str:
    """Return why a project or model cannot have this name, as a clause; empty when it can."""
    return name_problem(name) or file_problem(name)


def from_folder(path: Path, folder: Path) -> str:
    """Return the path of a file as a manifest in a folder writes it; a link keeps its name, which shows the format."""
    return os.path.relpath(path.parent.resolve() / path.name, folder.resolve()).replace(os.sep, "/")
