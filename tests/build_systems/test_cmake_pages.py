"""examples/pages, built as it is: in pages and in one piece it computes what TensorFlow Lite Micro does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import ROOT
from tests.support.cmake import PYTHON, Project, need
from tests.support.examples import printed


def test_nine_pages_hold_what_takes_ten_in_one_piece(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    project = Project(ROOT / "examples" / "pages", tmp_path / "build")
    project.configure(find, PYTHON, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror")
    project.build()
    done = subprocess.run([project.binary / "strips"], capture_output=True, text=True, check=False)
    assert done.stdout == (
        "in pages: 9 pages, 9 of 9 outputs equal those of TensorFlow Lite Micro\nin one piece each: 10 pages, 9 of 9\n"
    )
    assert [done.stdout] == printed("pages")
    assert done.returncode == 0
