"""Debug builds: a model that is entered while one runs that excludes it says so."""

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, PASSED, RO, RW, call, manifest, tables
from tests.support.host_c import built
from tests.support.processes import output, run
from tests.support.tools import need
from tests.support.tree import text_file

MODELS = {"digits": DIGITS, "odd_even": ODD_EVEN}
PLAN = tables("two", {"sram": RW, "flash": RO}, MODELS)
CONCURRENT = f'concurrent = [["digits", "odd_even"]]\n{PLAN}'
OWNED = tables("two", {"sram": RW + PASSED, "flash": RO}, MODELS)

MAIN = text_file("busy.c")


@pytest.mark.parametrize(
    ("plan", "definition", "message"),
    [
        (PLAN, "-DSOLO", "3 3 0 3 3 0"),
        (CONCURRENT, "-DSOLO", "3 0 0 0 3 0"),
        (OWNED, "-DPASSED", "3 3 0 0 3 0 3 3 0 0 3 0"),
    ],
    ids=["exclusive", "concurrent", "passed"],
)
@pytest.mark.long
def test_a_model_that_is_excluded_is_busy(tmp_path: Path, plan: str, definition: str, message: str) -> None:
    assert call("generate", manifest(tmp_path, plan), "--out", tmp_path / "out").code == 0
    program = built(tmp_path / "out", tmp_path, MAIN, "gcc", definition, "-DUSMP_HOOK")
    done = run([program])
    assert done.out.split() == message.split()


AT_ZERO = text_file("busy_at_zero.c")


def test_a_pool_at_address_0_is_a_pool(tmp_path: Path) -> None:
    """What is nowhere on this machine is where some processors have their fastest memory."""
    assert call("generate", manifest(tmp_path, PLAN), "--out", tmp_path / "out").code == 0
    program = built(tmp_path / "out", tmp_path, AT_ZERO, "gcc")
    assert output([program]) == "0 3 0\n"


@pytest.mark.parametrize(
    ("flags", "guarded"), [(["-DNDEBUG"], False), ([], True), (["-DNDEBUG", "-DUSMP_GUARD=1"], True)]
)
@pytest.mark.long
def test_a_release_build_has_no_guard(tmp_path: Path, flags: list[str], guarded: bool) -> None:
    assert call("generate", manifest(tmp_path, OWNED), "--out", tmp_path / "out").code == 0
    program = built(tmp_path / "out", tmp_path, MAIN, "gcc", "-DPASSED", *flags)
    symbols = output(["nm", program])
    assert [name in symbols for name in ("two_enter", "two_leave", "two_running", "two_excluded")] == [guarded] * 4


def test_macros_of_the_application_do_not_meet_the_guard(tmp_path: Path) -> None:
    assert call("generate", manifest(tmp_path, OWNED), "--out", tmp_path / "out").code == 0
    built(tmp_path / "out", tmp_path, MAIN, "gcc", "-DPASSED", "-DMODELS=2", "-DSLOTS=2", "-Drunning=1", "-Dexcluded=1")


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("arm-none-eabi-gcc", ["-mcpu=cortex-m0", "-mthumb"]),
        ("riscv64-unknown-elf-gcc", ["-march=rv32imc", "-mabi=ilp32", "-ffreestanding"]),
    ],
)
def test_processors_without_atomic_instructions_need_no_library(
    tmp_path: Path, compiler: str, flags: list[str]
) -> None:
    need(compiler)
    assert call("generate", manifest(tmp_path, OWNED), "--out", tmp_path / "out").code == 0
    command = [compiler, "-std=c99", *flags, "-c", "two_pools.c", "-o", "pools.o"]
    subprocess.run(command, cwd=tmp_path / "out", check=True)
    undefined = ["nm", "-u", tmp_path / "out" / "pools.o"]
    assert output(undefined) == ""


def test_without_builtins_the_guard_is_plain_c(tmp_path: Path) -> None:
    """A compiler that has none reads and writes the volatile objects themselves."""
    assert call("generate", manifest(tmp_path, PLAN), "--out", tmp_path / "out").code == 0
    flags = ["-DUSMP_LOAD(place)=(place)", "-DUSMP_STORE(place,value)=((void)((place)=(value)))"]
    program = built(tmp_path / "out", tmp_path, MAIN, "gcc", "-DSOLO", "-DUSMP_HOOK", *flags)
    done = run([program])
    assert done.out.split() == "3 3 0 3 3 0".split()
