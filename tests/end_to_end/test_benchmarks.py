"""The benchmark command: it measures what it can, says what it cannot, and no figure is asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import board, host, ram
from benchmarks.measure import Measured, on_host
from benchmarks.published import published
from benchmarks.stack import follow
from benchmarks.subject import prepare
from benchmarks.tools import Unmeasured
from tests.support import counting, firmware
from tests.support.cli import DATA
from tests.support.tree import ROOT


def benchmark(*arguments: object) -> str:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments), "--runs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_every_column_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    for name in board.BOARDS.values():
        firmware.need_board(firmware.BOARDS[name])
        counting.need_plugins(firmware.BOARDS[name].qemu[0])
    page = tmp_path / "page.md"
    said = benchmark(DATA / "odd_even.tflite", "--out", page)
    rows = re.findall(r"^\| odd_even \|(.*)\|$", said, re.MULTILINE)
    assert len(rows) == 3
    # Everything but TFLM's figures, which are published for other models only: the arena; M4 (two) and M55.
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert [sum(cell == "-" for cell in row) for row in cells] == [1, 3, 0]
    assert all(row in page.read_text() for row in rows)
    assert ROOT.as_posix() not in page.read_text()


def test_what_overlap_brings_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each table every column, and without rewrites and overlap as many instructions as the board says first."""
    counts = iter((200, 150))
    monkeypatch.setattr(board, "run", lambda *_: {"M4": next(counts)})
    row = ram.row(DATA / "digits.tflite")
    for name, text in ram.tables([row]).items():
        head, _, *rows = text.splitlines()
        assert [each.count("|") for each in rows] == [head.count("|")], name
    max_live, layer_by_layer, any_schedule, achieved, _, floor = (
        int(cell.replace(",", "")) for cell in row.workspace[3:]
    )
    assert floor <= any_schedule <= achieved < layer_by_layer < max_live
    assert row.instructions == ("200", "150", "-25.0 %")


@pytest.mark.long
def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    (tmp_path / "no_model.tflite").write_bytes(b"nothing")
    said = benchmark(DATA / "control.tflite", DATA / "stateful.tflite", tmp_path / "no_model.tflite")
    assert re.search(r"^- no_model: ", said, re.MULTILINE)
    assert re.search(r"^\| control \+ stateful \|( [\d,]+ \|){3}$", said, re.MULTILINE)


@pytest.mark.parametrize(("computed", "theirs"), [(b"a", {"host ms, TFLM reference", "M4, CMSIS-NN"}), (b"b", set())])
def test_what_computes_something_else_is_not_compared(
    computed: bytes, theirs: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "ours", lambda *_: host.Answer(1.0, b"a"))
    monkeypatch.setattr(host, "reference", lambda *_: host.Answer(2.0, computed))
    measured = Measured("odd_even", {"TFLM arena": 1, "M4": 1, "M4, CMSIS-NN": 1})
    on_host(measured, prepare(DATA / "odd_even.tflite", tmp_path), 1)
    assert measured.figures.keys() == {"TFLM arena", "M4", "host ms"} | theirs
    assert len(measured.notes) == (not theirs)


def test_only_the_very_model_has_published_figures() -> None:
    assert published("kws", 53_936)["TFLM arena"] > 0
    assert published("kws", 53_937) == published("another", 53_936) == {}


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


@pytest.mark.parametrize("arguments", [["missing.tflite"], [DATA / "odd_even.tflite", "--out", "missing/page.md"]])
def test_what_is_missing_is_told_before_anything_is_measured(arguments: list[object]) -> None:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "missing" in done.stderr
    assert "measuring" not in done.stderr
