"""Guesses which file was meant by a path at which there is none."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from usmp_build.document.suggest import closest

_MOST = 2000
"""Most files, and most folders, that are visited."""
_DEEPEST = 3
"""Levels of folders below the first that are visited."""
_HERE = PurePosixPath()


def nearby(folder: Path, path: str) -> str:
    """Return the path, from `folder`, of the file that `path` probably means; empty where none is similar.

    In this order: the same path in another case or with backslashes, a file of this name in another folder, a similar
    name.  Files with another suffix are ignored.
    """
    wanted = PurePosixPath(path.replace("\\", "/"))
    suffix = wanted.suffix.lower()
    files = [file for file in _reached(folder, wanted) if file.suffix.lower() == suffix]
    for same in (_same_path, _same_name):
        if match := next((file for file in files if same(file, wanted)), None):
            return str(match)
    beside = [file for file in files if file.parent == wanted.parent] or files
    stem = closest(wanted.stem, [file.stem for file in beside])
    return next((str(file) for file in beside if stem and file.stem == stem), "")


def _reached(folder: Path, wanted: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield the files to look at: below the folder, or where the path leads if that is elsewhere."""
    start = _HERE
    if wanted.is_absolute() or ".." in wanted.parts:
        start = wanted.parent if (folder / wanted.parent).is_dir() else wanted.parent.parent
    return (start / file for file in islice(_files(folder / start), _MOST))


def _same_path(file: PurePosixPath, wanted: PurePosixPath) -> bool:
    return str(file).lower() == str(wanted).lower()


def _same_name(file: PurePosixPath, wanted: PurePosixPath) -> bool:
    return file.name.lower() == wanted.name.lower()


def _files(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the files of a folder, then those of the folders below, by name, without hidden ones."""
    folders = deque([_HERE])
    for _ in range(_MOST):
        if not folders:
            return
        below = folders.popleft()
        try:
            entries = sorted(os.scandir(folder / below), key=lambda entry: entry.name)
            names = {entry.name: entry.is_dir() for entry in entries if not entry.name.startswith(".")}
        except (OSError, ValueError):
            continue
        yield from (below / name for name, is_folder in names.items() if not is_folder)
        if len(below.parts) < _DEEPEST:
            folders.extend(below / name for name, is_folder in names.items() if is_folder)
