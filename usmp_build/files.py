"""Reading, as a value: stages get a `Files`, never the disk.

`Files` remembers what was read, and that is the depfile.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from usmp_build.document.nearby import nearby
from usmp_build.errors import Diagnostic, ManifestError, Span

LARGEST_FILE = 1 << 30
"""Bytes.  Models for microcontrollers are a thousand times smaller; a device file or a wrong path is not."""
_MISSING, _FOLDER = "no such file", "it is a folder"


Stamp = tuple[int, int] | None
"""When a file was written, in nanoseconds, and its bytes; None where there is none."""


class Unreadable(Exception):
    """A file cannot be read; the text is the reason, as a clause."""


class Files(Protocol):
    """A place to read files from."""

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """Return the bytes of `path`; raise ManifestError, placed at `asked_by`, when that cannot be done."""

    def shown(self, path: str) -> str:
        """Return what messages call a file: where it is, seen from where the tool runs."""

    @property
    def seen(self) -> tuple[str, ...]:
        """Every path read so far, in order, each once; also what could not be read."""


class DiskFiles:
    """Files below a folder; absolute paths are taken as they are."""

    def __init__(self, root: str | Path = ".") -> None:
        self._root = Path(root)
        self._stamps: dict[str, Stamp] = {}

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """See `Files.read`."""
        full = self._root / path
        self._stamps.setdefault(str(full), stamp(full))
        try:
            return read_file(full)
        except Unreadable as error:
            named = path if str(error) == _MISSING else full
            help_ = _way_out(self._root, path, str(error), asked_by)
            message = f'cannot read "{named}": {error}'
            raise ManifestError(Diagnostic("M101", message, asked_by, help_)) from None

    def shown(self, path: str) -> str:
        """See `Files.shown`."""
        return str(self._root / path)

    @property
    def seen(self) -> tuple[str, ...]:
        """See `Files.seen`."""
        return tuple(self._stamps)

    @property
    def stamps(self) -> dict[str, Stamp]:
        """The stamp of each path, from before it was read."""
        return dict(self._stamps)


class DictFiles:
    """Files held in memory, for tests and for callers that have no disk."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = dict(contents)
        self._seen: dict[str, None] = {}

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """See `Files.read`."""
        if path not in self._contents:
            help_ = "paths are relative to the manifest" if isinstance(asked_by, Span) else "check the path"
            raise ManifestError(Diagnostic("M101", f'cannot read "{path}": {_MISSING}', asked_by, help_))
        self._seen[path] = None
        return self._contents[path]

    def shown(self, path: str) -> str:
        """See `Files.shown`."""
        return path

    @property
    def seen(self) -> tuple[str, ...]:
        """See `Files.seen`."""
        return tuple(self._seen)


def stamp(path: str | Path) -> Stamp:
    """Return what changes when a file is written."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def read_file(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes; raise Unreadable for anything else."""
    try:
        if path.is_dir():
            raise Unreadable(_FOLDER)
        if not path.is_file():
            raise Unreadable("it is a device or a pipe, not a file" if path.exists() else _MISSING)
        if path.stat().st_size <= most:
            with path.open("rb") as file:
                data = file.read(most + 1)  # its size may have changed, or be none that the system knows
            if len(data) <= most:
                return data
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unreadable(reason.lower()) from None
    raise Unreadable(f"larger than {most:,} bytes")


def _way_out(root: Path, path: str, reason: str, asked_by: Span | str) -> str:
    """Say what to do about a file that cannot be read: of one that is missing, which was meant, or where it is not."""
    if reason != _MISSING:
        return "name a file in it" if reason == _FOLDER else "check the path"
    is_relative = isinstance(asked_by, Span) and not Path(path).is_absolute()
    slashes = 'write "/" between folders; ' if "\\" in path else ""
    if meant := nearby(root, path):
        return f'{slashes}did you mean "{meant}"?{" Paths are relative to the manifest" if is_relative else ""}'
    folder = root / Path(path).parent
    if not is_relative:
        where = f'"{folder.resolve()}"'
        return f"{slashes}it is not in {where}" if folder.is_dir() else f"{slashes}there is no folder {where}"
    name = "" if folder == root else f' "{Path(path).parent}"'
    there = f"its folder{name} has no such file" if folder.is_dir() else f"there is no folder{name} beside it"
    return f"{slashes}paths are relative to the manifest: {there}"
