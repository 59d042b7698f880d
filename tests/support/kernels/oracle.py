"""What TensorFlow Lite Micro makes of a list of cases."""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WORKER = Path(__file__).with_name("oracle_worker.py")


def outputs(cases: Sequence[tuple[bytes, list[Any]]], folder: Path) -> list[list[Any] | str]:
    """Return for each model and its inputs the outputs, or why there are none."""
    answers: list[list[Any] | str] = []
    while len(answers) < len(cases):
        rest = cases[len(answers) :]
        (folder / "cases").write_bytes(pickle.dumps(list(rest)))
        (folder / "results").unlink(missing_ok=True)
        command = [sys.executable, str(_WORKER), str(folder / "cases"), str(folder / "results")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        fresh = list(_pickles(folder / "results"))
        answers += fresh
        if len(fresh) < len(rest):
            answers.append(f"aborted: {done.stderr.strip()[-300:]}")
    return answers


def _pickles(path: Path) -> Any:
    if not path.exists():
        return
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return
