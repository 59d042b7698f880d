"""Starts other programs, and Python that may abort, hang or take all memory on an untrusted model.

None of them is found in the current folder, or imports from it: models and manifests may lie beside hostile files.
Python starts here again, as a script without any path of its own (`-I`), runs in an empty folder, and takes modules
from where this process has them.
"""

from __future__ import annotations

import errno
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parent.parent
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TVM_NUM_THREADS": "1"}
"""Threads take memory for each core of the machine, which would change what a bound of memory means."""
_NO_MEMORY = ("MemoryError", "bad_alloc", "std::length_error")
"""What Python and C++ say when memory is refused."""


class Unfinished(Exception):
    """A process did not end in time, and was stopped."""


class Done(NamedTuple):
    """What came of a process."""

    code: int
    """Its exit code; negative: the number of the signal that ended it."""
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """What it said beside its output."""
        return self.err.decode("utf-8", "replace").strip()

    @property
    def reason(self) -> str:
        """Why it failed, as a clause: the last line that it said; empty where a signal ended it."""
        if lacks_memory(self.text):
            return "it needs more memory than it may take"
        return "" if self.code < 0 else " ".join(self.text.splitlines()[-1:])


def lacks_memory(text: str) -> bool:
    """Tell whether a message of Python or C++ says that memory was refused."""
    return any(word in text for word in _NO_MEMORY)


def program(name: str) -> str | None:
    """Return where a program is; None where there is none.  A name alone is looked up where PATH names a whole path."""
    return shutil.which(name, path=_search_path())


def run_program(command: Sequence[str], seconds: float, *, folder: Path | None = None, said: bytes = b"") -> Done:
    """Run a program to its end; it reads what is `said` to it.  Raises OSError where there is none, and Unfinished.

    What it starts itself is looked up in the same way.
    """
    found = program(command[0])
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return _run(
        [str(Path(found).absolute()), *command[1:]], seconds, folder, said, {"PATH": _search_path() or os.defpath}
    )


def run_module(module: str, arguments: Sequence[str], *, seconds: float, memory: int, said: bytes = b"") -> Done:
    """Run a module of ours as a program, which may take `memory` bytes, where the system can bound that.

    Paths among the arguments must be absolute.  Raises Unfinished.
    """
    begin = json.dumps([module, memory, _import_path()])
    command = [sys.executable, "-I", "-W", "ignore", __file__, begin, *arguments]
    with tempfile.TemporaryDirectory(prefix="usmp-") as empty:
        return _run(command, seconds, Path(empty), said, _ONE_THREAD)


def _run(command: Sequence[str], seconds: float, folder: Path | None, said: bytes, environment: dict[str, str]) -> Done:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | environment,
            input=said,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unfinished(f"it did not end within {seconds:g} seconds") from None
    return Done(done.returncode, done.stdout, done.stderr)


def _search_path() -> str:
    """Return PATH without what depends on the current folder."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())


def _import_path() -> list[str]:
    """Return where this process imports from, without the current folder, and with where we are."""
    ours = str(_ROOT)
    others = [entry for entry in sys.path if Path(entry).is_absolute() and (entry == ours or not _is_here(entry))]
    return others if ours in others else [*others, ours]


def _is_here(folder: str) -> bool:
    with suppress(OSError):
        return Path(folder).samefile(os.curdir)
    return False


def _begin(begin: str) -> None:
    """Bound the memory of this process, and become the module."""
    module, memory, path = json.loads(begin)
    with suppress(ImportError, OSError, ValueError):  # there is no such bound, or a lower one
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    del sys.argv[1]
    sys.path[:] = path
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _begin(sys.argv[1])
