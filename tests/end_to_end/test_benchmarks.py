"""The benchmark command: it measures what it can, says what it cannot, and no figure is asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import board, host, ram, tables
from benchmarks.figures import Figures
from benchmarks.measure import Measured, on_host
from benchmarks.processors import PROCESSORS, Kind, Place, Profile
from benchmarks.published import LAYERS, published
from benchmarks.stack import Stack, follow
from benchmarks.subject import generate, prepare
from benchmarks.tools import Unmeasured
from tests.support import counting, firmware
from tests.support.cli import DATA
from tests.support.tree import ROOT
from usmp_build.importers.tflite import import_tflite
from usmp_build.interfaces.kernels import Traffic
from usmp_build.passes.rewrite.work import operator_macs
from usmp_build.request import Isa


def benchmark(*arguments: object) -> str:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments), "--runs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_every_column_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    for name in PROCESSORS.values():
        firmware.need_board(firmware.BOARDS[name])
        counting.need_plugins(firmware.BOARDS[name].qemu[0])
    page = tmp_path / "page.md"
    said = benchmark(DATA / "odd_even.tflite", "--out", page)
    tables_of_model = [
        [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\| odd_even (.*)$", table, re.MULTILINE)]
        for table in said.split("\n\n")
        if table.startswith("|")  # not the notes, which are last
    ]
    missing = [[row.count("-") for row in rows] for rows in tables_of_model]
    workspace, together, flash, inference, processors, kinds, layers, host, ratios, seconds, chains = missing
    # Everything but what is published for other models only: TFLM's arena; M4 (two) and M55.
    assert (workspace, flash, inference, seconds) == ([1], [0, 0, 0], [3], [0])
    assert processors == [0, 2, 4]
    assert kinds == [1, 0, 1]  # AVERAGE_POOL_2D and LOGISTIC have no multiply-accumulates.
    assert host == [find_spec("ai_edge_litert") is None]
    assert chains == [0, 0, 0]
    assert together == layers == ratios == []
    assert all(row in page.read_text() for row in re.findall(r"^\| odd_even .*$", said, re.MULTILINE))
    assert ROOT.as_posix() not in page.read_text()


M4, M55 = Place("M4", Isa.DSP), Place("M55", Isa.MVE)


def profiled(model: str, figures: Figures) -> Measured:
    """A model with four convolutions and a SOFTMAX."""
    kinds = {"CONV_2D 1x1": Kind(4, 2_000, {M4: 2_500, M55: 400}), "SOFTMAX": Kind(1, 0, {M4: 3_212})}
    flash: dict[Isa, Figures] = {Isa.DSP: {"constants": 100, "text": 20, "rodata": 3, "stack": 40, "stack seen": 36}}
    chains = {Isa.DSP: Stack(40, ("model_run", "firmware_softmax_s8"), ())}
    profile = Profile({M4: 5_712, M55: 3_612}, kinds, {2: {M4: 700, M55: 100}}, flash, chains)
    return Measured(model, figures, profile)


def test_instructions_are_shown_for_each_multiplication_or_for_all_where_there_are_none() -> None:
    parts = tables.parts([profiled("another", {})], [])
    assert "| another | 4 CONV_2D 1x1 | 2,000 | - | - | - | 1.25 | - | 0.200 |" in parts["kinds"].splitlines()
    assert "| another | 1 SOFTMAX | - | - | - | - | 3,212 | - | - |" in parts["kinds"].splitlines()
    assert "| another | dsp | - | 0.00571 | - | - | - |" in parts["processors"].splitlines()
    assert "| another | dsp | 100 | 20 | 3 | 40 | 36 |" in parts["flash"].splitlines()
    assert parts["chains"].splitlines()[2:] == ["| another | dsp | `model_run` → `firmware_softmax_s8` | - |"]


def test_only_the_layers_of_the_very_model_are_beside_published_ones() -> None:
    layer = next(layer for layer in LAYERS if (layer.model, layer.position) == ("kws", 2))
    row = f"| kws | {layer.shape} | {layer.macs:,} | 700 | {layer.m4:,} | 100 | {layer.m55:,} |"
    assert row in tables.parts([profiled("kws", published("kws", 53_936))], [])["layers"].splitlines()
    assert "kws" not in tables.parts([profiled("kws", published("kws", 53_937))], [])["layers"]


def test_layers_are_those_of_the_models(real_models: Path) -> None:
    """At their positions are operators with as many multiplications."""
    for name in {layer.model for layer in LAYERS}:
        main = import_tflite((real_models / f"{name}.tflite").read_bytes(), name, name).main
        for layer in LAYERS:
            if layer.model == name:
                assert operator_macs(main.operators[layer.position], main) == layer.macs, layer


def test_more_steps_than_a_board_stores_are_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interval = counting.Interval("bench_step", 7, {}, Traffic(), ())
    monkeypatch.setattr(board, "_STEPS", 2)
    monkeypatch.setattr(board, "_usable", firmware.BOARDS.__getitem__)
    monkeypatch.setattr(board, "_build", lambda *_: tmp_path / "firmware.elf")
    subject = prepare(DATA / "odd_even.tflite", tmp_path, isa=Isa.DSP)
    generate(subject)
    monkeypatch.setattr(board, "_run", lambda *_: (["36", "4", "4"], [interval] * 2))
    assert board.steps(subject, "m4") == ({4: 14}, 36)
    monkeypatch.setattr(board, "_run", lambda *_: (["36", "4", "4"], [interval] * 3))
    with pytest.raises(Unmeasured, match="more than 2 operators"):
        board.steps(subject, "m4")


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


@pytest.mark.parametrize(
    ("computed", "theirs"), [(b"a", {"host ms, TFLM reference", "host ms, LiteRT", "M4, CMSIS-NN"}), (b"b", set())]
)
def test_what_computes_something_else_is_not_compared(
    computed: bytes, theirs: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "ours", lambda *_: host.Answer(1.0, b"a"))
    monkeypatch.setattr(host, "interpreted", lambda *_: host.Answer(2.0, computed))
    measured = Measured("odd_even", {"TFLM arena": 1, "M4": 1, "M4, CMSIS-NN": 1})
    on_host(measured, prepare(DATA / "odd_even.tflite", tmp_path), 1)
    assert measured.figures.keys() == {"TFLM arena", "M4", "host ms", "host ms, -O3"} | theirs
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
