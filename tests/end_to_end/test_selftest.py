"""Every tensor of every model equals TensorFlow Lite Micro's, on this machine, under the sanitizers."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import directions
from tests.support.cli import DATA, RO, RW, TWO_MODELS, call, manifest, one_model, planned, says, succeed, tables
from tests.support.dead_channels import Network
from tests.support.flatbuffer import model as flat_model
from tests.support.flatbuffer import operator, subgraph, tensor, write
from tests.support.flatfile import flatfile
from tests.support.kernels.samples import draw
from tests.support.tools import few, needs_c
from tests.support.tree import text_file
from usmp_build import passes, pipeline
from usmp_build.errors import CheckFailed
from usmp_build.files import DiskFiles
from usmp_build.importers.text import import_text
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Subgraph
from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Direction, Schedule
from usmp_build.ir.storage import Storage
from usmp_build.passes.rewrite.constant_channels.sums import Sum
from usmp_build.selftest import oracle
from usmp_build.selftest.inputs import samples
from usmp_build.textual import text

REAL = ["kws", "vww", "ic", "hello", "micro_speech"]
OURS = ["digits", "odd_even", "branchy", "kitchen_a", "kitchen_b", "quantized_io", "float_net"]
IN_LOOPS = ["CONV_2D", "AVERAGE_POOL_2D", "MEAN", "CONCATENATION", "SPLIT"]

INDICES = text_file("selftest_indices.model.txt")

pytestmark = [needs_c, pytest.mark.slow]


def succeeds(path: Path, *options: str) -> str:
    done = succeed("selftest", path, *options)
    return done.out


def needs_oracle() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")


@pytest.mark.parametrize("name", few(REAL, 1))
def test_real_models(real_models: Path, tmp_path: Path, name: str) -> None:
    needs_oracle()
    path = manifest(tmp_path, one_model(name, path=(real_models / f"{name}.tflite").as_posix()))
    out = succeeds(path, "--sanitize")
    assert "10 runs, all equal to those of TensorFlow Lite Micro" in out
    model = import_tflite((real_models / f"{name}.tflite").read_bytes(), name, "")
    assert out.startswith(f"{name}: {sum(len(op.outputs) for op in model.main.operators)} tensors")


@pytest.mark.long
def test_what_is_left_of_vww(real_models: Path, tmp_path: Path) -> None:
    """The plan says what went; the same tensors are right, and all of them where the rewrite is switched off."""
    needs_oracle()
    asked = one_model("vww", path=(real_models / "vww.tflite").as_posix())
    path = manifest(tmp_path, asked)
    rewrites = {each["rewrite"]: each for each in planned(path)["models"][0]["rewrites"]}
    gone = rewrites["constant_channels"]
    assert (208_112 - gone["weights"], 7_489_664 - gone["macs"]) == (29_066, 3_727_313)
    assert "vww: the rewrite constant_channels removes 2,192 channels, 179,046 weights" in call("plan", path).out
    assert "vww: 31 tensors, 19 with fewer channels, 20 runs, all equal" in succeeds(path, "--runs", "20")
    shown = call("inspect", "rewrite", path).out
    assert shown.count(" channels: ") == 19
    off = manifest(tmp_path, f"{asked}rewrites = {{ constant_channels = false }}", "off.toml")
    assert "constant_channels" not in call("plan", off).out
    assert "vww: 31 tensors, 1 run, all equal" in succeeds(off, "--runs", "1")


@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", few(range(4), 1))
def test_networks_with_dead_channels(tmp_path: Path, seed: int) -> None:
    needs_oracle()
    graph = Network(np.random.default_rng(seed)).draw()
    (tmp_path / "net.tflite").write_bytes(flatfile(graph))
    out = succeeds(manifest(tmp_path, one_model("net", path="net.tflite")), "--sanitize")
    assert "with fewer channels" in out
    assert "10 runs, all equal to those of TensorFlow Lite Micro" in out


def test_a_wrongly_removed_channel_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fold that forgets that padding adds nothing."""
    needs_oracle()
    graph = Network(np.random.default_rng(33)).draw()
    (tmp_path / "net.tflite").write_bytes(flatfile(graph))
    path = manifest(tmp_path, one_model("net", path="net.tflite"))
    succeeds(path)
    monkeypatch.setattr(Sum, "is_foldable", lambda self, x: x.is_constant)
    says(call("selftest", path), 4, "error[S604]")


@pytest.mark.drawn("io", "name")
@pytest.mark.parametrize("io", few(["pool", "application"], 1))
@pytest.mark.parametrize("name", few(OURS, 4))
def test_our_models(tmp_path: Path, name: str, io: str) -> None:
    needs_oracle()
    path = manifest(tmp_path, one_model(name, f'io = "{io}"'))
    assert "all equal to those of TensorFlow Lite Micro" in succeeds(path, "--sanitize", "--runs", "10")


def backward(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, **where: str) -> None:
    needs_oracle()
    directions.run_towards(Direction.BACKWARD, monkeypatch)
    path = manifest(tmp_path, one_model(name, **where) + "[plan]\nrows = false\n")
    assert "all equal to those of TensorFlow Lite Micro" in succeeds(path, "--sanitize", "--keep", str(tmp_path))
    code = (tmp_path / f"{name}.c").read_text("utf-8")
    assert re.findall(r"/\* direction +\*/ (.*)", code).count("-1") == code.count("/* direction ") > 0
    ascending = re.findall(r"\+\+y\) \{\n +(.*)", code)
    assert all("_mean_" in first for first in ascending), "only the rows of a mean are added up in order"


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", REAL)
def test_real_models_backward(real_models: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backward(tmp_path, name, monkeypatch, path=(real_models / f"{name}.tflite").as_posix())


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few([*OURS, "stateful"], 2))
def test_our_models_backward(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backward(tmp_path, name, monkeypatch)


def test_loops_and_copies_backward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of one operator, the largest three with several images, or of several calls."""
    needs_oracle()
    directions.run_towards(Direction.BACKWARD, monkeypatch)
    models = {}
    for kind in IN_LOOPS:
        graphs = sorted((case.graph for case in draw(kind, 20)), key=lambda graph: (images(graph), size(graph)))
        for number, graph in enumerate(graphs[-3:]):
            name = f"{kind.lower()}_{number}"
            (tmp_path / f"{name}.tflite").write_bytes(flatfile(graph))
            models[name] = f'path = "{name}.tflite"\n'
    path = manifest(tmp_path, tables("loops", {"sram": RW, "flash": RO}, models))
    out = succeeds(path, "--runs", "2", "--keep", str(tmp_path))
    assert out.count("all equal to those of TensorFlow Lite Micro") == len(models)
    for kind in ("conv_2d", "average_pool_2d", "mean"):
        assert any("; n >= 0; --n) {" in file.read_text("utf-8") for file in tmp_path.glob(f"{kind}_?.c"))


def images(graph: Subgraph) -> int:
    """Return the number of images in both the first input and the first output."""
    ends = (graph.tensors[graph.inputs[0]], graph.tensors[graph.outputs[0]])
    return min(tensor.shape[0] if tensor.shape else 1 for tensor in ends)


def size(graph: Subgraph) -> int:
    return sum(tensor.size for tensor in graph.tensors)


def test_models_that_share_their_pools(tmp_path: Path) -> None:
    needs_oracle()
    out = succeeds(manifest(tmp_path, TWO_MODELS), "--sanitize", "--runs", "25")
    assert out.count("all equal to those of TensorFlow Lite Micro") == 2


def test_without_the_oracle_garbage_must_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "find_spec", lambda _: None)
    out = succeeds(manifest(tmp_path, TWO_MODELS), "--runs", "2")
    assert "2 runs, all equal to those of a second run with other poison" in out
    assert "pip install 'usmp_build[oracle]'" in out


def test_an_oracle_that_dies_is_reported_as_aborting(tmp_path: Path) -> None:
    """It dies of a tensor that is not there, after it took the model; it refuses an operator that it does not have."""
    needs_oracle()
    (request,) = pipeline.read(manifest(tmp_path, one_model("digits")).name, DiskFiles(tmp_path)).models
    data = (DATA / "digits.tflite").read_bytes()
    inputs = samples(import_tflite(data, "digits", "digits.tflite"), 1, 1)
    assert oracle.oracle_tensors(request, data, inputs, [1 << 20]) == oracle.Answers([None], [0])
    custom = subgraph([tensor("x"), tensor("y")], [operator("CUSTOM:Nobody", [0], [1])], [0], [1])
    with pytest.raises(CheckFailed, match='refuses model "digits": '):
        oracle.oracle_tensors(request, write(flat_model(custom)), inputs, [0])


def test_indices_are_drawn_within_what_they_choose_from() -> None:
    """Through CAST and PACK; the other inputs take their full range."""
    model = import_text(INDICES.encode(), "m", "m.model.txt")
    _, words, row, column, places, others = (np.stack(drawn) for drawn in zip(*samples(model, 100, 1), strict=True))
    assert (words.min(), words.max()) == (0, 9)
    assert np.array_equal(words, words.round())
    assert (row.min(), row.max(), column.min(), column.max()) == (0, 8, 0, 2)
    assert (places[..., 0].min(), places[..., 0].max(), places[..., 1].min(), places[..., 1].max()) == (0, 9, 0, 3)
    assert others.min() == -128


@pytest.mark.long
def test_stored_goldens_hold_without_the_oracle(tmp_path: Path) -> None:
    """The digits example in one: what TensorFlow Lite Micro said when the goldens were made."""
    with np.load(DATA / "digits.npz") as stored:
        assert stored["images"].shape == (64, 8, 8, 1)
        assert (np.argmax(stored["digits_output"], axis=1) == stored["labels"]).mean() > 0.95
    done = succeed("demo", "--out", tmp_path / "demo")
    assert "32 of 32 outputs equal those of TensorFlow Lite Micro" in done.out
    assert "sharing saves" in done.out


def test_the_first_operator_that_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer of the oracle is made wrong; the message must speak of operator 0."""
    needs_oracle()
    original = oracle.oracle_tensors

    def altered(*arguments: Any) -> Any:
        answers = original(*arguments)
        wrong = [{tensor: value + 1 for tensor, value in run.items()} for run in answers.runs]
        return oracle.Answers(wrong, [])

    monkeypatch.setattr("usmp_build.cli.selftest.oracle_tensors", altered)
    done = call("selftest", manifest(tmp_path, one_model("odd_even")), "--runs", "1")
    says(done, 4, "error[S604]", "operator 0 (AVERAGE_POOL_2D)", "instead of")


def test_a_lifetime_that_is_cut_short_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No checker of plans can see it, for the plan keeps what it was told; poisoned bytes can."""
    honest = passes.lifetimes

    def cut(schedule: Schedule, storage: Storage, survivors: Survivors) -> Lifetimes:
        lifetimes = honest(schedule, storage, survivors)
        names = [buffer.name for buffer in storage.buffers]
        victim = names.index("digits.mix_1/Relu")
        ((start, stop),) = lifetimes.intervals[victim]
        intervals = list(lifetimes.intervals)
        intervals[victim] = (Interval(start, stop - 1),)
        return Lifetimes(tuple(intervals))

    monkeypatch.setattr(passes, "lifetimes", cut)
    text = one_model("digits") + "[plan]\nrows = false\n"
    says(call("selftest", manifest(tmp_path, text), "--sanitize", "--runs", "1"), 4, "error[S602]", "use-after-poison")


BESIDE = """#include "p_kernels.h"
#define STEP(number, inputs, outputs, first) \\
    void p_cpu_custom_step_##number##_s8( \\
        const struct p_cpu_custom_step_##number##_s8_parameters *p, const int8_t *input, int8_t *output) \\
    { \\
        (void)p; \\
        for (int i = 0; i < outputs; ++i) { output[i] = input[i % inputs + first]; } \\
    }
STEP(0, 3, 9, 0)
STEP(1, 9, 3, 0)
STEP(2, 3, 2, FIRST)
"""


@pytest.mark.parametrize("first", [0, -1], ids=["right", "wrong"])
def test_a_read_of_a_dead_byte_before_a_live_buffer_is_detected(tmp_path: Path, first: int) -> None:
    """Poison cannot reach it, for both are in the same 8 bytes: the garbage in it must."""
    sizes = (3, 9, 3, 2)
    tensors = [tensor(f"t{number}", (size,)) for number, size in enumerate(sizes)]
    operators = [operator(f"CUSTOM:step_{i}", [i], [i + 1]) for i in range(len(sizes) - 1)]
    imported = import_tflite(write(flat_model(subgraph(tensors, operators, [0], [len(sizes) - 1]))), "c", "")
    (tmp_path / "c.model.txt").write_text(text.write(imported), "utf-8")
    (tmp_path / "steps.c").write_text(BESIDE.replace("FIRST", str(first)), "utf-8")
    path = manifest(tmp_path, one_model("c", '[targets.cpu]\nkernels = "extern"', "c.model.txt"))
    buffers = {each["name"]: each for each in planned(path)["buffers"]}
    assert buffers["c.t1"]["offset"] + buffers["c.t1"]["size"] == buffers["c.t2"]["offset"] == 9
    done = call("selftest", path, "--sanitize", "--source", tmp_path / "steps.c")
    if first == 0:
        assert done.code == 0, done.err
    else:
        assert "error[S605]: operator 2 reads bytes that were never written: tensor 3 depends on them" in done.err


def test_a_compiler_without_sanitizers_is_no_fault_of_ours(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\necho "$@" | grep -q fsanitize && echo "no runtime" >&2 && exit 1\nexec cc "$@"\n')
    compiler.chmod(0o755)
    path = manifest(tmp_path, one_model("odd_even"))
    for option in ("--sanitize", "--accesses"):
        done = call("selftest", path, "--runs", "1", "--cc", compiler, option)
        assert done.code == 4
        wanted = f"this compiler may lack sanitizers: name another with --cc, or leave {option} out"
        assert f"help: {wanted}" in done.err
    succeeds(path, "--runs", "1", "--cc", str(compiler))


def test_sanitizers_need_no_headers(tmp_path: Path) -> None:
    """Some compilers come without theirs."""
    succeeds(manifest(tmp_path, one_model("odd_even")), "--runs", "1", "--keep", str(tmp_path / "kept"))
    assert "<sanitizer/" not in (tmp_path / "kept" / "usmp_selftest.c").read_text("utf-8")
