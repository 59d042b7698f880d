"""Two plans in one image: each has its own pools, and equal names of pools do not link."""

import re
import shutil
import struct
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, RO, RW, call, manifest, succeed, tables
from tests.support.files import PROJECTS
from tests.support.processes import output, run
from tests.support.tools import need

TOOLS = {
    "arm": ("arm-none-eabi-", ("-mcpu=cortex-m33", "-mthumb")),
    "host": ("", ("-no-pie", "-fcf-protection=none", "-Wl,--build-id=none")),
}
FLAGS = ("-ffreestanding", "-O1", "-nostdlib", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,--fatal-warnings")
SCRIPT = """
ENTRY(_start)
MEMORY
{
    FLASH : ORIGIN = 0x00400000, LENGTH = 128K
    ITCM : ORIGIN = 0x10000000, LENGTH = 64K
    RAM : ORIGIN = 0x20000000, LENGTH = 64K
}
SECTIONS
{
    .text : { *(.text*) *(.rodata*) *(.eh_frame*) *(.ARM*) } > FLASH
    .copy :
    {
        INCLUDE left_copy_table.ld
        INCLUDE right_copy_table.ld
    } > FLASH
    INCLUDE left.ld
    INCLUDE right.ld
    .data : { *(.data*) *(.bss*) *(COMMON) } > RAM
    /DISCARD/ : { *(.comment) *(.note*) }
}
"""
COPIED = f'{RO}region = "ITCM"\nload_region = "FLASH"\n'
RAM = f'{RW}region = "RAM"\n'


@pytest.fixture(params=TOOLS)
def tools(request: pytest.FixtureRequest) -> str:
    need(f"{TOOLS[request.param][0]}gcc", f"{TOOLS[request.param][0]}objcopy")
    return str(request.param)


def generate(folder: Path, left: str, right: str) -> None:
    """Plan two projects in one folder, with a pool of constants each, called so."""
    for project, pool, models in (("left", left, {"digits": DIGITS}), ("right", right, {"odd_even": ODD_EVEN})):
        text = tables(project, {f"{project}_ram": RAM, pool: COPIED}, models)
        succeed("generate", manifest(folder, text, f"{project}.toml"), "--out", folder / project)
    shutil.copyfile(PROJECTS / "bare_metal" / "main.c", folder / "main.c")
    (folder / "link.ld").write_text(SCRIPT)


def link(folder: Path, tools: str, *plans: str, calls: tuple[str, ...] = ()) -> tuple[int, str]:
    """Link a program that runs models, with the objects of these plans."""
    main = folder / "main.c"
    text = re.sub(r'#include "digits.h"', "".join(f'#include "{model}.h"\n' for model in calls), main.read_text())
    runs = " ".join(f"(void){model}_run();" for model in calls)
    main.write_text("#include <stddef.h>\n" + text.replace("(void)digits_run();", runs))
    sources = [path for plan in plans for path in sorted((folder / plan).glob("*.c"))]
    prefix, flags = TOOLS[tools]
    paths = [f"{option}{folder / plan}" for plan in ("left", "right") for option in ("-I", "-L")]
    command = [f"{prefix}gcc", *flags, *FLAGS, *paths, "-T", folder / "link.ld", main, *sources, "-o", folder / "image"]
    done = run(command, folder, merged=True)
    return done.code, done.out


def copy_table(folder: Path, tools: str) -> list[tuple[int, ...]]:
    """From, to, and words, of each entry."""
    output([f"{TOOLS[tools][0]}objcopy", "-O", "binary", "-j", ".copy", folder / "image", folder / "copy"])
    return list(struct.iter_unpack("<3I", (folder / "copy").read_bytes()))


def check(folder: Path, *plans: str) -> None:
    for plan in plans:
        done = call("check", folder / plan, "--elf", folder / "image")
        assert done.code == 0, done.out + done.err


def test_each_copies_its_own_pool(tmp_path: Path, tools: str) -> None:
    generate(tmp_path, "first", "second")
    code, done = link(tmp_path, tools, "left", "right", calls=("digits", "odd_even"))
    assert code == 0, done
    check(tmp_path, "left", "right")
    (_, to, words), (_, next_to, next_words) = copy_table(tmp_path, tools)
    assert (to, next_to) == (0x10000000, 0x10000000 + (4 * words + 15) // 16 * 16)
    assert next_words > 0


def test_equal_names_of_pools_do_not_link(tmp_path: Path, tools: str) -> None:
    generate(tmp_path, "weights", "weights")
    code, done = link(tmp_path, tools, "left", "right", calls=("digits", "odd_even"))
    assert code != 0
    assert "usmp: another plan has a pool called weights, too; rename that of right" in done


@pytest.mark.parametrize(("plan", "model"), [("left", "digits"), ("right", "odd_even"), ("", "")])
def test_a_plan_of_which_nothing_is_linked(tmp_path: Path, tools: str, plan: str, model: str) -> None:
    """Its copy table has an entry for no words."""
    generate(tmp_path, "first", "second")
    code, done = link(tmp_path, tools, *filter(None, [plan]), calls=tuple(filter(None, [model])))
    assert code == 0, done
    assert [bool(words) for _, _, words in copy_table(tmp_path, tools)] == [plan == "left", plan == "right"]


def test_the_copy_table_means_the_pools_of_its_plan_whatever_they_are_called(tmp_path: Path, tools: str) -> None:
    """Even where nothing stops the linker."""
    generate(tmp_path, "weights", "weights")
    fragment = tmp_path / "right" / "right.ld"
    fragment.write_text(re.sub(r"(?m)^ASSERT\(DEFINED\(__usmp_weights_start.*$", "", fragment.read_text()))
    code, done = link(tmp_path, tools, "left", "right", calls=("digits", "odd_even"))
    assert code == 0, done
    first, second = copy_table(tmp_path, tools)
    assert first[1] != second[1]
