"""Faults that somebody planted, each caught by the net that is there for it.

- An offset of the plan moved by a byte: USMP_CHECK, in the compiler.
- A pointer moved by a byte behind its back: every access counted.
- A pointer far from its pool: memory protection, and its report.
- A pool in another region: addresses in the image.
- An array outside of its pool's section, a pool that is not where its origin says: ASSERT, in the linker.
- A lifetime cut short, constants that nobody copied: every tensor compared.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.firmware.counts import count
from tests.firmware.test_counts import problems
from tests.support import counting, firmware, image
from tests.support.firmware import BOARDS
from tests.support.image import Image
from usmp_build import passes, pipeline, writer
from usmp_build.errors import CheckFailed
from usmp_build.files import DiskFiles
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.ir.schedule import Schedule
from usmp_build.ir.storage import Storage
from usmp_build.layout import BufferRow

MODELS = {name: path for name, path in manifests.ours().items() if name in ("digits", "odd_even")}


@pytest.fixture(params=["m3", "m55", "riscv"])
def made(request: pytest.FixtureRequest, tmp_path: Path, find: str) -> Image:
    """An image without a fault, of two models: one board for each kind of memory protection."""
    board = next(board for board in BOARDS if board.name == request.param)
    firmware.need(board)
    return image.make(board, tmp_path, manifests.of(MODELS, manifests.THREE), 1, find)


def edit(made: Image, name: str, pattern: str, replacement: str) -> None:
    """Change one place of a generated file."""
    path = made.generated / name
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1, f"{pattern} is not in {name}"
    path.write_text(text)


def rebuild(made: Image) -> tuple[int, str]:
    """Build again, with generated files as they are."""
    command = ["cmake", "--build", str(made.folder / "build")]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout


def inputs_of(made: Image) -> list[list[image.Sample]]:
    return image.stored_inputs(made.planned, manifests.goldens(MODELS), 1)


def check(made: Image) -> int:
    inputs = inputs_of(made)
    return image.check(made, image.run(made, inputs), inputs)


def test_without_a_fault_no_net_catches_anything(made: Image, tmp_path: Path) -> None:
    counting.need_plugins(made.board.qemu[0])
    assert check(made) > 0
    assert image.misplaced(made) == []
    runs = count(made, inputs_of(made), counting.build_plugin(tmp_path))
    assert not any(problems(operator) for run in runs for operator in run)


def test_an_offset_moved_by_a_byte_does_not_compile(made: Image) -> None:
    last = last_in_dtcm(made)
    edit(made, f"{last.models[0]}.c", rf"(\w+_OFFSET) = {last.offset}\b", rf"\1 = {last.offset + 1}")
    code, text = rebuild(made)
    assert code != 0
    assert "static assertion failed" in text


def move_pointer(made: Image, row: BufferRow, base: str, more: str) -> None:
    """Move the pointer to a buffer, which its model makes when it runs."""
    where = rf"\(firmware_dtcm_pool( \+ \w+_OFFSET)(\); /\* {row.name.partition('.')[2]} \*/)"
    edit(made, f"{row.models[0]}.c", where, rf"({base}\1{more}\2")


def last_in_dtcm(made: Image) -> BufferRow:
    return max((row for row in made.layout.summary.buffers if row.pool == "dtcm"), key=lambda row: row.offset)


def test_a_pointer_moved_by_a_byte_is_counted_astray(made: Image, tmp_path: Path) -> None:
    counting.need_plugins(made.board.qemu[0])
    row = last_in_dtcm(made)
    move_pointer(made, row, "firmware_dtcm_pool", " + 1")
    assert rebuild(made)[0] == 0
    runs = count(made, inputs_of(made), counting.build_plugin(tmp_path))
    found = [problem for run in runs for operator in run for problem in problems(operator)]
    assert any("touches" in problem for problem in found)
    assert any(f"bytes of {row.name}" in problem for problem in found)


def test_a_pointer_far_from_its_pool_is_a_fault(made: Image) -> None:
    move_pointer(made, last_in_dtcm(made), "(uintptr_t)firmware_dtcm_pool", " - 16384")
    code, text = rebuild(made)
    assert code == 0, text
    (made.folder / "inputs.bin").write_bytes(bytes(100_000))
    done = firmware.run(made.board, made.elf, made.folder)
    assert done.returncode == 70, done.stdout
    assert re.search(r"fault: (read from|write to) 0x[0-9a-f]{8}: \d+ bytes before pool dtcm", done.stdout)


def test_a_pool_in_another_region_is_found_by_its_address(made: Image) -> None:
    edit(made, "firmware.ld", "> DTCM", "> PSRAM")
    assert rebuild(made)[0] == 0
    assert image.misplaced(made) == ["pool dtcm is in PSRAM, not in DTCM"]


def test_an_array_outside_of_its_section_does_not_link(made: Image) -> None:
    edit(made, "firmware_pools.c", r"USMP_SECTION\(FIRMWARE_DTCM_SECTION\)", "")
    code, text = rebuild(made)
    assert code != 0
    assert "usmp: pool dtcm is outside of section .usmp.firmware.dtcm" in text


def test_a_pool_that_is_not_at_its_origin_does_not_link(made: Image) -> None:
    origin, _ = made.board.regions["DTCM"]
    path = made.folder / "usmp.toml"
    path.write_text(path.read_text().replace('region = "DTCM"', f'region = "DTCM"\norigin = {origin + 64}'))
    code, text = rebuild(made)
    assert code != 0
    assert "usmp: pool dtcm is not at its origin" in text


def test_a_lifetime_that_is_cut_short_shows_in_a_tensor(made: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "lifetimes", cut(passes.lifetimes, "digits.shapes_1/Relu"))
    files = DiskFiles(made.folder)
    planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
    writer.write(pipeline.emit(pipeline.lay_out(planned)), made.generated)
    code, text = rebuild(made)
    assert code == 0, text
    with pytest.raises(CheckFailed, match=r'model "digits", run 0, operator \d+ .*elements differ'):
        check(made)


def cut(honest: Callable[[Schedule, Storage], Lifetimes], victim: str) -> Callable[[Schedule, Storage], Lifetimes]:
    """Let a buffer die one step before its last reader is done."""

    def lifetimes(schedule: Schedule, storage: Storage) -> Lifetimes:
        intervals = list(honest(schedule, storage).intervals)
        index = [buffer.name for buffer in storage.buffers].index(victim)
        ((start, stop),) = intervals[index]
        intervals[index] = (Interval(start, stop - 1),)
        return Lifetimes(tuple(intervals))

    return lifetimes


def test_constants_that_are_not_copied_show_in_a_tensor(made: Image) -> None:
    edit(made, "firmware_copy_table.ld", r"LONG\(__usmp_itcm_load\).*", "")
    assert rebuild(made)[0] == 0
    with pytest.raises(CheckFailed, match="elements differ"):
        check(made)
