"""The instructions of a target: who says them, what is chosen for them, and why nothing faster is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import DATA, RAM_AND_FLASH, call, manifest, planned, says
from tests.support.nets import NETS
from usmp_build import plugins
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.reference import Reference
from usmp_build.request import Isa, TargetRequest

MODEL = f'{RAM_AND_FLASH}[models.digits]\npath = "{(DATA / "digits.tflite").as_posix()}"\n'
WHY = "dsp: its output has an odd number of channels"


class Fussy(Reference):
    """The portable kernels, which say on any other target that a convolution has no faster kernel."""

    def __init__(self, other: bool = False) -> None:
        super().__init__()
        self._other = other

    @classmethod
    def for_target(cls, target: TargetRequest) -> Fussy:
        return cls(target.isa is not Isa.PORTABLE)

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        kernel = super().kernel(operator, graph)
        if operator.kind == "CONV_2D" and isinstance(kernel, Kernel) and self._other:
            return replace(kernel, declined=(WHY,))
        return kernel


@pytest.fixture
def fussy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(plugins.KERNELS, "fussy", f"{__name__}:Fussy")
    return manifest(tmp_path, f'{MODEL}[targets.cpu]\nkernels = "fussy"\n')


def targets(*arguments: object) -> list[dict[str, Any]]:
    return planned(*arguments)["targets"]


@pytest.mark.parametrize(
    ("message", "option", "isa"),
    [
        ("", (), "portable"),
        ("", ("--isa", "dsp"), "dsp"),
        ("", ("--isa=-mcpu=cortex-m55",), "mve"),
        ('isa = "mve"\n', (), "mve"),
        ('isa = "mve"\n', ("--isa", "dsp"), "mve"),
        ('isa = "portable"\n', ("--isa", "dsp"), "portable"),
    ],
)
@pytest.mark.long
def test_the_manifest_says_more_than_the_command_line(
    tmp_path: Path, message: str, option: tuple[str, ...], isa: str
) -> None:
    path = manifest(tmp_path, f"{MODEL}[targets.cpu]\n{message}")
    assert targets(path, *option) == [{"name": "cpu", "kernels": "reference", "isa": isa}]


def test_a_target_that_is_not_declared_has_those_of_the_command_line(tmp_path: Path) -> None:
    path = manifest(tmp_path, f'{MODEL}[targets.npu]\nkernels = "extern"\nisa = "portable"\n')
    assert [(each["name"], each["isa"]) for each in targets(path, "--isa", "mve")] == [
        ("cpu", "mve"),
        ("npu", "portable"),
    ]
    assert 'cpu: kernels for isa = "mve"\n' in call("plan", path, "--isa", "mve").out
    assert "isa" not in call("plan", path).out


@pytest.mark.slow
def test_a_folder_for_other_instructions_is_stale(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, MODEL), tmp_path / "out"
    assert call("generate", path, "--out", out, "--isa", "dsp").code == 0
    assert call("generate", path, "--out", out, "--isa=-mcpu=cortex-m33", "--diff").code == 0
    stale = call("generate", path, "--out", out, "--diff", "--isa", "portable")
    assert stale.code == 4
    assert '"isa": "dsp"' in stale.out


UNKNOWN = "note: planned for portable C; a build for -mcpu=cortex-m4 takes isa dsp (say --isa=-mcpu=cortex-m4)\n"


@pytest.mark.slow
def test_where_nothing_says_for_which_instructions_the_output_does(tmp_path: Path) -> None:
    path = manifest(tmp_path, MODEL)
    for verb in (["plan"], ["explain", "mix_1"], ["inspect", "kernels"], ["generate", "--out", tmp_path / "out"]):
        assert call(*verb, path).err == UNKNOWN, verb
        assert call(*verb, path, "--quiet").err == "", verb
        assert call(*verb, path, "--isa", "portable").err == "", verb
    assert call("plan", manifest(tmp_path, MODEL + '[targets.cpu]\nisa = "dsp"\n')).err == ""


def test_a_folder_is_compared_for_the_instructions_that_it_is_for(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, MODEL), tmp_path / "out"
    call("generate", path, "--out", out, "--isa", "dsp")
    same = call("generate", path, "--out", out, "--diff")
    assert (same.code, same.out) == (0, f"{out} is up to date\n")
    assert same.err == f'note: planned for isa dsp, as "{out}" is\n'
    (out / "p.ld").unlink()
    stale = call("generate", path, "--out", out, "--diff")
    assert (stale.code, stale.out) == (4, "p.ld is missing\n")
    assert "help: run the same command with --isa dsp and --prune instead of --diff, and check" in stale.err
    (out / "plan.json").write_text("{}")
    assert call("generate", path, "--out", out, "--diff").err.startswith(UNKNOWN)


@pytest.mark.slow
def test_a_generated_folder_is_planned_as_it_was(tmp_path: Path) -> None:
    pools = '[pools.tcm]\naccess = "rw"\n[pools.sram]\naccess = "rw"\n'
    path, out = manifest(tmp_path, MODEL + pools), tmp_path / "out"
    options = ("--isa", "dsp", "--workspace-pools", "digits=sram")
    call("generate", path, "--out", out, *options)
    for verb in (["plan"], ["plan", "--json"], ["explain", "mix_1"], ["inspect", "kernels", "--json"]):
        like, told = call(*verb, out), call(*verb, path, *options)
        assert (like.code, like.out) == (0, told.out), verb
        assert like.err == f'note: planned for isa dsp, as "{out}" is\n', verb
    assert planned(out)["targets"][0]["isa"] == "dsp"
    other = call("plan", out, "--isa", "portable")
    assert (other.err, other.out) == ("", call("plan", path, "--isa", "portable", *options[2:]).out)
    path.rename(tmp_path / "other.toml")
    lost = call("plan", out)
    says(lost, 2, 'error[U289]: the manifest of "', '"usmp.toml", is neither beside the folder nor in the current one')


def test_a_folder_whose_models_only_the_build_knows(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, '[project]\nname = "p"\n'), tmp_path / "out"
    model = f"--model=digits={DATA / 'digits.tflite'}"
    call("generate", path, "--out", out, model, "--isa", "dsp")
    says(call("plan", out), 1, "or give its file: --model digits=FILE")
    assert call("plan", out, model).out == call("plan", path, model, "--isa", "dsp").out
    arguments = Path(f"{out}.args")  # of a build
    arguments.write_text(f"{model}\n--isa=-mcpu=cortex-m55\n--\n{path}\n")
    assert call("plan", out).out == call("plan", path, model, "--isa", "dsp").out
    arguments.write_text("--frobnicate\n")
    says(call("plan", out), 2, "error[U288]: these are no arguments of a build: unrecognized arguments: --frobnicate")


@pytest.mark.parametrize("word", ["neon", "-mtune=cortex-m4", ""])
def test_unknown_instructions(tmp_path: Path, word: str) -> None:
    done = call("plan", manifest(tmp_path, MODEL), f"--isa={word}")
    assert (done.code, done.out) == (2, "")
    assert f'--isa: error[U237]: "{word}" is neither portable, scalar, dsp, mve nor an option' in done.err


def test_the_reason_for_a_slower_kernel_is_shown(fussy: Path) -> None:
    for verb, line in (
        (("ops",), f"by rows: conv_2d_s8_row; not {WHY}"),
        (("inspect", "kernels"), f"digits CONV_2D 0 fussy by rows conv_2d_s8_row not {WHY}"),
        (("plan",), f"digits: CONV_2D 0, CONV_2D 2, CONV_2D 4: not {WHY}"),
    ):
        assert line in " ".join(call(*verb, fussy, "--isa", "dsp").out.split())
        assert WHY not in call(*verb, fussy).out


def test_programs_read_it(fussy: Path) -> None:
    mine = planned(fussy, "--isa", "dsp")["models"][0]
    assert mine["declined"] == [f"CONV_2D {position}: {WHY}" for position in (0, 2, 4)]
    for verb in (("ops",), ("inspect", "kernels")):
        operators = json.loads(call(*verb, fussy, "--isa", "dsp", "--json").out)
        convolutions = [each for each in operators if each["kind"] == "CONV_2D"]
        assert [each["functions"] for each in convolutions] == [["conv_2d_s8_row"]] * 3
        assert [each["declined"] for each in convolutions] == [[WHY]] * 3
        assert all(each["declined"] == [] for each in operators if each["kind"] != "CONV_2D")


LARGER = """\
model "m"
subgraph 0 "main"
  %0 "x" int8[1,2] scale=0.1 zero=0
  %1 "w" int8[3,2] scale=0.1 zero=0 = [1, 2, 3, 4, 5, 6]
  %2 "y" int8[1,3] scale=0.001 zero=0
  inputs %0
  outputs %2
  %2 = FULLY_CONNECTED(%0, %1) @0
"""


@pytest.mark.drawn("net")
@pytest.mark.parametrize("net", NETS)
@pytest.mark.long
def test_no_plan_in_one_memory_grows(tmp_path: Path, net: str) -> None:
    """Layer by layer; tests/firmware/test_instructions.py has real models row by row."""
    (tmp_path / "net.tflite").write_bytes(NETS[net]())
    path = manifest(tmp_path, f'{RAM_AND_FLASH}[plan]\nrows = false\n[models.net]\npath = "net.tflite"\n')
    plans = {isa: planned(path, "--isa", isa.value) for isa in Isa}
    functions = {isa: json.loads(call("inspect", "kernels", path, "--json", "--isa", isa.value).out) for isa in Isa}
    for isa in (Isa.DSP, Isa.MVE):
        assert plans[isa]["workspace"]["achieved"] <= plans[Isa.PORTABLE]["workspace"]["achieved"]
        assert functions[isa] != functions[Isa.PORTABLE]


def test_the_reference_library_says_why(tmp_path: Path) -> None:
    (tmp_path / "m.model.txt").write_text(LARGER, "utf-8")
    for isa, functions, declined in (
        ("portable", ["fully_connected_s8"], []),
        ("dsp", ["fully_connected_s8"], ["dsp: it scales by 8 or more"]),
        ("mve", ["fully_connected_s8"], ["mve: it scales by 1/2 or more", "dsp: it scales by 8 or more"]),
    ):
        (record,) = json.loads(call("inspect", "kernels", tmp_path / "m.model.txt", "--isa", isa, "--json").out)
        assert (record["functions"], record["declined"]) == (functions, declined)


def test_an_operator_without_a_kernel_says_why(tmp_path: Path) -> None:
    text = 'model "m"\nsubgraph 0 "main"\n  %0 "x" int8[8] scale=1 zero=0\n  %1 "y" int8[8] scale=1 zero=0\n'
    (tmp_path / "m.model.txt").write_text(f'{text}  inputs %0\n  outputs %1\n  %1 = "CUSTOM:SECRET"(%0) @0\n', "utf-8")
    shown = call("inspect", "kernels", tmp_path / "m.model.txt").out.splitlines()[1].split(maxsplit=6)
    assert shown == [
        "m",
        "CUSTOM:SECRET",
        "0",
        "-",
        "-",
        "-",
        "no kernel: the reference library has no kernel of this kind",
    ]
    record = json.loads(call("inspect", "kernels", tmp_path / "m.model.txt", "--json").out)[0]
    assert record["without_kernel"] == "the reference library has no kernel of this kind"
