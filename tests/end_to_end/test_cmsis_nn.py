"""A firmware whose layers run by CMSIS-NN, for which a stand-in is compiled: every tensor, scratch, what is linked."""

import json
import shlex
from pathlib import Path

import pytest

from tests.support.cli import TWO_MODELS, call, manifest, planned, says
from tests.support.cmsis_nn import stand_in
from tests.support.tools import few, needs_oracle
from usmp_build.request import Isa

CMSIS_NN = '[targets.cpu]\nkernels = "cmsis-nn"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return manifest(tmp_path, TWO_MODELS + CMSIS_NN)


@pytest.mark.slow
@needs_oracle
@pytest.mark.parametrize("isa", few(Isa, 1), ids=lambda isa: isa.value)
def test_every_tensor_is_that_of_tensorflow_lite_micro(isa: Isa, path: Path, tmp_path: Path) -> None:
    flags, (source,) = stand_in(tmp_path, isa)
    compiler = shlex.join(["gcc", *flags])
    done = call("selftest", path, "--isa", isa.value, "--cc", compiler, "--source", source, "--sanitize", "--runs", 4)
    assert done.code == 0, done.err
    assert "digits: 8 tensors, 4 runs, all equal to those of TensorFlow Lite Micro" in done.out
    assert "odd_even: 6 tensors, 4 runs, all equal to those of TensorFlow Lite Micro" in done.out


@pytest.mark.parametrize(
    ("isa", "scratch"), [("portable", [48, 864]), ("dsp", [48, 256, 864]), ("mve", [64, 896, 4464])]
)
def test_scratch_is_planned_and_nothing_overlaps(isa: str, scratch: list[int], path: Path) -> None:
    plan = planned(path, "--isa", isa, "--model", "digits")
    buffers = [buffer for buffer in plan["buffers"] if buffer["kind"] == "scratch"]
    assert sorted({buffer["size"] for buffer in buffers}) == scratch
    assert not any(buffer["overlaps"] for buffer in plan["buffers"])
    assert plan["models"][0]["declined"] == []


def test_what_helium_reads_behind_constants_is_in_the_plan(path: Path) -> None:
    """No other constant begins in the 16 bytes behind weights of convolutions, nor does the pool end there."""
    plans = [planned(path, "--isa", isa, "--model", "digits") for isa in ("dsp", "mve")]
    assert "behind it are read" not in json.dumps(plans[0])
    constants = [row for row in plans[1]["buffers"] if row["kind"] == "constant"]
    weights = [row for row in constants if row["reason"] == "of the model, and up to 16 bytes behind it are read"]
    assert len(weights) == 4
    (end,) = {pool["size"] for pool in plans[1]["pools"] if pool["name"] == weights[0]["pool"]}
    for row in weights:
        following = (offset for each in constants if (offset := each["offset"]) > row["offset"])
        assert min(following, default=end) >= row["offset"] + row["size"] + 16


def test_layers_that_it_lacks_run_by_reference_kernels(tmp_path: Path) -> None:
    tensors = '  %0 "x" int8[4] scale=0.1 zero=3\n  %1 "y" int8[4] scale=0.1 zero=3\n'
    model = f'model "m"\nsubgraph 0 "main"\n{tensors}  inputs %0\n  outputs %1\n  %1 = RELU(%0) @0\n'
    (tmp_path / "m.model.txt").write_text(model, "utf-8")
    path = manifest(tmp_path, f'[project]\nname = "p"\n[models.m]\npath = "m.model.txt"\n{CMSIS_NN}')
    (kernel,) = json.loads(call("inspect", "kernels", path, "--json").out)
    assert (kernel["library"], kernel["declined"]) == ("reference", ["cmsis-nn: it has no function for it"])
    assert "m: RELU 0: not cmsis-nn: it has no function for it\n" in call("plan", path).out
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert "arm_" not in (tmp_path / "out" / "p_kernels.c").read_text("utf-8")
    assert "cmsis" not in (tmp_path / "out" / "usmp-targets.cmake").read_text("utf-8")


@pytest.mark.parametrize("who", [CMSIS_NN, '[[models.digits.place]]\noperators = "CONV_2D"\nkernels = "cmsis-nn"\n'])
def test_build_files_link_it(who: str, tmp_path: Path) -> None:
    path = manifest(tmp_path, TWO_MODELS + who)
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert "target_link_libraries(two_usmp PRIVATE cmsis-nn)" in (tmp_path / "out" / "usmp-targets.cmake").read_text()
    assert '        "@cmsis_nn",\n' in (tmp_path / "out" / "BUILD.bazel").read_text("utf-8")
    assert "two\tcmsis-nn\tlibrary\n" in call("outputs", path, "--libraries").out
    assert "\tlibrary\n" not in call("outputs", manifest(tmp_path, TWO_MODELS), "--libraries").out


def test_targets_with_different_instructions_are_refused(path: Path, tmp_path: Path) -> None:
    other = '[targets.dsp]\nkernels = "cmsis-nn"\nisa = "dsp"\n'
    place = '[[models.digits.place]]\noperators = "CONV_2D"\ntarget = "dsp"\n'
    path.write_text(path.read_text("utf-8") + other + place, "utf-8")
    done = call("generate", path, "--out", tmp_path / "out", "--isa", "mve")
    says(done, 1, "error[P308]: CMSIS-NN is to run on targets with isa = 'dsp' and 'mve', and is compiled for one")
    assert not (tmp_path / "out").exists()
    assert call("generate", path, "--out", tmp_path / "out", "--isa", "dsp").code == 0
