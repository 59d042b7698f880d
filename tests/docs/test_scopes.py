"""docs/scopes.md: its first manifest sends operators where it says, its second one gives the table that it shows."""

from tests.support.cli import call, manifest, planned
from tests.support.programs_c import alloc, function, parameter, program, store
from tests.support.shell import Shell
from tests.support.small_models import GEMM
from tests.support.snippets import Page, runs
from tests.support.tree import text_file

PLAN_DEVICES = """
[project]
name = "p"
[pools.a]
access = "rw"
[pools.b]
access = "rw"
[targets.cpu]
[targets.npu]
kernels = "extern"
[models.gemm]
path = "gemm.model.txt"
"""
"""In GEMM, FULLY_CONNECTED stands for PlanDevices's `gemm`."""


KWS = text_file("page_scopes_kws.model.txt")
ONE_MODEL = '[targets.cpu]\n[project]\nname = "p"\n[models.kws]\npath = "kws.model.txt"\n'


@runs("docs/scopes.md#constraints")
def test_constraints_and_copies(page: Page, shell: Shell) -> None:
    (shell.folder / "kws.model.txt").write_text(KWS, encoding="utf-8")
    pools = {
        buffer["name"]: buffer["pool"]
        for buffer in planned(manifest(shell.folder, ONE_MODEL + page.take("toml").text))["buffers"]
    }
    assert (pools["kws.audio.in_local"], pools["kws.conv/Relu"], pools["kws.dense1/Relu"]) == (
        "local",
        "local",
        "shared",
    )


@runs("docs/scopes.md#memories-of-programs")
def test_memories_of_programs(page: Page, shell: Shell) -> None:
    ports = [parameter("x", "uint8", 16), parameter("y", "uint8", 16)]
    inside = alloc("b", "uint8", [16], store("b", "x"), store("y", "b"), scope="global.vtcm")
    program(shell.folder, function(ports, inside), name="kws")
    pools = '[project]\nname = "p"\n[pools.sram]\naccess = "rw"\n[pools.tcm]\naccess = "rw"\n'
    text = f'{pools}[models.kws]\npath = "kws.program.json"\n'
    assert "error[P316]" in call("plan", manifest(shell.folder, text)).err
    assert {
        buffer["name"]: buffer["pool"]
        for buffer in planned(manifest(shell.folder, text + page.take("toml").text))["buffers"]
    }["kws.b"] == "tcm"


@runs("docs/scopes.md#an-example")
def test_the_example_of_plandevices(page: Page, shell: Shell) -> None:
    (shell.folder / "gemm.model.txt").write_text(GEMM, encoding="utf-8")
    (shell.folder / "usmp.toml").write_text(PLAN_DEVICES + page.take("toml").text, encoding="utf-8")
    shell.run(page.take("console"))
