"""Which files of a folder we generated: only those may be replaced.  The folder is read and not changed."""

from __future__ import annotations

from pathlib import Path

from usmp_build.output.bundle import GENERATED_BY, STAGED, Bundle, OutputFile

_NOTICE = GENERATED_BY.encode()
_GENERATOR = b'"generator": "usmp_build '
"""What plan.json says instead."""
_WITHIN = 1000
"""Bytes of the beginning of a file in which it says so."""


def foreign_files(bundle: Bundle, folder: str | Path) -> tuple[str, ...]:
    """Return the paths of a bundle at which other content is that we did not generate, sorted.

    Empty files, and links, whose targets stay, are no loss.
    """
    root = Path(folder)
    others = (file.path for file in bundle.files if _is_there(root / file.path) and not _is_ours(file, root))
    return tuple(sorted(others))


def _is_there(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size > 0


def _is_ours(file: OutputFile, root: Path) -> bool:
    """Tell whether a file that is there is ours; of bytes, and of texts of plug-ins, the plan beside it tells."""
    path = root / file.path
    if _read(path, len(file.data) + 1) == file.data:
        return True
    if file.path != "plan.json" and _NOTICE in file.data[:_WITHIN]:
        return says_generated(path)
    return _GENERATOR in _read(root / "plan.json", _WITHIN)


def says_generated(path: Path) -> bool:
    """Tell whether the beginning of a file says that we generated it."""
    return _NOTICE in _read(path, _WITHIN)


def staged_files(folder: Path) -> list[Path]:
    """Return the files, sorted, that a run which was stopped left unfinished; folders of such names are not ours."""
    return sorted(path for path in folder.glob(f"*{STAGED}") if path.is_symlink() or not path.is_dir())


def _read(path: Path, size: int) -> bytes:
    """Return the beginning of a file; nothing of one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""
