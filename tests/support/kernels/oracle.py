"""What TensorFlow Lite Micro computes for a list of cases."""

import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

_WORKER = Path(__file__).with_name("oracle_worker.py")
_SECONDS = 600
"""What one case may take."""


def outputs(cases: Sequence[tuple[bytes, list[Any]]]) -> list[list[Any] | str]:
    """Return for each model and its inputs the outputs, or why there are none."""
    return [_outputs(case) for case in cases]


@cache
def _worker() -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """A process that answers one case after the other until the interpreter aborts, and the file of its messages."""
    messages = tempfile.TemporaryFile()  # noqa: SIM115
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, str(_WORKER)], stdin=pipe, stdout=pipe, stderr=messages), messages


def _outputs(case: tuple[bytes, list[Any]]) -> list[Any] | str:
    worker, messages = _worker()
    assert worker.stdin
    assert worker.stdout
    pickle.dump(case, worker.stdin)
    worker.stdin.flush()
    if not select.select([worker.stdout], [], [], _SECONDS)[0]:
        worker.kill()
    try:
        answer: list[Any] | str = pickle.load(worker.stdout)
    except EOFError:
        _worker.cache_clear()
        worker.communicate()
        messages.seek(0)
        return f"aborted: {messages.read().decode().strip()[-300:]}"
    return answer
