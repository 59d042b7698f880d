"""What `check` says of the vector table and the stack: nothing of images that start, and of others why they do not."""

from pathlib import Path

import pytest

from tests.support.linked_images import RAM, Built, link, plan, pool
from usmp_build.image_check.check import check
from usmp_build.image_check.map_file import read_map
from usmp_build.layout import PoolRecord

Edit = tuple[str, str]
LOOP = "void _start(void) { for (;;) { } }"
TEXT = ".text : { *(.text*) } > FLASH"
POOL = ".usmp.p.itcm : ALIGN(16)"
WEIGHTS = pool("itcm", "ro", 64, region="FLASH")
IN_FLASH: list[Edit] = [
    ("} > ITCM AT> FLASH", "} > FLASH"),
    ("region_start = ORIGIN(ITCM)", "region_start = ORIGIN(FLASH)"),
    ("region_size = LENGTH(ITCM)", "region_size = LENGTH(FLASH)"),
]
"""The constants are read where they are stored."""


def table(name: str = "handlers", section: str = ".isr_vector", reset: str = "_start") -> Edit:
    """A vector table, and the functions in it."""
    words = f'PLACED("{section}") void *const {name}[16] = {{top, {reset}}};'
    return (LOOP, f"{LOOP}\nvoid other_reset(void);\nvoid other_reset(void) {{ }}\nextern int top[];\n{words}")


def script(*before_text: str, top: str = "ORIGIN(RAM) + LENGTH(RAM)", symbols: str = "") -> Edit:
    """Sections before .text, and where the stack begins."""
    sections = "\n".join(before_text or [TABLE])
    return (TEXT, f"top = {top};\n{symbols}\n{sections}\n{TEXT}")


TABLE = ".isr_vector : { KEEP(*(.isr_vector)) } > FLASH"
ABOVE: Edit = (POOL, ".usmp.p.itcm 0x00400000 :")
LATE = ".isr_vector 0x00400100 : { KEEP(*(.isr_vector)) } > FLASH"


def findings(built: Built, *pools: PoolRecord, with_map: bool = False) -> dict[str, str]:
    """Code → message."""
    report = check(plan(*pools), built.image, read_map(built.map, "small.map") if with_map else None)
    return {each.code: each.message for each in report.wrong}


def test_a_table_where_its_memory_begins_is_right(tmp_path: Path) -> None:
    assert findings(link(tmp_path, table(), script(), *IN_FLASH), RAM, WEIGHTS) == {}


@pytest.mark.parametrize(
    ("vectors", "strip", "with_map"),
    [
        (table("handlers"), False, False),
        (table("__Vectors", reset="other_reset"), False, False),
        (table("g_pfnVectors", ".text.vectors"), False, False),
        (table("handlers"), True, True),
        (table("handlers", ".vectors", "other_reset"), True, True),
    ],
    ids=["second word is ENTRY", "name", "in .text", "stripped", "stripped, named in the map"],
)
def test_a_pool_before_the_table_is_detected(tmp_path: Path, vectors: Edit, strip: bool, with_map: bool) -> None:
    late = ".isr_vector 0x00400100 : { KEEP(*(.isr_vector .vectors .text.vectors)) } > FLASH"
    built = link(tmp_path, vectors, script(late), ABOVE, *IN_FLASH, strip=strip)
    codes = findings(built, RAM, WEIGHTS, with_map=with_map)
    assert list(codes) == ["S632"]
    assert 'pool "itcm" is at 0x00400000, before the vector table at 0x00400100' in codes["S632"]


def test_a_pool_without_a_region_is_located_in_the_segment_of_the_table(tmp_path: Path) -> None:
    free = pool("itcm", "ro", 64)
    assert "S632" in findings(link(tmp_path, table(), script(LATE), ABOVE, *IN_FLASH), RAM, free)


def test_a_workspace_in_the_memory_that_the_processor_starts_from(tmp_path: Path) -> None:
    """As where code runs in a RAM that the image is loaded into."""
    built = link(
        tmp_path,
        table(),
        script(".isr_vector 0x20000200 : { KEEP(*(.isr_vector)) } > RAM", top="ORIGIN(OTHER) + 4K"),
        (".usmp.p.ram (NOLOAD) : ALIGN(16)", ".usmp.p.ram 0x20000000 (NOLOAD) :"),
    )
    assert "before the vector table at 0x20000200" in findings(built)["S632"]


FINE: dict[str, tuple[list[Edit], PoolRecord, str]] = {
    "a boot loader below": (
        [table(), script(LATE.replace("0100", "8000")), (POOL, ".usmp.p.itcm 0x00408100 :"), *IN_FLASH], WEIGHTS, "arm"
    ),
    "a table behind the program": (
        [table(), script(LATE.replace("0100", "0200")), (".text :", ".text 0x00400100 :"), ABOVE, *IN_FLASH],
        WEIGHTS, "arm",
    ),
    "a second stage before the table": (
        [table(), script(".boot2 : { LONG(1) . = 0x100; } > FLASH", TABLE), *IN_FLASH], WEIGHTS, "arm"
    ),
    "a pool in another region, at lower addresses": (
        [table(), script(".isr_vector : { KEEP(*(.isr_vector)) } > OTHER"), *IN_FLASH], WEIGHTS, "arm"
    ),
    "a pool that the manifest places": (
        [table(), script(LATE), ABOVE, *IN_FLASH],
        pool("itcm", "ro", 64, region="FLASH", origin=0x400000), "arm",
    ),
    "what is called like a table is none": (
        [("int other[4] = {1};", "int vectors[4] = {1};"), (".text :", ".text 0x00400100 :"), ABOVE, *IN_FLASH],
        WEIGHTS, "arm",
    ),
    "RISC-V": ([table(), script(LATE), ABOVE, *IN_FLASH], WEIGHTS, "riscv"),
    "x86": ([table(), script(LATE), ABOVE, *IN_FLASH], WEIGHTS, "x86_64"),
}  # fmt: skip


@pytest.mark.parametrize("case", FINE)
def test_what_is_no_fault(tmp_path: Path, case: str) -> None:
    edits, weights, machine = FINE[case]
    assert findings(link(tmp_path, *edits, machine=machine), RAM, weights) == {}


def stack(top: str, symbols: str = "", more: str = "") -> list[Edit]:
    """A table whose first word is the top, and symbols of a linker script."""
    edits = [table(), script(top=top, symbols=symbols)]
    return [*edits, ("int zeros[4];", f"int zeros[4];\n{more}")] if more else edits


UNDER: dict[str, tuple[list[Edit], str]] = {
    "in the pool": (stack("ORIGIN(RAM) + 128"), "the stack begins in it, at 0x20000080 (word 0 of the vector table)"),
    "at its end": (stack("ORIGIN(RAM) + 256"), "the stack begins in it, at 0x20000100"),
    "little above": (stack("ORIGIN(RAM) + 344"), "the stack begins 88 bytes above it, at 0x20000158"),
    "a symbol": (stack("ORIGIN(RAM) + 344", "_estack = top;"), "88 bytes above it, at 0x20000158 (_estack)"),
    "a limit": (
        stack("ORIGIN(RAM) + 2K", "__StackLimit = ORIGIN(RAM) + 128;"),
        "the stack begins 1,792 bytes above it",
    ),
    "a size": (stack("ORIGIN(RAM) + 2K", "_Min_Stack_Size = 2000;"), "the stack begins 1,792 bytes above it"),
    "another stack than the processor's first": (
        stack("ORIGIN(RAM) + LENGTH(RAM)", "__stack = ORIGIN(RAM) + 300;"),
        "44 bytes above it, at 0x2000012c (__stack)",
    ),
}


@pytest.mark.parametrize("case", UNDER)
def test_a_pool_where_the_stack_grows_is_detected(tmp_path: Path, case: str) -> None:
    edits, message = UNDER[case]
    codes = findings(link(tmp_path, *edits))
    assert list(codes) == ["S633"]
    assert codes["S633"].startswith('pool "ram" is at 0x20000000..0x20000100, and the stack begins')
    assert message in codes["S633"]


@pytest.mark.parametrize("machine", ["riscv", "x86_64"])
def test_symbols_tell_where_the_stack_of_other_processors_is(tmp_path: Path, machine: str) -> None:
    built = link(tmp_path, script(top="0", symbols="_sp = ORIGIN(RAM) + 300;"), machine=machine)
    assert "44 bytes above it, at 0x2000012c (_sp)" in findings(built)["S633"]


def test_a_stripped_image_has_its_stack_in_the_table_and_its_symbols_in_the_map(tmp_path: Path) -> None:
    built = link(tmp_path, *stack("ORIGIN(RAM) + 2K", "_Min_Stack_Size = 2000;"), strip=True)
    assert findings(built) == {}
    assert list(findings(built, with_map=True)) == ["S633"]
    low = link(tmp_path, *stack("ORIGIN(RAM) + 128"), strip=True)
    assert list(findings(low)) == ["S633"]


ROOM: dict[str, list[Edit]] = {
    "the rest of the memory": stack("ORIGIN(RAM) + LENGTH(RAM)", "_estack = top;"),
    "just enough": stack("ORIGIN(RAM) + 512"),
    "its limit is where the pool ends": stack("ORIGIN(RAM) + 344", "_sstack = ORIGIN(RAM) + 256;"),
    "it is a small array behind the pool": [
        *stack("mine + 64", more='PLACED(".bss.mine") unsigned char mine[64];'),
        (".bss (NOLOAD) : { *(.bss*) *(COMMON) } > OTHER", ".bss 0x20000100 (NOLOAD) : { *(.bss*) } > RAM"),
        (".usmp.p.ram (NOLOAD) : ALIGN(16)", ".usmp.p.ram 0x20000000 (NOLOAD) :"),
    ],
    "a limit of the heap is called like one of the stack": stack(
        "ORIGIN(RAM) + 2K", "__StackTop = top; __StackLimit = ORIGIN(RAM); __StackBottom = top - 1K;"
    ),
}


@pytest.mark.parametrize("case", ROOM)
def test_a_stack_with_room_is_right(tmp_path: Path, case: str) -> None:
    assert findings(link(tmp_path, *ROOM[case])) == {}
