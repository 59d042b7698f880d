"""What `check` says of images: nothing of good ones, and of every planted fault what it is."""

import re
from pathlib import Path

import pytest

from tests.support.cli import DATA, succeed
from tests.support.linked_images import ITCM, MACHINES, RAM, Built, link, plan, pool
from usmp_build.cli.plan_file import read_plan_file
from usmp_build.image_check.check import ImageReport, check
from usmp_build.image_check.map_file import read_map
from usmp_build.layout import PoolRecord
from usmp_build.layout.plan_json import plan_hash


def report(built: Built, *pools: PoolRecord, with_map: bool = False) -> ImageReport:
    return check(plan(*pools), built.image, read_map(built.map, "small.map") if with_map else None)


def findings_of(built: Built, *pools: PoolRecord, with_map: bool = False) -> dict[str, str]:
    """The findings: code → message."""
    return {each.code: each.message for each in report(built, *pools, with_map=with_map).wrong}


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("with_map", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_wrong_with_a_good_image(tmp_path: Path, machine: str, with_map: bool, strip: bool) -> None:
    findings = report(link(tmp_path, machine=machine, strip=strip), with_map=with_map)
    assert findings.wrong == ()
    assert [(pool.name, pool.extent.start, pool.extent.size) for pool in findings.linked] == [
        ("ram", 0x20000000, 256),
        ("itcm", 0x600000, 64),
    ]
    if not strip:
        assert findings.unchecked == ()
    else:
        assert "is stripped" in findings.unchecked[0]
        assert len(findings.unchecked) == (1 if with_map else 4)


FAULTS = {
    "size": (
        "S613", [("KEEP(*(.usmp.p.ram))", "KEEP(*(.usmp.p.ram)) . += 8;")],
        "section .usmp.p.ram at 0x20000000 has 264 bytes, planned are 256: 8 bytes too many",
    ),
    "room for canaries, but none there": (
        "S613", [("KEEP(*(.usmp.p.ram))", "KEEP(*(.usmp.p.ram)) . += 32;")],
        "section .usmp.p.ram at 0x20000000 has 288 bytes, planned are 256: 32 bytes too many",
    ),
    "alignment": (
        "S614", [("aligned(16))) unsigned", "aligned(4))) unsigned"),
                 (".usmp.p.ram (NOLOAD) : ALIGN(16)", ".usmp.p.ram 0x20000004 (NOLOAD) :")],
        "is at 0x20000004, 4 bytes past a multiple of 16",
    ),
    "region": (
        "S616", [("} > RAM", "} > OTHER")],
        "and region RAM at 0x20000000..0x20001000: 256 bytes outside",
    ),
    "partly outside": (
        "S616", [(".usmp.p.ram (NOLOAD) : ALIGN(16)", ".usmp.p.ram 0x20000F80 (NOLOAD) :")],
        "is at 0x20000f80..0x20001080, and region RAM at 0x20000000..0x20001000: 128 bytes outside",
    ),
    "load region": (
        "S617", [("} > ITCM AT> FLASH", "} > ITCM AT> OTHER")],
        "and region FLASH at 0x00400000..0x00410000: 64 bytes outside",
    ),
    "stranger": (
        "S618", [("*(.bss*)", ""), ("KEEP(*(.usmp.p.ram))", "KEEP(*(.usmp.p.ram)) *(.bss.zeros)")],
        "holds what does not belong to the pool: zeros (0x20000100, 16 bytes)",
    ),
    "object elsewhere": (
        "S619", [('PLACED(".usmp.p.ram") ', ""), ("KEEP(*(.usmp.p.ram))", ". += 256;")],
        "its object p_ram_pool is at 0x3000",
    ),
    "object without section": (
        "S619", [('PLACED(".usmp.p.ram") ', "")],
        "its object p_ram_pool is in .bss at 0x3000",
    ),
    "not included": (
        "S621", [("__usmp_ram_start = .;", "")],
        "section .usmp.p.ram is at 0x20000000 by chance",
    ),
    "begins elsewhere": (
        "S621", [("__usmp_ram_start = .;", "__usmp_ram_start = . + 4;")],
        "__usmp_ram_start is 0x20000004, and section .usmp.p.ram at 0x20000000",
    ),
    "another plan": (
        "S628", [("ENTRY(_start)", "ENTRY(_start)\n__usmp.INCLUDE_p.ld = 0x12345678;")],
        'the image was linked with another plan of project "p" than this plan.json',
    ),
    "orphan": (
        "S620", [('PLACED(".usmp.p.ram") ', 'PLACED(".usmp.p.old") '), (".p.ram (", ".p.old ("),
                 ("(*(.usmp.p.ram", "(*(.usmp.p.old")],
        "section .usmp.p.old at 0x20000000, 256 bytes, belongs to no pool of the plan",
    ),
    "overlap": (
        "S622", [("int zeros[4]", 'PLACED(".mine") int zeros[4]'),
                 ("__usmp_ram.region_start", ".mine 0x20000040 : { *(.mine) } > RAM\n __usmp_ram.region_start")],
        'pool "ram" at 0x20000000..0x20000100 and section .mine at 0x20000040..0x20000050 share 16 bytes',
    ),
    "workspace in the image": (
        "S624", [(".usmp.p.ram (NOLOAD) :", ".usmp.p.ram :")],
        "is a workspace, but takes 256 bytes of the image",
    ),
    "constants without bytes": (
        "S625", [(".usmp.p.itcm :", ".usmp.p.itcm (NOLOAD) :")],
        "holds constants, but the image has none of their 64 bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_detected(tmp_path: Path, fault: str) -> None:
    code, edits, message = FAULTS[fault]
    assert message in findings_of(link(tmp_path, *edits))[code]


def test_an_image_of_the_very_plan(tmp_path: Path) -> None:
    edit = ("ENTRY(_start)", f"ENTRY(_start)\n__usmp.INCLUDE_p.ld = {plan_hash(plan()):#x};")
    assert findings_of(link(tmp_path, edit)) == {}


@pytest.mark.parametrize("rows", ["true", "false"])
def test_the_fragment_has_the_hash_of_the_plan_beside_it(tmp_path: Path, rows: str) -> None:
    manifest = tmp_path / "usmp.toml"
    manifest.write_text(f'[project]\nname = "p"\n[pools.ram]\naccess = "rw"\n[plan]\nrows = {rows}\n')
    succeed("generate", manifest, "--model", f"m={DATA / 'digits.tflite'}", "--out", tmp_path / "out")
    plan_beside = read_plan_file(str(tmp_path / "out"))
    assert f"__usmp.INCLUDE_p.ld = 0x{plan_hash(plan_beside):08x};" in (tmp_path / "out" / "p.ld").read_text()


def test_a_pool_that_is_elsewhere_than_its_origin(tmp_path: Path) -> None:
    codes = findings_of(link(tmp_path), pool("ram", origin=0x20000100))
    assert codes["S615"] == 'pool "ram" is at 0x20000000, 256 bytes before its origin, 0x20000100'


def test_a_stripped_image_without_the_section_may_hide_the_pool(tmp_path: Path) -> None:
    codes = findings_of(link(tmp_path, strip=True), RAM, ITCM, pool("lost"))
    assert list(codes) == ["S612"]
    assert "section .usmp.p.lost in the image, whose symbols were stripped" in codes["S612"]


def test_a_pool_that_is_not_linked_is_told_and_not_wrong(tmp_path: Path) -> None:
    findings = report(link(tmp_path), RAM, ITCM, pool("lost"), pool("none", size=0))
    assert findings.wrong == ()
    assert findings.unchecked == (
        'pool "lost" is not in the image: none of its objects is linked',
        'pool "none" is empty: nothing is planned in it',
    )


def test_an_image_without_any_pool_is_the_wrong_one(tmp_path: Path) -> None:
    assert findings_of(link(tmp_path), pool("lost")) == {
        "S626": 'the image shows no pool of plan "p"',
        "S620": "section .usmp.p.itcm at 0x00600000, 64 bytes, belongs to no pool of the plan",
    }


def test_pools_of_another_plan_are_left_to_it(tmp_path: Path) -> None:
    edits = [('PLACED(".usmp.p.ram") ', 'PLACED(".usmp.q.ram") '), (".usmp.p.ram (", ".usmp.q.ram ("),
             ("(*(.usmp.p.ram", "(*(.usmp.q.ram"), ("p_ram_pool", "q_ram_pool")]  # fmt: skip
    findings = report(link(tmp_path, *edits), ITCM)
    assert findings.wrong == ()
    assert findings.unchecked == ("section .usmp.q.ram is of another plan: check the image with that one, too",)


def test_constants_of_a_model_of_another_plan_are_no_pool(tmp_path: Path) -> None:
    """It has a model of the same name, and constants without a region."""
    edits = [('PLACED(".usmp.p.ram") ', 'PLACED(".usmp.q.ram") '), (".usmp.p.ram (", ".usmp.q.ram ("),
             ("(*(.usmp.p.ram", "(*(.usmp.q.ram"), ("p_ram_pool", "q_ram_pool"),
             ('PLACED(".usmp.p.itcm") ', "__attribute__((used)) ")]  # fmt: skip
    anywhere = pool("itcm", "ro", 64, section=".rodata.usmp.p.itcm")
    built = link(tmp_path, *edits)
    assert findings_of(built, RAM, anywhere) == {"S626": 'the image shows no pool of plan "p"'}
    assert findings_of(built, anywhere) == {}  # such a plan has nothing that is called like the project


def test_an_image_of_an_older_plan_is_to_be_built_again(tmp_path: Path) -> None:
    """In the plan that it was built from, the model had another name."""
    (stale,) = report(link(tmp_path, ("kws_itcm_constants", "old_itcm_constants"))).wrong
    assert (stale.code, stale.place) == ("S618", "small.elf")
    assert "section .usmp.p.itcm holds what does not belong to the pool: old_itcm_constants" in stale.message
    assert stale.help.endswith("or the image is of another plan: build it again from this one")


def test_an_array_of_the_application_may_be_larger_or_anywhere(tmp_path: Path) -> None:
    mine = pool("ram", size=200, region="RAM", owner="application")
    assert findings_of(link(tmp_path), mine, ITCM) == {}
    assert findings_of(link(tmp_path, ('PLACED(".usmp.p.ram") ', "")), mine, ITCM) == {}
    small = pool("ram", size=300, region="RAM", owner="application")
    assert "256 bytes, planned are 300: 44 bytes missing" in findings_of(link(tmp_path), small, ITCM)["S613"]


@pytest.mark.parametrize("machine", MACHINES)
def test_each_array_of_the_application_is_large_enough(tmp_path: Path, machine: str) -> None:
    """Together they are: the section alone shows nothing."""
    mine = pool("ram", size=256, region="RAM", owner="application")
    second = '\nPLACED(".usmp.p.ram") __attribute__((aligned(16))) unsigned char second[{}];\nint other[4]'
    assert findings_of(link(tmp_path, ("\nint other[4]", second.format(256)), machine=machine), mine, ITCM) == {}
    codes = findings_of(link(tmp_path, ("\nint other[4]", second.format(160)), machine=machine), mine, ITCM)
    assert list(codes) == ["S613"]
    assert "second in section .usmp.p.ram has 160 bytes, planned are 256: 96 bytes missing" in codes["S613"]
    larger = pool("ram", size=300, region="RAM", owner="application")
    both = report(link(tmp_path, ("\nint other[4]", second.format(256)), machine=machine), larger, ITCM)
    assert [finding.code for finding in both.wrong] == ["S613", "S613"]
    stripped = link(tmp_path, ("\nint other[4]", second.format(160)), machine=machine, strip=True)
    assert findings_of(stripped, mine, ITCM) == {}


def test_constants_without_a_region_may_be_with_those_of_the_program(tmp_path: Path) -> None:
    weights = pool("itcm", "ro", 64, section=".rodata.usmp.p.itcm")
    edits = [('".usmp.p.itcm"', '".rodata.usmp.p.itcm"'), ("*(.text*)", "*(.text*) *(.rodata*)")]
    findings = report(link(tmp_path, *edits), RAM, weights)
    assert findings.wrong == ()
    assert findings.unchecked == ('pool "itcm" has no section of its own: its constants are with those of the program',)
    shorter = pool("itcm", "ro", 60, section=".rodata.usmp.p.itcm")
    assert (
        "its constants have 64 bytes, planned are 60: 4 bytes too many"
        in findings_of(link(tmp_path, *edits), RAM, shorter)["S613"]
    )


def test_a_region_with_more_than_it_has(tmp_path: Path) -> None:
    edits = [("LENGTH = 4K", "LENGTH = 300"), ("} > ITCM AT> FLASH", "} > RAM AT> FLASH"),
             ("LENGTH(ITCM)", "LENGTH(RAM)"), ("ORIGIN(ITCM)", "ORIGIN(RAM)")]  # fmt: skip
    codes = findings_of(link(tmp_path, *edits), RAM, pool("itcm", "ro", 64, region="RAM", load_region="FLASH"))
    assert codes["S623"] == "region RAM has 300 bytes, and its pools (ram, itcm) have 320"


def test_a_map_knows_regions_and_pieces(tmp_path: Path) -> None:
    built = link(tmp_path, ("__usmp_ram.region_start = ORIGIN(RAM);", ""))
    assert report(built).unchecked == ('pool "ram": nothing says where region RAM is; give the map file',)
    assert report(built, with_map=True).unchecked == ()
    edits = [("*(.bss*)", ""), ("KEEP(*(.usmp.p.ram))", "KEEP(*(.usmp.p.ram)) *(.bss.zeros)")]
    codes = findings_of(link(tmp_path, *edits, strip=True), with_map=True)
    assert re.search(r"not belong to the pool: \.bss\.zeros of \S+ \(0x20000100, 16 bytes\)", codes["S618"])


def test_the_map_of_another_image(tmp_path: Path) -> None:
    other = link(tmp_path, ("[256]", "[512]"))
    messages = check(plan(), link(tmp_path).image, read_map(other.map, "small.map"))
    assert [each.code for each in messages.wrong] == ["S627"]
    assert messages.wrong[0].place == "small.map"


def test_every_message_has_a_place_and_a_way_out(tmp_path: Path) -> None:
    built = link(tmp_path, ("} > RAM", "} > OTHER"), ("[256]", "[260]"))
    for finding in report(built, RAM, ITCM, pool("lost", region="RAM")).wrong:
        assert finding.place == "small.elf"
        assert finding.help
        assert re.search(r"0x[0-9a-f]{8}|bytes", finding.message)
