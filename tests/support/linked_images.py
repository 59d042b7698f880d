"""A small plan, and images of it that small linker scripts make, with and without faults."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.support.cli import DATA
from tests.support.processes import output
from tests.support.tools import need
from usmp_build import pipeline
from usmp_build.errors import ProblemError
from usmp_build.files import DiskFiles
from usmp_build.image_check.elf import read_elf
from usmp_build.image_check.image import Image
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.layout.plan_json import plan_json, read_plan
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve

MACHINES: Mapping[str, tuple[str, ...]] = {
    "arm": ("arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb"),
    "riscv": ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"),
    "x86_64": ("gcc", "-static", "-fno-pic", "-no-pie", "-fcf-protection=none", "-Wl,--build-id=none"),
}
CODE = """
#define PLACED(name) __attribute__((section(name), used))
PLACED(".usmp.p.ram") __attribute__((aligned(16))) unsigned char p_ram_pool[256];
PLACED(".usmp.p.itcm") __attribute__((aligned(16))) const struct { int x[16]; } kws_itcm_constants = {{1, 2, 3}};
int other[4] = {1};
int zeros[4];
void _start(void);
void _start(void) { for (;;) { } }
"""
POOLS = """    .usmp.p.ram (NOLOAD) : ALIGN(16)
    {
        __usmp_ram_start = .;
        KEEP(*(.usmp.p.ram))
    } > RAM
    __usmp_ram.region_start = ORIGIN(RAM);
    __usmp_ram.region_size = LENGTH(RAM);
    .usmp.p.itcm : ALIGN(16)
    {
        __usmp_itcm_start = .;
        KEEP(*(.usmp.p.itcm))
    } > ITCM AT> FLASH
    __usmp_itcm.region_start = ORIGIN(ITCM);
    __usmp_itcm.region_size = LENGTH(ITCM);
    __usmp_itcm.load_region_start = ORIGIN(FLASH);
    __usmp_itcm.load_region_size = LENGTH(FLASH);
"""
"""What a script has that includes no fragment."""
SCRIPT = f"""
ENTRY(_start)
MEMORY
{{
    FLASH : ORIGIN = 0x00400000, LENGTH = 64K
    ITCM : ORIGIN = 0x00600000, LENGTH = 16K
    RAM : ORIGIN = 0x20000000, LENGTH = 4K
    OTHER : ORIGIN = 0x30000000, LENGTH = 64K
}}
SECTIONS
{{
    .text : {{ *(.text*) }} > FLASH
    .data : {{ *(.data*) }} > OTHER AT> FLASH
    .bss (NOLOAD) : {{ *(.bss*) *(COMMON) }} > OTHER
{POOLS}    /DISCARD/ : {{ *(.comment) *(.note*) *(.eh_frame*) *(.ARM*) *(.riscv.attributes) }}
}}
"""


@dataclass(frozen=True)
class Built:
    """The files of the linker."""

    elf: bytes
    map: bytes

    @property
    def image(self) -> Image:
        return read_elf(self.elf, "small.elf")


@cache
def _real() -> PlanRecord:
    """Some plan of the planner, with all fields that plans have."""
    files = DiskFiles(DATA)
    manifest = '[project]\nname = "p"\n[pools.ram]\naccess = "rw"\n[models.kws]\npath = "digits.tflite"\n'
    request = resolve(load(manifest.encode(), "usmp.toml"))
    text = plan_json(pipeline.plan(request, files).summary)
    return read_plan(text.encode(), "plan.json", ProblemError, "U223", "")


def pool(name: str, access: str = "rw", size: int = 256, **more: object) -> PoolRecord:
    """A pool of the plan."""
    facts = {"name": name, "access": access, "size": size, "section": f".usmp.p.{name}"}
    return replace(_real().pools[0], **(facts | more))


RAM = pool("ram", region="RAM")
ITCM = pool("itcm", "ro", 64, region="ITCM", load_region="FLASH")


def plan(*pools: PoolRecord) -> PlanRecord:
    """A plan of these pools, of RAM and ITCM if there are none."""
    return replace(_real(), pools=pools or (RAM, ITCM), buffers=())


def _link(folder: Path, machine: str, code: str, script: str, strip: bool) -> Built:
    compiler, *flags = MACHINES[machine]
    need(compiler)
    (folder / "small.c").write_text(code)
    (folder / "small.ld").write_text(script)
    command = [
        compiler,
        *flags,
        "-O1",
        "-fno-common",
        "-fdata-sections",
        "-nostdlib",
        "small.c",
        "-Tsmall.ld",
        "-Wl,-Map=small.map",
    ]
    command += ["-Wl,--noinhibit-exec", "-Wl,--no-check-sections", "-o", "small.elf", *(["-s"] if strip else [])]
    output(command, folder)
    return Built((folder / "small.elf").read_bytes(), (folder / "small.map").read_bytes())


def link(folder: Path, *edits: tuple[str, str], machine: str = "arm", strip: bool = False) -> Built:
    """Link the program, of whose code and script pieces were replaced."""
    code, script = CODE, SCRIPT
    for old, new in edits:
        assert old in code + script, old
        code, script = code.replace(old, new, 1), script.replace(old, new, 1)
    return _link(folder, machine, code, script, strip)
