"""The benchmark command: it measures what it can, says what it cannot, and no figure is asserted."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import board, cmsis_nn, cycles, draw, host, measure, ram, tables, times
from benchmarks.figures import Figures
from benchmarks.layers import Layer, layers_of
from benchmarks.measure import Measured, on_host
from benchmarks.processors import PROCESSORS, Group, Place, Profile
from benchmarks.published import published
from benchmarks.stack import Stack, follow
from benchmarks.subject import generate, prepare
from benchmarks.timings import estimate
from benchmarks.tools import Unmeasured
from tests.support import counting, firmware
from tests.support.cli import DATA
from tests.support.cmsis_nn import stand_in
from tests.support.kernels.driver import HEADERS
from tests.support.tools import need
from tests.support.tree import ROOT
from usmp_build.interfaces.kernels import Traffic
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
    folder = tmp_path / "figures"
    message = benchmark(DATA / "odd_even.tflite", "--out", folder)
    tables_of_model = [
        [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\| odd_even (.*)$", table, re.MULTILINE)]
        for table in message.split("\n\n")
        if table.startswith("|")  # not the notes, which are last
    ]
    missing = [[row.count("-") for row in rows] for rows in tables_of_model]
    workspace, together, flash, inference, cycles, processors, kinds, beside, layers, host, ratios, seconds, chains = (
        missing
    )
    # Everything but what is published for other models only: TFLM's arena; M4 (two) and M55.
    assert (workspace, flash, inference, cycles, seconds) == ([1], [0, 0, 0, 0], [3], [0], [0])
    assert processors == [0, 3, 2, 4]
    assert beside == [1]
    assert kinds == [1, 0, 1]  # AVERAGE_POOL_2D and LOGISTIC have no multiply-accumulates.
    assert host == [find_spec("ai_edge_litert") is None]
    assert chains == [0, 0, 0, 0]
    assert together == ratios == []
    assert layers == [1]  # of FULLY_CONNECTED; CMSIS-NN's on the M55 are not known.
    written = {path.stem: path.read_text("utf-8") for path in folder.iterdir()}
    assert {draw.as_csv(table) for table in message.split("\n\n") if table.startswith("|")} <= {*written.values()}
    assert ROOT.as_posix() not in written.pop("facts")


@pytest.mark.long
def test_cycles_of_a_core_that_is_simulated(tmp_path: Path) -> None:
    """Outputs are compared; flash that is slower takes no more instructions."""
    need("verilator", "riscv64-unknown-elf-gcc", "riscv64-unknown-elf-objcopy")
    pytest.importorskip("pythondata_cpu_ibex", reason="pythondata-cpu-ibex is not installed")
    core = cycles.machine(tmp_path)
    subject = cycles.prepared(DATA / "odd_even.tflite", tmp_path / "model", Isa.SCALAR)
    (at_once, slow) = (cycles.run(core, subject, wait, "-O2") for wait in (0, 2))
    assert [position for position, _ in at_once] == [position for position, _ in slow]
    spent = [marks[-1][1].less(marks[0][1]) for marks in (at_once, slow)]
    assert spent[0].instructions == spent[1].instructions
    assert spent[0].instructions < spent[0].cycles < spent[1].cycles
    rows = [line.split(" | ") for line in cycles.lines("odd_even", subject, at_once)]
    assert rows[0][:3] == ["| odd_even", "all", f"{spent[0].cycles:,}"]
    assert sum(int(row[2].replace(",", "")) for row in rows[1:]) == spent[0].cycles


@pytest.mark.slow
def test_commands_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = (DATA / "odd_even.tflite").read_bytes()
    (tmp_path / "hello.tflite").write_bytes(small)
    for net in ("chain", "many_cells"):
        monkeypatch.setattr(times, net, lambda _: small)
    assert times.main([str(tmp_path / "hello.tflite")]) == 0
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        name, seconds, mebibytes = line.strip("| ").split(" | ")
        assert "plan" in name
        assert 0.05 < float(seconds) < 600
        assert int(mebibytes) > 10


M4, M55 = Place("M4", Isa.DSP), Place("M55", Isa.MVE)


def profiled(model: str) -> Measured:
    """A model with four convolutions, two of which are compared with CMSIS-NN, and a SOFTMAX."""
    kinds = {"CONV_2D 1x1": Group(4, 2_000, {M4: 2_500, M55: 400}), "SOFTMAX": Group(1, 0, {M4: 3_212})}
    layers = {
        "CONV_2D 1x1, 8 to 8, 4x4": Group(1, 1_000, {M4: 1_250}, {"M4": 2_500}),
        "CONV_2D 1x1, 8 to 4, 4x4": Group(1, 500, {M4: 900, M55: 200}, {"M4": 1_000, "M55": 400}),
    }
    flash: dict[Isa, Figures] = {Isa.DSP: {"constants": 100, "text": 20, "rodata": 3, "stack": 40, "stack seen": 36}}
    chains = {Isa.DSP: Stack(40, ("model_run", "firmware_softmax_s8"), ())}
    return Measured(model, {}, Profile({M4: 5_712, M55: 3_612}, kinds, layers, flash, chains))


def test_instructions_are_shown_for_each_multiplication_or_for_all_where_there_are_none() -> None:
    parts = tables.parts([profiled("another")], [])
    assert "| another | 4 CONV_2D 1x1 | 2,000 | - | - | - | 1.25 | - | 0.200 |" in parts["kinds"].splitlines()
    assert "| another | 1 SOFTMAX | - | - | - | - | 3,212 | - | - |" in parts["kinds"].splitlines()
    assert "| another | dsp | - | 0.00571 | - | - | - |" in parts["processors"].splitlines()
    assert "| another | dsp | 100 | 20 | 3 | 40 | 36 |" in parts["flash"].splitlines()
    assert parts["chains"].splitlines()[2:] == ["| another | dsp | `model_run` → `firmware_softmax_s8` | - |"]


def test_layers_are_beside_those_of_cmsis_nn() -> None:
    parts = tables.parts([], [], [profiled("another")])
    assert parts["layers"].splitlines()[2:] == [
        "| another | 1 CONV_2D 1x1, 8 to 8, 4x4 | 1,000 | - | - | - | 1.25 | - | - | 2.50 | - | 0.500 |",
        "| another | 1 CONV_2D 1x1, 8 to 4, 4x4 | 500 | - | - | - | 1.80 | - | 0.400 | 2.00 | 0.800 | 0.900 |",
    ]
    assert parts["beside"].splitlines()[2:] == ["| another | SOFTMAX | 5,712 | - | 2,150 | 3,500 | 0.614 | 900 |"]


@pytest.mark.long
def test_layers_of_cmsis_nn_are_measured(tmp_path: Path) -> None:
    firmware.need_board(firmware.BOARDS["m4"])
    counting.need_plugins(firmware.BOARDS["m4"].qemu[0])
    flags, files = stand_in(tmp_path, Isa.DSP)
    project = [
        f"add_library(cmsis-nn STATIC {' '.join(map(str, files))})",
        f"target_compile_options(cmsis-nn PUBLIC {' '.join(flags)} -I{HEADERS})",
        "target_link_options(cmsis-nn PUBLIC --specs=rdimon.specs -Wl,--defsym=end=__stack_start)",
    ]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(project), encoding="utf-8")
    measured = cmsis_nn.measure(DATA / "odd_even.tflite", tmp_path, "M4")
    connected = {f"FULLY_CONNECTED {sizes}" for sizes in ("49 to 32", "32 to 16", "16 to 1")}
    assert measured.keys() == {"AVERAGE_POOL_2D 2x2, 1, 7x7 of 8x8", *connected}  # and there is no LOGISTIC
    assert min(measured.values()) > 0


@pytest.mark.long
def test_nets_are_compared_on_the_m4_only(monkeypatch: pytest.MonkeyPatch) -> None:
    firmware.need_board(firmware.BOARDS["m4"])
    counting.need_plugins(firmware.BOARDS["m4"].qemu[0])
    monkeypatch.setattr(measure, "NETS", {"odd_even": (DATA / "odd_even.tflite").read_bytes})
    parts = tables.parts([], [], measure.compare_nets())
    assert re.fullmatch(r"\| odd_even \| AVERAGE_POOL_2D, LOGISTIC \| .*\|", parts["beside"].splitlines()[-1])
    assert parts["processors"].count("\n") == parts["kinds"].count("\n") == 1


LAYERS = {
    "kws": {"CONV_2D 10x4, 1 to 64, stride 2, 25x5 of 49x10": 320_000, "DEPTHWISE_CONV_2D 3x3, 64, 25x5": 72_000},
    "vww": {"CONV_2D 3x3, 3 to 8, stride 2, 48x48 of 96x96": 497_664, "FULLY_CONNECTED 256 to 2": 512},
    "ic": {"ADD 32x32x16": 0, "CONV_2D 3x3, 64 to 64, 8x8": 2_359_296},
}


def test_layers_have_their_names_and_figures_of_cmsis_nn(real_models: Path) -> None:
    known = cmsis_nn.known()
    for name, some in LAYERS.items():
        layers = set(layers_of(real_models / f"{name}.tflite").values())
        assert layers >= {Layer(*each) for each in some.items()}
        windows = {each.name for each in layers if each.macs}
        assert windows <= known.keys()
        assert all(known[each]["M4"] > 0 for each in windows)


def test_cycles_are_those_of_the_published_timings() -> None:
    """Of `1: ldr r2, [r0], #4; smlabb r1, r2, r2, r1; subs r3, #1; bne 1b` three times, of a division, and a return.

    The loop takes 4 cycles and one more for each branch that is taken, or 5 and three more; UDIV takes 2 or 12, and BX
    2 or 4.
    """
    timing = counting.Timing(accesses=3, branches=2 + 1, multiplications=3, divisions=1)
    interval = counting.Interval("bench_end", 3 * 4 + 1 + 1, {}, Traffic(), (), timing)
    least, most = 3 * 4 + 2 * 1 + 2 + 2, 3 * 5 + 2 * 3 + 12 + 4
    assert estimate(interval) == {"M4 cycles, least": least, "M4 cycles, most": most, "M7 cycles, least": 7}
    floats = replace(interval, timing=counting.Timing(unaligned=2, float_divisions=1, float_sums=2, multiplications=9))
    assert estimate(floats) == dict.fromkeys(("M4 cycles, least", "M4 cycles, most"), 14 + 2 + 13 + 4) | {
        "M7 cycles, least": 9
    }


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
def test_models_that_cannot_be_measured_are_listed(tmp_path: Path) -> None:
    (tmp_path / "no_model.tflite").write_bytes(b"nothing")
    message = benchmark(DATA / "control.tflite", DATA / "stateful.tflite", tmp_path / "no_model.tflite")
    assert re.search(r"^- no_model: ", message, re.MULTILINE)
    assert re.search(r"^\| control \+ stateful \|( [\d,]+ \|){3}$", message, re.MULTILINE)


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


@pytest.mark.parametrize("arguments", [["missing.tflite"], [DATA / "odd_even.tflite", "--out", "missing/figures"]])
def test_what_is_missing_is_told_before_anything_is_measured(arguments: list[object]) -> None:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "missing" in done.stderr
    assert "measuring" not in done.stderr
