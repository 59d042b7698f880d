"""examples/firmware on every board: it does what its pages say, and whoever leaves the plan's memory is caught."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import DATA
from tests.support.firmware import EXAMPLE, Board, build, on, run, symbols, try_build
from tests.support.processes import output
from tests.support.tree import ROOT, text_file

README = (EXAMPLE / "README.md").read_text("utf-8")
PAGE = (ROOT / "docs" / "firmware.md").read_text("utf-8")
POOLS = ("dtcm", "sram", "itcm", "flash")


@pytest.fixture(scope="module")
def built(board: Board, tmp_path_factory: pytest.TempPathFactory, find: str) -> Path:
    """The folder that the example was built in."""
    folder = tmp_path_factory.mktemp(board.name) / "build, it"
    code, text = try_build(board, folder, find=find)
    assert code == 0, text
    assert "warning" not in text
    return folder


def command_output(*command: str) -> str:
    return output(command, EXAMPLE)


def test_it_reads_digits_and_passes_its_own_tests(built: Path) -> None:
    shown = command_output("cmake", "--build", str(built), "--target", "run")
    assert re.findall(r"^0x[0-9a-f]{8}  r[ow]  pool (\w+), \d+ bytes$", shown, re.MULTILINE) == list(POOLS)
    with np.load(DATA / "digits.npz") as golden:
        wanted = [(str(label), "odd" if odd >= 0 else "even") for label, odd in _rows(golden)]
    assert re.findall(r"(\d), (odd|even)", shown) == wanted
    assert "100% tests passed, 0 tests failed out of 7" in command_output("ctest", "--test-dir", str(built))
    assert command_output("cmake", "--build", str(built)) == "ninja: no work to do.\n"


def _rows(golden: np.lib.npyio.NpzFile) -> list[tuple[int, int]]:
    """What TensorFlow Lite Micro reads in the example's eight pictures, which are the first ones."""
    digits, odd = golden["digits_output"][:8].argmax(axis=1), golden["odd_even_output"][:8].reshape(8)
    return list(zip(digits.tolist(), odd.tolist(), strict=True))


def test_there_are_presets_to_configure_build_and_test(board: Board) -> None:
    assert command_output("cmake", "--list-presets=all").count(f'"{board.name}"') == 3


def test_everything_is_in_its_memory(board: Board, built: Path) -> None:
    addresses = symbols(board, built / "firmware.elf")
    for pool in POOLS:
        start, end = addresses[f"__usmp_{pool}_start"][0], addresses[f"__usmp_{pool}_end"][0]
        assert board.region_of(start) == board.region_of(end - 1) == pool.upper()
    places = {"__usmp_itcm_load": "FLASH", "__code_start": "CODE", "__stack_start": "RAM", "__ram_end": "RAM"}
    assert {name: board.region_of(addresses[name][0]) for name in places} == places


def test_pictures_must_be_there(board: Board, built: Path, tmp_path: Path) -> None:
    done = run(board, built / "firmware.elf", tmp_path)
    assert (done.code, done.out) == (1, "there is no pictures.bin where the debugger or QEMU runs\n")


REPORTS = {
    "behind": "write to {end}: {slack} bytes? past the end of pool dtcm",
    "before": "write to {before}: 1 byte before pool dtcm",
    "constant": "write to {itcm}: 0 bytes into pool itcm, which is read only",
    "execute": "execute at {dtcm}: 0 bytes into pool dtcm, which is no code",
    "nowhere": "read from 0xa0000000: in no pool, and near none",
    "stack": r"(?:write|access) to 0x\w{{8}}: \d+ bytes? below the stack: it overflowed",
}


@pytest.mark.parametrize("word", REPORTS)
def test_trespassers_are_caught(board: Board, built: Path, tmp_path: Path, word: str) -> None:
    program = built / "trespass.elf"
    addresses = symbols(board, program)
    dtcm, dtcm_end = addresses["__usmp_dtcm_start"][0], addresses["__usmp_dtcm_end"][0]
    end = protected_end(board, dtcm, dtcm_end)
    places = {"dtcm": dtcm, "before": dtcm - 1, "end": end, "itcm": addresses["__usmp_itcm_start"][0]}
    report = REPORTS[word].format(slack=end - dtcm_end, **{name: f"0x{place:08x}" for name, place in places.items()})
    pc = "unknown" if "(" in report and board.name != "riscv" else r"0x\w{8}"

    done = run(board, program, tmp_path, words=word)
    assert done.code == 70
    assert re.fullmatch(rf"fault: {report} \(pc {pc}\)\n", done.out), done.out


def protected_end(board: Board, start: int, end: int) -> int:
    """Where memory protection of a pool ends: an independent account of what the boards can do."""
    granule = {"riscv": 4, "m33": 32, "m55": 32}.get(board.name, 0)
    if not granule:
        block = (start ^ (end - 1)).bit_length()
        granule = 1 << max(5, block - 3)
    return -(-end // granule) * granule


def test_who_stays_inside_is_not_caught(board: Board, built: Path, tmp_path: Path) -> None:
    done = run(board, built / "trespass.elf", tmp_path)
    assert (done.code, done.out) == (0, "no fault\n")


@on("m55")
def test_pages_show_the_faults(board: Board, built: Path, tmp_path: Path) -> None:
    printed = {word: run(board, built / "trespass.elf", tmp_path, words=word).out for word in REPORTS}
    assert faults(README) == faults(printed["behind"])
    assert faults(PAGE) == [faults(printed[word])[0] for word in ("behind", "constant", "execute", "nowhere", "stack")]


def faults(text: str) -> list[str]:
    """All reports of faults, without what the compiler decides: where code is, and how far down a stack goes."""
    lines = re.findall(r"^fault: .*$", text, re.MULTILINE)
    return [re.sub(r"\(pc 0x\w+\)|0x\w+: \d+ bytes (?=below)", "...", line) for line in lines]


DUMP = text_file("firmware_example_dump.c")


def test_constants_have_been_copied_to_where_they_run(board: Board, tmp_path: Path, find: str) -> None:
    main = tmp_path / "dump.c"
    main.write_text(DUMP, encoding="utf-8")
    program = build(board, tmp_path / "build", main=main, find=find)
    assert run(board, program, tmp_path).code == 0
    planned = tmp_path / "planned.bin"
    section = ["--dump-section", f".usmp.firmware.itcm={planned}"]
    output([board.objcopy, *section, program, tmp_path / "copy.elf"])
    assert any(planned.read_bytes())
    assert (tmp_path / "itcm.bin").read_bytes() == planned.read_bytes()


HELLO = """\
#include "digits.h"
#include "host.h"

int main(void)
{
    host_print("hello\\n");
    return (int)digits_run();
}
"""
HEAD = f'[project]\nname = "firmware"\n\n[models.digits]\npath = "{DATA.as_posix()}/digits.tflite"\n'
ANYWHERE = """
[pools.work]
access = "rw"

[pools.weights]
access = "ro"
"""
NEIGHBORS = """
[pools.one]
access = "rw"
size = 420
region = "SRAM"

[pools.two]
access = "rw"
region = "SRAM"
"""
MANY = "".join(f'\n[pools.p{i}]\naccess = "ro"\nsize = {64 << i}\nalignment = 4096\n' for i in range(7))


APART = (
    "memory protection: what opens pool one would open pool two, too; give pools a larger alignment in the manifest\n"
)
FEWER = "memory protection: the plan has more pools than this processor has regions\n"


@pytest.mark.drawn("pools", "expected")
@pytest.mark.parametrize(
    ("board", "pools", "expected"),
    [
        ("m3", "", "hello\n"),
        ("riscv", "", "hello\n"),
        ("m3", ANYWHERE, "hello\n"),
        ("riscv", NEIGHBORS, "hello\n"),
        ("m3", NEIGHBORS, APART),
        ("m3", MANY, FEWER),
        ("riscv", MANY, FEWER),
    ],
    ids=["m3", "riscv", "m3-anywhere", "riscv-neighbors", "m3-neighbors", "m3-many", "riscv-many"],
    indirect=["board"],
)
def test_another_manifest(board: Board, tmp_path: Path, find: str, pools: str, expected: str) -> None:
    """Pools without a region have one all the same; and what cannot be protected is said before anything runs."""
    program = build_hello(board, tmp_path, EXAMPLE, find, pools)
    done = run(board, program, tmp_path)
    assert (done.code, done.out) == (0 if expected == "hello\n" else 1, expected)
    assert expected in ("hello\n", *PAGE.splitlines(keepends=True))


@on("m3", "m33", "riscv")
def test_memories_may_stand_in_any_order(board: Board, tmp_path: Path, find: str) -> None:
    """Constants match `r` and `w`, yet pools without a region find theirs."""
    source = shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("build"))
    script = source / "boards" / f"{board.name}.ld"
    head, brace, rest = script.read_text().partition("{\n")
    rows, end, tail = rest.partition("}\n")
    script.write_text("".join([head, brace, *reversed(rows.splitlines(keepends=True)), end, tail]))
    program = build_hello(board, tmp_path, source, find, ANYWHERE)
    assert run(board, program, tmp_path).out == "hello\n"


def build_hello(board: Board, folder: Path, source: Path, find: str, pools: str) -> Path:
    """Build a program, whose pools are where they should be if they have no region."""
    manifest, main = folder / "usmp.toml", folder / "hello.c"
    manifest.write_text(HEAD + pools, encoding="utf-8")
    main.write_text(HELLO, encoding="utf-8")
    program = build(board, folder / "build", source=source, manifest=manifest, main=main, find=find)
    addresses = symbols(board, program)
    fitting = {"ro": board.constant_region, "rw": board.workspace_region}
    for pool in json.loads((folder / "build" / "plan.usmp" / "plan.json").read_text("utf-8"))["pools"]:
        start, end = (addresses.get(f"__usmp_{pool['name']}_{side}", (0, 0))[0] for side in ("start", "end"))
        if start < end:  # constants of a manifest without such pools are in .rodata
            assert board.region_of(start) == (pool["region"] or fitting[pool["access"]]), pool["name"]
    return program
