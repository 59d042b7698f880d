"""What `init` reads of linker scripts, devicetrees and memory pools of ST, and what it says of bad ones."""

import json

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tree import text_file
from usmp_build.document.source import Source
from usmp_build.errors import Span, UsageError
from usmp_build.manifest.memory_maps import (
    CODES,
    read_devicetree,
    read_linker_script,
    read_mpool,
    starter_memory,
)

SCRIPT = """\
/* FLASH (rx) : ORIGIN = 0 */
ENTRY(Reset_Handler)
_estack = ORIGIN(RAM) + LENGTH(RAM);
flash_size = DEFINED(large) ? large : 512K;
PROVIDE(ram_size = 0x20000);
MEMORY
{
  FLASH (rx)   : ORIGIN = 0x08000000, LENGTH = flash_size - 16K
  SETTINGS (r) : ORIGIN = ORIGIN(FLASH) + LENGTH(FLASH), LENGTH = 16K
  RAM (xrw)    : org = 0x20000000 len = ram_size
  D1           : o = 0x24000000, l = MAX(1 << 8, 0400) * (7 % 4) / ~-2
  ALIAS (rw!x) : ORIGIN = 0x24000000, LENGTH = 256
  FLASH_2      : ORIGIN = 0x90000000, LENGTH = 1M
  NONE (!w)    : ORIGIN = 0x30000000, LENGTH = 0
}
SECTIONS { .text : { *(.text*) . = ALIGN(4); INCLUDE doorbell.ld } > FLASH }
INCLUDE sections.ld
"""
TREE = text_file("memory_maps_tree.dts")


def pool(name: str, rights: str, offset: str, size: str, magnitude: str) -> dict[str, object]:
    offset_of, size_of = {"value": offset, "magnitude": "BYTES"}, {"value": size, "magnitude": magnitude}
    return {
        "fname": "X",
        "name": name,
        "prop": {"rights": rights, "latency": "MID"},
        "offset": offset_of,
        "size": size_of,
    }


POOLS = [
    pool("cpuRAM2", "ACC_WRITE", "0x34100000", "1024", "KBYTES"),
    pool("xspi", "ACC_READ", "1879048192", "2", "MBYTES"),
]
MPOOL = json.dumps({"params": {}, "memory": {"cacheinfo": [], "mempools": POOLS}}, indent=1)
READERS = {"linker_script": read_linker_script, "devicetree": read_devicetree, "mpool": read_mpool}
FILES = {"linker_script": SCRIPT, "devicetree": TREE, "mpool": MPOOL}


def memories(kind: str, text: str) -> list[tuple[str, str, int, int]]:
    """Name, access, origin and size of each memory."""
    source = Source("map", text, CODES)
    return [(each.name, each.access, each.origin, each.size) for each in READERS[kind](source)]


def test_regions_of_a_linker_script() -> None:
    assert memories("linker_script", SCRIPT) == [
        ("FLASH", "ro", 0x08000000, 496 << 10),
        ("SETTINGS", "ro", 0x0807C000, 16 << 10),
        ("RAM", "rw", 0x20000000, 0x20000),
        ("D1", "rw", 0x24000000, 768),
        ("ALIAS", "rw", 0x24000000, 256),
        ("FLASH_2", "ro", 0x90000000, 1 << 20),
        ("NONE", "ro", 0x30000000, 0),
    ]


def test_memories_of_a_devicetree() -> None:
    """Flash is as large as its partition, and addresses are those of the processor."""
    assert memories("devicetree", TREE) == [
        ("FLASH", "ro", 0x08008000, 0x30000),
        ("RAM", "rw", 0x20000000, 0x20000),
        ("SRAM_1", "rw", 0x30000000, 0x8000),
        ("QSPI", "ro", 0x50000000, 0x8000),
    ]


SPI_FLASH = text_file("memory_maps_spi_flash.dts")


def test_flash_behind_a_bus_has_no_pool() -> None:
    """Its address in the processor's memory is one of the controller's, which the node does not name."""
    source = Source("zephyr.dts", SPI_FLASH, CODES)
    text = starter_memory(read_devicetree(source), source).tables
    assert tomli.loads(text) == {"pools": {"ram": {"access": "rw", "size": "16 KiB", "region": "RAM"}}}
    for region, flash in (("FLASH", "flash@0"), ("SPARE", "flash@1")):
        where = f"/soc/spi@10014000/{flash} is on a bus with #size-cells = 0"
        assert f"# {region} has no pool: {where}, so its address is not here.\n" in text


def test_memory_pools_of_st() -> None:
    assert memories("mpool", MPOOL) == [("cpuRAM2", "rw", 0x34100000, 1 << 20), ("xspi", "ro", 0x70000000, 2 << 20)]


def test_pools_of_memories() -> None:
    source = Source("a.ld", SCRIPT, CODES)
    text = starter_memory(READERS["linker_script"](source), source).tables
    pools = tomli.loads(text)["pools"]
    assert list(pools) == ["flash", "settings", "ram", "d1", "flash_2"]
    assert pools["ram"] == {"access": "rw", "size": "128 KiB", "region": "RAM"}
    assert pools["d1"] == {"access": "rw", "size": 768, "region": "D1"}
    assert "# The same memory as D1, or a part of it: pools must not overlap.\n#[pools.alias]" in text
    assert "# NONE at 0x30000000 has no bytes" in text
    source = Source("n6.mpool", MPOOL, CODES)
    assert (
        tomli.loads(starter_memory(READERS["mpool"](source), source).tables)["pools"]["cpuram2"]["origin"] == 0x34100000
    )


def region(length: str) -> str:
    return f"MEMORY\n{{ RAM (rw) : ORIGIN = 0, LENGTH = {length}\n}}\n"


def node(text: str) -> str:
    return f"/dts-v1/;\n/ {{\n{text}\n}};\n"


WRONG = {
    "no memory": ("linker_script", "SECTIONS { }\n", "U273", 1, "has no memory for pools"),
    "included regions": ("linker_script", "\nINCLUDE memory.x\n", "U273", 2, "included files are not read"),
    "included in MEMORY": ("linker_script", "MEMORY {\n INCLUDE x }\n", "U273", 2, "regions of an included file"),
    "preprocessor": ("linker_script", "#include <x.h>\nMEMORY { }\n", "U273", 1, "the C preprocessor has not read"),
    "no symbol": ("linker_script", region("_size"), "U273", 2, 'symbol "_size" has no value in this file'),
    "no region": ("linker_script", region("LENGTH(FLASH)"), "U273", 2, 'there is no region "FLASH" above'),
    "cycle": ("linker_script", "a = b + 1;\nb = a;\n" + region("a"), "U273", 4, 'symbol "a" needs itself'),
    "division": ("linker_script", region("4 / (2 - 2)"), "U273", 2, "division by zero"),
    "function": ("linker_script", region("SIZEOF(.text)"), "U273", 2, '"SIZEOF" is not read here'),
    "too deep": ("linker_script", region("(" * 5000 + "1" + ")" * 5000), "U273", 2, "brackets or symbols deep"),
    "too large": ("linker_script", region("1 << 60"), "U273", 2, "more than any memory has"),
    "number": ("linker_script", region("64Q"), "U272", 2, "expected a number, such as 0x20000000"),
    "cut off": ("linker_script", "MEMORY\n{ RAM", "U272", 2, 'expected ":"; here the file ends'),
    "open block": ("linker_script", "SECTIONS\n{ {} ", "U272", 2, "the block does not end"),
    "comment": ("linker_script", "\n/* MEMORY {", "U273", 2, "the comment does not end"),
    "attributes": ("linker_script", "MEMORY { A (rz) : o = 0, l = 1 }", "U272", 1, "attributes of a region"),
    "twice": ("linker_script", "MEMORY { A : o = 0, l = 1\nA : o = 0, l = 1 }", "U273", 2, '"A" is there twice'),
    "many": (
        "linker_script",
        "MEMORY {" + "".join(f" R{i} : o = {i}, l = 1\n" for i in range(300)) + "}",
        "U273",
        257,
        "the file has 300 memories",
    ),
    "not resolved": ("devicetree", "/dts-v1/;\n&sram0 { };\n", "U273", 2, "changes nodes of another one"),
    "include": ("devicetree", '/include/ "soc.dtsi"\n', "U273", 1, "changes nodes of another one"),
    "delete": ("devicetree", node("/delete-node/ a;"), "U273", 3, "/delete-node/ changes what other files say"),
    "macro": ("devicetree", node("reg = < (1 + 2) >;"), "U273", 3, "expressions are not read"),
    "cell": ("devicetree", node("reg = < 0x1ffffffff >;"), "U272", 3, "expected a number of 32 bits"),
    "not closed": ("devicetree", "/ { a {", "U272", 1, "here the file ends"),
    "no root": ("devicetree", "\n", "U272", 2, "expected the root of a devicetree"),
    "bytes": ("devicetree", node("a = [ 00"), "U272", 4, "expected bytes or ]"),
    "label": ("devicetree", node("chosen {\nzephyr,sram = &gone; };"), "U273", 4, 'names "gone", which is not there'),
    "no reg": ("devicetree", node('chosen { zephyr,sram = "/a"; };\na { };'), "U273", 4, 'has no "reg"'),
    "no name": (
        "devicetree",
        node('a { compatible = "zephyr,memory-region"; };'),
        "U273",
        3,
        "no zephyr,memory-region",
    ),
    "counts": (
        "devicetree",
        node('#address-cells = <99>;\nchosen { zephyr,sram = "/a"; };\na { reg = <1 2>; };'),
        "U273",
        3,
        "#address-cells is more than 4",
    ),
    "nested": ("devicetree", node("a {\n" * 5000), "U273", 66, "nodes in nodes"),
    "JSON": ("mpool", "{\n", "U272", 2, "this is not JSON"),
    "no pools": ("mpool", '{"memory": {}}', "U273", 1, "mempools"),
    "value": ("mpool", MPOOL.replace('"1024"', '"a lot"'), "U273", 18, '"a lot" is not a number of bytes'),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_has_its_place(name: str) -> None:
    kind, text, code, line, message = WRONG[name]
    source = Source("map", text, CODES)
    with pytest.raises(UsageError) as raised:
        starter_memory(READERS[kind](source), source)
    (diagnostic,) = raised.value.diagnostics
    assert isinstance(diagnostic.place, Span)
    assert (diagnostic.code, diagnostic.place.line) == (code, line), diagnostic
    assert message in diagnostic.message
    assert diagnostic.help


@given(st.sampled_from(sorted(FILES)), st.data())
@settings(max_examples=150, deadline=2000)
def test_damaged_files_give_a_manifest_or_one_kind_of_error(kind: str, data: st.DataObject) -> None:
    text = FILES[kind]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    other = data.draw(st.sampled_from(sorted(FILES.values())))
    at = data.draw(st.integers(0, len(other)))
    source = Source("map", text[:start] + other[at : at + data.draw(st.integers(0, 30))] + text[end:], CODES)
    try:
        written = starter_memory(READERS[kind](source), source)
    except UsageError:
        return
    tomli.loads(written.tables)
