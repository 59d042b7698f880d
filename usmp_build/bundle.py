"""Generated files, still in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to write: a relative path below the output folder, and text with `\\n` line ends, or bytes."""

    path: str
    content: str | bytes

    def __post_init__(self) -> None:
        path = PurePosixPath(self.path)
        if not self.path or path.is_absolute() or ".." in path.parts or "\\" in self.path or ":" in self.path:
            raise ValueError(f"{self.path!r} leaves the output folder")

    @property
    def data(self) -> bytes:
        """The bytes on disk; text is UTF-8."""
        return self.content.encode("utf-8") if isinstance(self.content, str) else self.content


@dataclass(frozen=True, slots=True)
class Bundle:
    """A set of files that belong together, sorted by path; no path twice, not even in another case."""

    files: tuple[OutputFile, ...]

    @staticmethod
    def collect(files: Iterable[OutputFile]) -> Bundle:
        """Sort files into a bundle.  Raises ValueError when two have one path on some file system."""
        ordered = tuple(sorted(files, key=lambda file: file.path))
        seen: dict[str, str] = {}
        for file in ordered:
            other = seen.setdefault(file.path.lower(), file.path)
            if other is not file.path:
                raise ValueError(f"two generated files would be called {other!r} and {file.path!r}")
        return Bundle(ordered)

    def digest(self) -> str:
        """SHA-256 over all paths and contents: equal digests mean equal folders."""
        total = hashlib.sha256()
        for file in self.files:
            total.update(f"{file.path}\0{len(file.data)}\0".encode())
            total.update(file.data)
        return total.hexdigest()
