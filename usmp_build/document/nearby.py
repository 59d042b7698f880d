"""Which file a path was probably meant for, where there is none at the path itself."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from usmp_build.document.suggest import closest

_MOST = 2000
"""Files whose names are looked at, and folders."""
_DEEPEST = 3
"""Folders below the first that are looked into."""
_HERE = PurePosixPath()


def nearby(folder: Path, path: str) -> str:
    """Return the path, from `folder`, of the file that `path` is probably a slip of; nothing where none is like it.

    In this order: the same path in another case or with backslashes, a file of this name in another folder, a name
    like it.  Files with another suffix are not meant.
    """
    asked = PurePosixPath(path.replace("\\", "/"))
    start = _HERE
    if asked.is_absolute() or ".." in asked.parts:
        start = asked.parent if (folder / asked.parent).is_dir() else asked.parent.parent
    suffix = asked.suffix.lower()
    files = [start / file for file in islice(_files(folder / start), _MOST)]
    files = [file for file in files if file.suffix.lower() == suffix]
    for same in (_same_path, _same_name):
        if found := next((file for file in files if same(file, asked)), None):
            return str(found)
    beside = [file for file in files if file.parent == asked.parent] or files
    stem = closest(asked.stem, [file.stem for file in beside])
    return next((str(file) for file in beside if stem and file.stem == stem), "")


def _same_path(file: PurePosixPath, asked: PurePosixPath) -> bool:
    return str(file).lower() == str(asked).lower()


def _same_name(file: PurePosixPath, asked: PurePosixPath) -> bool:
    return file.name.lower() == asked.name.lower()


def _files(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the files of a folder, then those of the folders below, by name; what is hidden is passed over."""
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
