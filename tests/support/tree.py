"""Our source tree in tests: copies of it to build with, and what belongs to it.

Builds depend on the tree, so nobody may edit it while tests run: they build with copies.
"""

import shutil
from pathlib import Path

import pytest

from tests.support.processes import run

ROOT = Path(__file__).resolve().parents[2]

OF_CMAKE = ("cmake", "usmp_build")
"""What our CMake functions consist of."""
OF_BAZEL = ("BUILD.bazel", "MODULE.bazel", "WORKSPACE", "bazel", "cmake", "core", "usmp_build")
"""What our rules of Bazel consist of."""
_NOT_OURS = (".git", ".tools", ".venv", ".hypothesis", ".*_cache", "__pycache__", "build", "dist", "bazel-*")
"""What work leaves in the tree, at any place."""


def copy(to: Path, *names: str) -> Path:
    """Copy files and folders of our tree, or all of it, to a new folder; return that."""
    ignore = shutil.ignore_patterns(*_NOT_OURS)
    if not names:
        return shutil.copytree(ROOT, to, ignore=ignore)
    to.mkdir(parents=True)
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=ignore)
        else:
            shutil.copyfile(ROOT / name, to / name)
    return to


def text_file(name: str) -> str:
    """Return a text that a test compiles, imports or reads: a file of `tests/texts`."""
    return (ROOT / "tests" / "texts" / name).read_text(encoding="utf-8")


def tracked() -> set[str]:
    """The files of our tree that git knows, or would, were they added: paths from its root."""
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], ROOT)
    if listed.code != 0:
        pytest.skip("this is no working tree of git")
    return {name for name in listed.out.splitlines() if (ROOT / name).is_file()}
