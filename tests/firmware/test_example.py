"""examples/firmware on every board: it does what its pages say, and whoever leaves the plan's memory is caught."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import DATA
from tests.support.firmware import BOARDS, EXAMPLE, Board, build, need, run, symbols, try_build

POOLS = ("dtcm", "sram", "itcm", "flash")


@pytest.fixture(params=BOARDS, ids=lambda board: board.name)
def board(request: pytest.FixtureRequest) -> Board:
    """A board whose tools are there."""
    board: Board = request.param
    need(board)
    return board


@pytest.fixture(scope="module", params=BOARDS, ids=lambda board: board.name)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, find: str) -> tuple[Board, Path]:
    """A board, and the folder that the example was built in."""
    board: Board = request.param
    need(board)
    folder = tmp_path_factory.mktemp(board.name) / "build, it"
    code, text = try_build(board, folder, find=find)
    assert code == 0, text
    assert "warning" not in text
    return board, folder


def said(*command: str) -> str:
    done = subprocess.run(command, cwd=EXAMPLE, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_reads_digits_and_passes_its_own_tests(built: tuple[Board, Path]) -> None:
    _, folder = built
    shown = said("cmake", "--build", str(folder), "--target", "run")
    assert re.findall(r"^0x[0-9a-f]{8}  r[ow]  pool (\w+), \d+ bytes$", shown, re.MULTILINE) == list(POOLS)
    with np.load(DATA / "digits.npz") as golden:
        wanted = [(str(label), "odd" if odd >= 0 else "even") for label, odd in _rows(golden)]
    assert re.findall(r"(\d), (odd|even)", shown) == wanted
    assert "100% tests passed, 0 tests failed out of 7" in said("ctest", "--test-dir", str(folder))
    assert said("cmake", "--build", str(folder)) == "ninja: no work to do.\n"


def _rows(golden: np.lib.npyio.NpzFile) -> list[tuple[int, int]]:
    """What TensorFlow Lite Micro reads in the example's eight pictures, which are the first ones."""
    digits, odd = golden["digits_output"][:8].argmax(axis=1), golden["odd_even_output"][:8].reshape(8)
    return list(zip(digits.tolist(), odd.tolist(), strict=True))


def test_there_are_presets_to_configure_build_and_test(board: Board) -> None:
    assert said("cmake", "--list-presets=all").count(f'"{board.name}"') == 3


def test_everything_is_in_its_memory(built: tuple[Board, Path]) -> None:
    board, folder = built
    found = symbols(board, folder / "firmware.elf")
    for pool in POOLS:
        start, end = found[f"__usmp_{pool}_start"][0], found[f"__usmp_{pool}_end"][0]
        assert board.region_of(start) == board.region_of(end - 1) == pool.upper()
    places = {"__usmp_itcm_load": "FLASH", "__code_start": "CODE", "__stack_start": "RAM", "__ram_end": "RAM"}
    assert {name: board.region_of(found[name][0]) for name in places} == places


def test_pictures_must_be_there(built: tuple[Board, Path], tmp_path: Path) -> None:
    board, folder = built
    done = run(board, folder / "firmware.elf", tmp_path)
    assert (done.returncode, done.stdout) == (1, "there is no pictures.bin where the debugger or QEMU runs\n")


REPORTS = {
    "behind": "write to {end}: {slack} bytes? behind the end of pool dtcm",
    "before": "write to {before}: 1 byte before pool dtcm",
    "constant": "write to {itcm}: 0 bytes into pool itcm, which is read only",
    "execute": "execute at {dtcm}: 0 bytes into pool dtcm, which is no code",
    "nowhere": "read from 0xa0000000: in no pool, and near none",
    "stack": r"(?:write|access) to 0x\w{{8}}: \d+ bytes? below the stack: it overflowed",
}


@pytest.mark.parametrize("word", REPORTS)
def test_trespassers_are_caught(built: tuple[Board, Path], tmp_path: Path, word: str) -> None:
    board, folder = built
    program = folder / "trespass.elf"
    found = symbols(board, program)
    dtcm, dtcm_end = found["__usmp_dtcm_start"][0], found["__usmp_dtcm_end"][0]
    end = protected_end(board, dtcm, dtcm_end)
    places = {"dtcm": dtcm, "before": dtcm - 1, "end": end, "itcm": found["__usmp_itcm_start"][0]}
    report = REPORTS[word].format(slack=end - dtcm_end, **{name: f"0x{place:08x}" for name, place in places.items()})
    pc = "unknown" if "(" in report and board.name != "riscv" else r"0x\w{8}"

    done = run(board, program, tmp_path, words=word)
    assert done.returncode == 70
    assert re.fullmatch(rf"fault: {report} \(pc {pc}\)\n", done.stdout), done.stdout


def protected_end(board: Board, start: int, end: int) -> int:
    """Where memory protection of a pool ends: an independent account of what the boards can do."""
    granule = {"riscv": 4, "m33": 32, "m55": 32}.get(board.name, 0)
    if not granule:
        block = max(5, (start ^ (end - 1)).bit_length())
        granule = 1 << (block - 3 if block >= 8 else block)
    return -(-end // granule) * granule


def test_who_stays_inside_is_not_caught(built: tuple[Board, Path], tmp_path: Path) -> None:
    board, folder = built
    done = run(board, folder / "trespass.elf", tmp_path)
    assert (done.returncode, done.stdout) == (0, "no fault\n")


DUMP = """\
#include "digits.h"
#include "host.h"

extern const uint8_t __usmp_itcm_start[], __usmp_itcm_end[];

int main(void)
{
    const int file = host_open("itcm.bin", HOST_WRITE);
    const size_t size = (size_t)(__usmp_itcm_end - __usmp_itcm_start);

    return host_write(file, __usmp_itcm_start, size) == size && digits_run() == USMP_OK ? 0 : 1;
}
"""


def test_constants_have_been_copied_to_where_they_run(board: Board, tmp_path: Path, find: str) -> None:
    main = tmp_path / "dump.c"
    main.write_text(DUMP, encoding="utf-8")
    program = build(board, tmp_path / "build", main=main, find=find)
    assert run(board, program, tmp_path).returncode == 0
    planned = tmp_path / "planned.bin"
    section = ["--dump-section", f".usmp.firmware.itcm={planned}"]
    subprocess.run([f"{board.tools}-objcopy", *section, program, tmp_path / "copy.elf"], check=True)
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
NEIGHBOURS = """
[pools.one]
access = "rw"
size = 1100
region = "SRAM"

[pools.two]
access = "rw"
region = "SRAM"
"""
MANY = "".join(f'\n[pools.p{i}]\naccess = "ro"\nsize = {64 << i}\nalignment = 4096\n' for i in range(7))


@pytest.mark.parametrize(
    ("name", "pools", "expected"),
    [
        ("m3", "", "hello\n"),
        ("riscv", "", "hello\n"),
        ("riscv", NEIGHBOURS, "hello\n"),
        (
            "m3",
            NEIGHBOURS,
            "memory protection: what opens pool one would open pool two, too;"
            " give pools a larger alignment in the manifest\n",
        ),
        ("m3", MANY, "memory protection: the plan has more pools than this processor has regions\n"),
        ("riscv", MANY, "memory protection: the plan has more pools than this processor has regions\n"),
    ],
    ids=["m3", "riscv", "riscv-neighbours", "m3-neighbours", "m3-many", "riscv-many"],
)
def test_another_manifest(tmp_path: Path, find: str, name: str, pools: str, expected: str) -> None:
    """Pools without a region have one all the same; and what cannot be protected is said before anything runs."""
    board = next(board for board in BOARDS if board.name == name)
    need(board)
    manifest, main = tmp_path / "usmp.toml", tmp_path / "hello.c"
    manifest.write_text(HEAD + pools, encoding="utf-8")
    main.write_text(HELLO, encoding="utf-8")
    program = build(board, tmp_path / "build", manifest=manifest, main=main, find=find)
    done = run(board, program, tmp_path)
    assert (done.returncode, done.stdout) == (0 if expected == "hello\n" else 1, expected)
