"""Pools in sections of the program: a manifest says `section = ".bss.doorbell"`, and any script collects `.bss*`."""

from pathlib import Path

import pytest

from tests.support.linked_images import MACHINES, POOLS, Built, link, plan, pool
from usmp_build.image_check.check import ImageReport, check
from usmp_build.image_check.map_file import read_map
from usmp_build.layout import PoolRecord

NO_FRAGMENT = (POOLS, "")


def placed(workspace: str, constants: str) -> list[tuple[str, str]]:
    """The pools in these sections, and a script without the fragment."""
    return [NO_FRAGMENT, ('".usmp.p.ram"', f'"{workspace}"'), ('".usmp.p.itcm"', f'"{constants}"')]


def pools(workspace: str, constants: str, **more: object) -> tuple[PoolRecord, PoolRecord]:
    return pool("ram", section=workspace, **more), pool("itcm", "ro", 64, section=constants)


def report(built: Built, *records: PoolRecord, with_map: bool = False) -> ImageReport:
    return check(plan(*records), built.image, read_map(built.map, "small.map") if with_map else None)


def messages_by_code(findings: ImageReport) -> dict[str, str]:
    return {each.code: each.message for each in findings.wrong}


@pytest.mark.parametrize("constants", [".data.p", ".usmp.p.itcm"])
@pytest.mark.parametrize("workspace", [".bss.p", ".data.q"])
@pytest.mark.parametrize("machine", MACHINES)
def test_pools_in_sections_of_the_program_are_right(
    tmp_path: Path, machine: str, workspace: str, constants: str
) -> None:
    """Constants in no section of the program are placed beside its constants by every linker."""
    built = link(tmp_path, *placed(workspace, constants), machine=machine)
    findings = report(built, *pools(workspace, constants))
    assert findings.wrong == ()
    (ram, *_) = findings.linked
    assert (ram.name, ram.section, ram.extent.size) == ("ram", workspace[:-2], 256)
    assert not any('"ram"' in text for text in findings.unchecked)


def test_a_map_shows_the_array_of_a_stripped_image(tmp_path: Path) -> None:
    built = link(tmp_path, *placed(".bss.p", ".data.p"), strip=True)
    findings = report(built, *pools(".bss.p", ".data.p"), with_map=True)
    assert findings.wrong == ()
    assert [(each.name, each.section, each.extent.size) for each in findings.linked] == [("ram", ".bss", 256)]
    smaller = link(tmp_path, *placed(".bss.p", ".data.p"), ("[256]", "[240]"), strip=True)
    assert (
        "240 bytes, planned are 256"
        in messages_by_code(report(smaller, *pools(".bss.p", ".data.p"), with_map=True))["S613"]
    )


FAULTS = {
    "size": ([("[256]", "[240]")], "S613", "its array has 240 bytes, planned are 256: 16 bytes missing"),
    "alignment": (
        [("aligned(16))) unsigned", "aligned(4))) unsigned"), ("{ *(.bss*)", "{ . += 4; *(.bss*)")],
        "S614", "4 bytes past a multiple of 16",
    ),
    "takes bytes of the image": (
        [("{ *(.data*) }", "{ *(.data*) *(.bss.p) }")], "S624", "is a workspace, but takes 256 bytes of the image"
    ),
    "no script takes it": (
        [("{ *(.bss*)", "{ *(.bss)")], "S621", "section .bss.p is at 0x",
    ),
    "constants without bytes": (
        [("{ *(.data*) }", "{ *(.data.o*) }"), ("{ *(.bss*)", "{ *(.data.p) *(.bss*)")],
        "S625", "holds constants, but the image has none of their 64 bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_detected(tmp_path: Path, fault: str) -> None:
    edits, code, message = FAULTS[fault]
    built = link(tmp_path, *placed(".bss.p", ".data.p"), *edits)
    codes = messages_by_code(report(built, *pools(".bss.p", ".data.p")))
    assert list(codes) == [code]
    assert message in codes[code]


def test_a_pool_with_a_region_or_an_address_is_placed_by_the_fragment(tmp_path: Path) -> None:
    built = link(tmp_path, *placed(".bss.p", ".data.p"))
    for more in ({"region": "OTHER"}, {"origin": 0x30000000}):
        codes = messages_by_code(report(built, *pools(".bss.p", ".data.p", **more)))
        assert "its object p_ram_pool is in .bss at 0x3000" in codes["S619"]
