"""Recognizes files that we generated: only those may be replaced.  The folder is read and not changed."""

from __future__ import annotations

from pathlib import Path

from usmp_build.output.bundle import GENERATED_BY, STAGED, Bundle, OutputFile

_NOTICE = GENERATED_BY.encode()
_GENERATOR = b'"generator": "usmp_build '
"""The notice in plan.json."""
_PLAN = "plan.json"
_WITHIN = 1000
"""Bytes at the beginning of a file that are searched for the notice."""


def foreign_files(bundle: Bundle, folder: str | Path) -> tuple[str, ...]:
    """Return the paths of a bundle, sorted, at which there are files that we did not generate.

    Empty files, and links, whose targets stay, are no loss.
    """
    root = Path(folder)
    has_plan = any(file.path == _PLAN for file in bundle.files)
    vouchers = [root / file.path for file in bundle.files if _NOTICE in file.data[:_WITHIN] and not has_plan]
    is_folder_ours = _GENERATOR in _read(root / _PLAN, _WITHIN) if has_plan else any(map(says_generated, vouchers))
    there = (file for file in bundle.files if _is_there(root / file.path))
    return tuple(sorted(file.path for file in there if not _is_ours(file, root, is_folder_ours)))


def _is_there(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size > 0


def _is_ours(file: OutputFile, root: Path, is_folder_ours: bool) -> bool:
    """Return whether we generated a file; for bytes, and texts of plug-ins, the plan beside it decides.

    In a bundle without a plan, its texts do.
    """
    path = root / file.path
    if _read(path, len(file.data) + 1) == file.data:
        return True
    if file.path != _PLAN and _NOTICE in file.data[:_WITHIN]:
        return says_generated(path)
    return is_folder_ours


def says_generated(path: Path) -> bool:
    """Return whether the beginning of a file has our notice."""
    return _NOTICE in _read(path, _WITHIN)


def staged_files(folder: Path) -> list[Path]:
    """Return the staged files, sorted, that an interrupted run left; folders of such names are not ours."""
    return sorted(path for path in folder.glob(f"*{STAGED}") if path.is_symlink() or not path.is_dir())


def _read(path: Path, size: int) -> bytes:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""
