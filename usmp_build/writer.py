"""The only hand that writes: a bundle goes to disk as a whole.

All files that changed are first written beside their places under temporary names, and only when every byte is there
are they renamed, one after the other, plan.json last.  A run that dies earlier leaves the old set; what it staged is
swept up by the next run.  Runs into one folder wait for each other.  A file that did not change keeps its time stamp:
nothing recompiles.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from usmp_build.bundle import Bundle, OutputFile
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.naming import make_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_STAGED = ".usmp-staged"


def write(bundle: Bundle, folder: str | Path) -> tuple[str, ...]:
    """Put a bundle into a folder; return the paths that changed.  Raises UsageError when the disk refuses."""
    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _alone_in(root):
            return _replace(bundle, root)
    except OSError as error:
        raise UsageError(_cannot_write(root, error)) from None


def _replace(bundle: Bundle, root: Path) -> tuple[str, ...]:
    changed = [file for file in bundle.files if _read(root / file.path) != file.data]
    changed.sort(key=lambda file: file.path == "plan.json")
    for leftover in root.glob(f"*{_STAGED}"):
        leftover.unlink()
    for file in changed:
        _stage(root, file)
    for file in changed:
        (root / (file.path + _STAGED)).replace(root / file.path)
    return tuple(sorted(file.path for file in changed))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other run writes to this folder; the lock dies with its owner."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_text(path: str | Path, text: str) -> None:
    """Write one file, atomically and only if it changed.  Raises UsageError when the disk refuses."""
    target = Path(path)
    file = OutputFile(target.name, text)
    if _read(target) == file.data:
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _stage(target.parent, file)
        (target.parent / (target.name + _STAGED)).replace(target)
    except OSError as error:
        raise UsageError(_cannot_write(target, error)) from None


def depfile(target: str, inputs: Iterable[str]) -> str:
    """Return a Make rule by which a build system learns what was read to make `target`."""
    lines = (f" \\\n  {make_path(path)}" for path in dict.fromkeys(inputs))
    return f"{make_path(target)}:{''.join(lines)}\n"


def differences(bundle: Bundle, folder: str | Path) -> Iterator[str]:
    """Yield unified diffs from what is in the folder to what the bundle would make of it; nothing when equal."""
    for file in bundle.files:
        old = _read(Path(folder) / file.path)
        if old is None:
            yield f"{file.path} is missing\n"
        elif old != file.data:
            before = old.decode("utf-8", "replace").splitlines(keepends=True)
            after = file.text.splitlines(keepends=True)
            yield "".join(difflib.unified_diff(before, after, f"{file.path} (on disk)", f"{file.path} (generated)"))


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _stage(root: Path, file: OutputFile) -> None:
    (root / (file.path + _STAGED)).write_bytes(file.data)


def _cannot_write(path: Path, error: OSError) -> Diagnostic:
    reason = (error.strerror or str(error)).lower()
    return Diagnostic("U202", f'cannot write "{path}": {reason}', help="choose another output folder")
