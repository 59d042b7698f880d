"""Models that remember: every tensor of every run equals TensorFlow Lite Micro's, and a reset makes them forget."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support import lstms, stateful
from tests.support.cli import PASSED, RO, RW, call, equals_tflm, manifest, one_model, planned, says, succeed, tables
from tests.support.net import Net, Value
from tests.support.remembering import RememberingNet
from tests.support.tools import few, needs_c, needs_gcc
from tests.support.tree import text_file
from usmp_build.codegen import model

pytestmark = needs_c

STATEFUL = one_model("stateful")
KINDS: dict[str, Callable[[stateful.Random], bytes]] = {
    "svdf": stateful.svdf,
    "svdf_s8": lambda r: stateful.svdf(r, "INT8"),
    "svdf_f32": lambda r: stateful.svdf(r, "FLOAT32"),
    "stack": lambda r: stateful.svdf(r, layers=2),
    "shared": stateful.shared_state,
    "ties": stateful.near_ties,
    "ring": stateful.ring,
    "lstm": lstms.lstm,
    "lstm_s16": lambda r: lstms.lstm(r, "INT16"),
    "lstm_f32": lambda r: lstms.lstm(r, "FLOAT32"),
    "sums": stateful.accumulators,
    "sums_f32": lambda r: stateful.accumulators(r, "FLOAT32"),
}


def many(folder: Path, seed: int, extra: str = "") -> Path:
    """A manifest of one model of each kind, which share their pools."""
    text = tables("state", {"ram": RW, "flash": RO}, {})
    for number, (name, make) in enumerate(KINDS.items()):
        (folder / f"{name}.tflite").write_bytes(make(np.random.default_rng([seed, number])))
        text += f'[models.{name}]\npath = "{name}.tflite"\n{extra}\n'
    return manifest(folder, text)


@pytest.mark.slow
@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", few(range(4), 1))
def test_runs_and_resets_equal_tflm(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    io = 'io = "application"' if seed % 2 else ""
    done = succeed("selftest", many(tmp_path, seed, io), "--sanitize", "--runs", "12")
    assert done.out.count("all equal to those of TensorFlow Lite Micro") == len(KINDS)


@pytest.mark.slow
@needs_gcc
def test_layers_that_remember_touch_what_they_declare(tmp_path: Path) -> None:
    done = succeed("selftest", "--accesses", many(tmp_path, 1))
    assert "and no access contradicts that" in done.out


def viewed(net: Net, kept: Value, given: Value) -> tuple[Value, Value]:
    """The variable is written by an operator that could be a view."""
    value, shown = net.sigmoid(given), net.sigmoid(kept)
    return net.reshape(value, *given.shape), shown


def joined(net: Net, kept: Value, given: Value) -> tuple[Value, Value]:
    """By an operator that could be part of the one before it, which runs before the variable is read."""
    value, shown = net.add(given, given), net.sigmoid(kept)
    return net.relu(value), shown


def framed(net: Net, kept: Value, given: Value) -> tuple[Value, Value]:
    """It is read by an operator that could be part of the one behind it, which runs when the variable is written."""
    padded, value = net.pad(kept, 1, 1), net.relu(given)
    return value, net.pool("AVERAGE_POOL_2D", padded, (3, 3), (1, 1))


@pytest.mark.parametrize("make", [viewed, joined, framed])
def test_what_operators_leave_in_a_variable_is_there_in_the_next_run(
    tmp_path: Path, make: Callable[[Net, Value, Value], tuple[Value, Value]]
) -> None:
    net = RememberingNet(0)
    kept, given = net.input(4, 4, 2), net.input(4, 4, 2)
    value, shown = make(net, kept, given)
    net.remember(value, {kept.index})
    (tmp_path / "m.tflite").write_bytes(net.file(shown))
    equals_tflm(manifest(tmp_path, one_model("m", path="m.tflite")))


def twice(folder: Path, extra: str) -> Path:
    """A manifest of two models called a and b, which are the same one."""
    path = Path(__file__).parents[1] / "data" / "stateful.tflite"
    tables = "".join(f'[models.{name}]\npath = "{path.as_posix()}"\n{extra}\n' for name in "ab")
    return manifest(folder, f'[project]\nname = "state"\n{tables}')


@pytest.mark.slow
@pytest.mark.parametrize("words", ['outputs = "reserved"', 'inputs = "reserved"\noutputs = "reserved"'])
def test_a_reset_does_not_touch_what_else_outlives_runs(tmp_path: Path, words: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    succeed("selftest", twice(tmp_path, words), "--sanitize", "--runs", "3")


def test_a_reset_does_not_take_back_what_others_feed(tmp_path: Path) -> None:
    """A model that remembers and another one feed each other: the first to run begins with the round before."""
    mixer = """
        model "mixer"
        subgraph 0 "main"
          %0 "echo" float32[1,8]
          %1 "fresh" float32[1,8]
          %2 "sum" float32[1,8]
          inputs %0, %1
          outputs %2
          %2 = ADD(%0, %1)
    """
    (tmp_path / "mixer.model.txt").write_text(mixer, encoding="utf-8")
    path = manifest(tmp_path, one_model("stateful") + '[models.mixer]\npath = "mixer.model.txt"\n')
    for one, other in (("stateful.output_0", "mixer.echo"), ("mixer.sum", "stateful.signal")):
        edge = f'[[connections]]\nfrom = "{one}"\nto = "{other}"\n'
        path.write_text(path.read_text(encoding="utf-8") + edge, encoding="utf-8")
    succeed("selftest", path, "--runs", "3")


def test_garbage_left_in_a_variable_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two layers the first one reads what was never written, if a reset forgets its variable."""
    (tmp_path / "stack.tflite").write_bytes(KINDS["stack"](np.random.default_rng(6)))
    resets = model.resets
    monkeypatch.setattr(model, "resets", lambda *arguments: list(resets(*arguments))[1:])
    done = call("selftest", manifest(tmp_path, one_model("stack", path="stack.tflite")), "--runs", "3")
    says(done, 4, "error[S605]: operator 0 reads bytes that were never written")


def test_variables_go_where_the_manifest_says(tmp_path: Path) -> None:
    pools = '[pools.tcm]\naccess = "rw"\n[pools.ram]\naccess = "rw"\n'
    place = '[[models.stateful.place]]\ntensors = "average"\npools = ["ram"]\n'
    path = manifest(tmp_path, STATEFUL.replace("[models", pools + "[models", 1) + place)
    buffers = planned(path)["buffers"]
    assert [b["pool"] for b in buffers if b["kind"] == "variable"] == ["ram"]
    assert call("selftest", path, "--runs", "3").code == 0


def test_the_plan_tells_what_is_kept(tmp_path: Path) -> None:
    path = manifest(tmp_path, STATEFUL)
    assert "state: 32 bytes of stateful are kept between runs (stateful_reset)" in call("plan", path).out
    assert planned(path)["models"][0]["state"] == 32


LATE = text_file("state_late.model.txt")


def test_a_first_value_that_comes_late_is_assigned_by_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "late.model.txt").write_text(LATE)
    path = manifest(tmp_path, one_model("late", path="late.model.txt"))
    assert call("selftest", path, "--runs", "3").code == 0
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert "if (!*t4) {" in (tmp_path / "out" / "late.c").read_text("utf-8")
    first = LATE.replace("  _ = CALL_ONCE() subgraph=1\n", "").replace(
        "  %1 = VAR", "  _ = CALL_ONCE() subgraph=1\n  %1 = VAR"
    )
    (tmp_path / "late.model.txt").write_text(first)
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert "if (!*" not in (tmp_path / "out" / "late.c").read_text("utf-8")


def test_every_set_of_pools_has_a_state_of_its_own(tmp_path: Path) -> None:
    """A reset takes the pools of the application, and refuses where one is missing."""
    (tmp_path / "sums.tflite").write_bytes(stateful.accumulators(np.random.default_rng(6)))
    path = manifest(tmp_path, tables("p", {"ram": RW + PASSED, "rom": RO}, {"sums": 'path = "sums.tflite"\n'}))
    assert call("selftest", path, "--runs", "3").code == 0
    out = tmp_path / "out"
    assert call("generate", path, "--out", out).code == 0
    (out / "main.c").write_text(TWO_SETS, encoding="utf-8")
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", *(str(c) for c in out.glob("*.c")), "-o", "two"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert subprocess.run([tmp_path / "two"], check=False).returncode == 0


TWO_SETS = text_file("state_two_sets.c")
