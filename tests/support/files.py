"""Files of projects in tests: copied from ours, written from texts, changed."""

import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from tests.support.cli import DATA
from tests.support.tree import ROOT

PROJECTS = ROOT / "tests" / "build_systems" / "projects"


def copy_project(name: str, to: Path, models: Mapping[str, str]) -> Path:
    """Copy a project of ours, and models of ours into it: where in the project → which of tests/data."""
    shutil.copytree(PROJECTS / name, to)
    for place, model in models.items():
        shutil.copyfile(DATA / f"{model}.tflite", to / place)
    return to


def write_files(to: Path, files: Mapping[str, str]) -> Path:
    """Write texts below a folder; the words `DATA` and `ROOT` stand for the folder of our models and our tree."""
    places = {"DATA": DATA.as_posix(), "ROOT": ROOT.as_posix()}
    for name, text in files.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"\b(DATA|ROOT)\b", lambda word: places[word[0]], text), encoding="utf-8")
    return to


def edit(path: Path, old: str, new: str) -> str:
    """Replace text of a file, which must be there once; return all that was there before."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name} has {text.count(old)} times {old!r}:\n{text}"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text


def touch(path: Path) -> None:
    """Give a file the time of now; file systems are slower than tests, so a little later than its neighbors'.

    What is made of it afterwards must be newer, so wait until that time has come.
    """
    path.touch()
    newest = max(file.stat().st_mtime_ns for file in path.parent.iterdir())
    os.utime(path, ns=(newest + 10_000_000, newest + 10_000_000))
    time.sleep(0.02)
