"""The benchmark command: it measures what it can, says what it cannot, and no figure is asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.stack import follow
from benchmarks.tools import Unmeasured
from tests.conftest import ROOT
from tests.support import counting, firmware
from tests.support.cli import DATA


def benchmark(*arguments: object) -> str:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments), "--runs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_column_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    for board in firmware.BOARDS:
        if board.name in ("m4", "m55"):
            firmware.need(board)
            counting.need_plugins(board.qemu[0])
    page = tmp_path / "page.md"
    said = benchmark(DATA / "odd_even.tflite", "--out", page)
    rows = re.findall(r"^\| odd_even \|(.*)\|$", said, re.MULTILINE)
    assert len(rows) == 3
    # All but what is published of other models: the arena, and instructions of others on M4 (two) and M55.
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert [sum(cell == "-" for cell in row) for row in cells] == [1, 3, 0]
    assert all(row in page.read_text() for row in rows)
    assert ROOT.as_posix() not in page.read_text()


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    (tmp_path / "no_model.tflite").write_bytes(b"nothing")
    said = benchmark(DATA / "control.tflite", tmp_path / "no_model.tflite")
    assert re.search(r"^- control: .*has no C yet", said, re.MULTILINE)
    assert re.search(r"^- no_model: ", said, re.MULTILINE)


GRAPH = r"""
node: { title: "run" label: "run\nm.c:1:1\n16 bytes (static)" }
node: { title: "a" label: "a\nm.c:2:1\n8 bytes (static)" }
node: { title: "b" label: "b\nm.c:3:1\n24 bytes (KIND)" }
edge: { sourcename: "run" targetname: "a" label: "m.c:1:9" }
edge: { sourcename: "run" targetname: "b" label: "m.c:1:9" }
edge: { sourcename: "b" targetname: "CALLED" label: "m.c:3:9" }
"""


def test_the_deepest_chain() -> None:
    stack = follow(GRAPH.replace("KIND", "static").replace("CALLED", "memcpy"), "run")
    assert (stack.bytes, stack.chain, stack.uncounted) == (40, ("run", "b"), ("memcpy",))


@pytest.mark.parametrize(("kind", "called"), [("dynamic", "memcpy"), ("static", "run")])
def test_a_stack_without_a_fixed_depth_is_not_measured(kind: str, called: str) -> None:
    with pytest.raises(Unmeasured):
        follow(GRAPH.replace("KIND", kind).replace("CALLED", called), "run")
