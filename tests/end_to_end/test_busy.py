"""Debug builds: a model that is entered while one runs that excludes it says so."""

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, PASSED, RO, RW, call, manifest, tables
from tests.support.host_c import built
from tests.support.processes import output, run
from tests.support.tools import need

MODELS = {"digits": DIGITS, "odd_even": ODD_EVEN}
PLAN = tables("two", {"sram": RW, "flash": RO}, MODELS)
CONCURRENT = f'concurrent = [["digits", "odd_even"]]\n{PLAN}'
OWNED = tables("two", {"sram": RW + PASSED, "flash": RO}, MODELS)

MAIN = """
#include <stdio.h>
#include "digits.h"
#include "odd_even.h"
#include "two.h"

#ifdef PASSED
USMP_ALIGNED(TWO_SRAM_ALIGNMENT) static uint8_t arenas[2][(TWO_SRAM_SIZE + 63) / 64 * 64];
#define DIGITS(arena) digits_run(&(const struct digits_workspace_pools){ arenas[arena] })
#define ODD_EVEN(arena) odd_even_run(&(const struct odd_even_workspace_pools){ arenas[arena] })
#else
#define DIGITS(arena) digits_run()
#define ODD_EVEN(arena) odd_even_run()
#endif

static int inside;

void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size)
{
    (void)model, (void)step, (void)tensor, (void)row, (void)data, (void)size;
}

void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size)
{
    (void)model, (void)step, (void)tensor, (void)data, (void)size;
    if (!inside) {
        inside = 1;
        printf("%d %d ", (int)DIGITS(0), (int)ODD_EVEN(0));
#ifdef PASSED
        printf("%d %d %d ", (int)DIGITS(1), (int)ODD_EVEN(1), (int)DIGITS(0));
#endif
    }
}

int main(void)
{
    const int first = (int)DIGITS(0);

    printf("%d ", first);
    inside = 0;
    const int second = (int)ODD_EVEN(0);

    printf("%d\\n", second);
    return 0;
}
"""


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


AT_ZERO = """
#include <stdio.h>
#include "two.h"
#include "two_guard.h"

int main(void)
{
    uint8_t *const bases[1] = { NULL };
    const int first = (int)two_enter(0, bases, 1);
    const int second = (int)two_enter(1, bases, 1);

    two_leave(0, bases, 1);
    printf("%d %d %d\\n", first, second, (int)two_enter(1, bases, 1));
    return 0;
}
"""


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
