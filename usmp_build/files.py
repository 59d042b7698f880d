"""Reading, as a value: stages get a `Files`, never the disk.

`Files` remembers what was read, and that is the depfile.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from usmp_build.errors import Diagnostic, ManifestError, Span

LARGEST_FILE = 1 << 30
"""Bytes.  Models for microcontrollers are a thousand times smaller; a device file or a wrong path is not."""


class Files(Protocol):
    """A place to read files from."""

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """Return the bytes of `path`; raise ManifestError, placed at `asked_by`, when that cannot be done."""

    def shown(self, path: str) -> str:
        """Return what messages call a file: where it is, seen from where the tool runs."""

    @property
    def seen(self) -> tuple[str, ...]:
        """Every path read so far, in order, each once."""


class DiskFiles:
    """Files below a folder; absolute paths are taken as they are."""

    def __init__(self, root: str | Path = ".") -> None:
        self._root = Path(root)
        self._seen: dict[str, None] = {}

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """See `Files.read`."""
        full = self._root / path
        try:
            if full.is_dir():
                raise ManifestError(_unreadable(str(full), "it is a folder", asked_by))
            if not full.is_file():
                reason = "it is a device or a pipe, not a file" if full.exists() else "no such file"
                raise ManifestError(_unreadable(str(full) if full.exists() else path, reason, asked_by))
            if full.stat().st_size > LARGEST_FILE:
                raise ManifestError(_unreadable(path, f"larger than {LARGEST_FILE:,} bytes", asked_by))
            data = full.read_bytes()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ManifestError(_unreadable(path, reason.lower(), asked_by)) from None
        self._seen[str(full)] = None
        return data

    def shown(self, path: str) -> str:
        """See `Files.shown`."""
        return str(self._root / path)

    @property
    def seen(self) -> tuple[str, ...]:
        """See `Files.seen`."""
        return tuple(self._seen)


class DictFiles:
    """Files held in memory, for tests and for callers that have no disk."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = dict(contents)
        self._seen: dict[str, None] = {}

    def read(self, path: str, asked_by: Span | str = "") -> bytes:
        """See `Files.read`."""
        if path not in self._contents:
            raise ManifestError(_unreadable(path, "no such file", asked_by))
        self._seen[path] = None
        return self._contents[path]

    def shown(self, path: str) -> str:
        """See `Files.shown`."""
        return path

    @property
    def seen(self) -> tuple[str, ...]:
        """See `Files.seen`."""
        return tuple(self._seen)


def _unreadable(path: str, reason: str, asked_by: Span | str) -> Diagnostic:
    help_ = "paths are relative to the manifest" if isinstance(asked_by, Span) else "check the path"
    return Diagnostic("M101", f'cannot read "{path}": {reason}', asked_by, help_)
