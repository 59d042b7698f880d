"""Faults that somebody planted, each caught by the net that is there for it.

- An offset of the plan moved by a byte: USMP_CHECK, in the compiler.
- A pointer moved by a byte behind its back: every access counted.
- A pointer far from its pool: memory protection, and its report.
- A pool in another region: the check after the link, and addresses in the image.
- An array or constants outside of their pool's section, a pool that is not at its origin: ASSERT, in the linker.
- A lifetime cut short, a buffer read when it is dead, constants that nobody copied: every tensor compared.

One board for each kind of memory protection.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import board_manifests, firmware, image
from tests.support.board_accesses import count, problems
from tests.support.files import touch
from tests.support.firmware import EACH_PROTECTION, Board
from tests.support.image import Image
from tests.support.planned import Shared
from usmp_build import passes, pipeline
from usmp_build.errors import CheckFailed
from usmp_build.files import DiskFiles
from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Schedule
from usmp_build.ir.storage import Storage
from usmp_build.layout import BufferRow
from usmp_build.output import writer
from usmp_build.search import operator_order
from usmp_build.selftest.inputs import Sample

VICTIM = "digits.strokes_1/Relu"


pytestmark = [
    pytest.mark.usefixtures("needs_oracle"),
    EACH_PROTECTION,
]


@pytest.fixture(scope="module")
def pristine(board: Board, tmp_path_factory: pytest.TempPathFactory, shared: Shared, find: str) -> Image:
    """An image without a fault, of two models, layer by layer."""
    folder = tmp_path_factory.mktemp(board.name)
    manifest = board_manifests.of(board_manifests.PAIR, board_manifests.THREE) + "[plan]\nrows = false\n"
    return image.make(board, folder, manifest, 1, shared, find=find)


@pytest.fixture
def board_image(pristine: Image) -> Iterator[Image]:
    """The image, to plant a fault in; whatever the test changed is mended afterwards."""
    files = [pristine.folder / "usmp.toml", *(path for path in pristine.generated.iterdir() if path.is_file())]
    contents = {path: path.read_bytes() for path in files}
    yield pristine
    changed = [path for path, content in contents.items() if path.read_bytes() != content]
    for path in changed:
        path.write_bytes(contents[path])
    if changed:
        code, text = rebuild(pristine)
        assert code == 0, text


def edit(board_image: Image, name: str, pattern: str, replacement: str) -> None:
    """Change one place of a generated file."""
    path = board_image.generated / name
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1, f"{pattern} is not in {name}"
    path.write_text(text)


def rebuild(board_image: Image) -> tuple[int, str]:
    """Build again, with generated files as they are; return the exit code and the output."""
    return firmware.rebuild(board_image.folder / "build")


def inputs_of(board_image: Image) -> list[list[Sample]]:
    return image.stored_inputs(board_image.planned, board_manifests.goldens(board_manifests.PAIR), 1)


def check(board_image: Image) -> int:
    inputs = inputs_of(board_image)
    return image.check(board_image, image.run(board_image, inputs), inputs)


def test_without_a_fault_no_net_catches_anything(board_image: Image, plugin: Path) -> None:
    assert check(board_image) > 0
    assert image.misplaced(board_image) == []
    assert problems(count(board_image, inputs_of(board_image), plugin)[1]) == []


def test_an_offset_moved_by_a_byte_does_not_compile(board_image: Image) -> None:
    last = last_in_dtcm(board_image)
    edit(board_image, f"{last.models[0]}.c", rf"(\w+_OFFSET) = {last.offset}\b", rf"\1 = {last.offset + 1}")
    code, text = rebuild(board_image)
    assert code != 0
    assert "static assertion failed" in text


def move_pointer(board_image: Image, row: BufferRow, base: str, more: str) -> None:
    """Move the pointer to a buffer, which its model makes when it runs."""
    where = rf"\(firmware_dtcm_pool( \+ \w+_OFFSET)(\); /\* {row.name.partition('.')[2]} \*/)"
    edit(board_image, f"{row.models[0]}.c", where, rf"({base}\1{more}\2")


def last_in_dtcm(board_image: Image) -> BufferRow:
    """Return what ends where the pool ends."""
    return max(
        (row for row in board_image.layout.summary.buffers if row.pool == "dtcm"), key=lambda row: row.offset + row.size
    )


def test_a_pointer_moved_by_a_byte_is_counted_astray(board_image: Image, plugin: Path) -> None:
    row = last_in_dtcm(board_image)
    move_pointer(board_image, row, "firmware_dtcm_pool", " + 1")
    assert rebuild(board_image)[0] == 0
    complaints = problems(count(board_image, inputs_of(board_image), plugin)[1])
    assert any("touches" in problem for problem in complaints)
    assert any(re.search(rf"bytes of (.* and )?{re.escape(row.name)}\b", problem) for problem in complaints)


def test_a_pointer_far_from_its_pool_is_a_fault(board_image: Image) -> None:
    move_pointer(board_image, last_in_dtcm(board_image), "(uintptr_t)firmware_dtcm_pool", " - 16384")
    code, text = rebuild(board_image)
    assert code == 0, text
    (board_image.folder / "inputs.bin").write_bytes(bytes(100_000))
    done = firmware.run(board_image.board, board_image.elf, board_image.folder)
    assert done.code == 70, done.out
    assert re.search(r"fault: (read from|write to) 0x[0-9a-f]{8}: \d+ bytes before pool dtcm", done.out)


def test_a_pool_in_another_region_is_detected_by_its_address(board_image: Image) -> None:
    edit(board_image, "firmware.ld", "> DTCM", "> PSRAM")
    code, text = rebuild(board_image)
    assert code != 0
    assert re.search(
        r'error\[S616\]: pool "dtcm" is at 0x\w{8}\.\.0x\w{8}, and region DTCM at 0x\w{8}\.\.0x\w{8}', text
    )
    assert image.misplaced(board_image) == ["pool dtcm is in PSRAM, not in DTCM"]


def test_an_array_outside_of_its_section_does_not_link(board_image: Image) -> None:
    edit(board_image, "firmware_pools.c", r"USMP_SECTION\(FIRMWARE_DTCM_SECTION\)(?=.*\nuint8_t)", "")
    code, text = rebuild(board_image)
    assert code != 0
    assert "usmp: firmware_dtcm_pool is outside of section .usmp.firmware.dtcm" in text


def test_constants_outside_of_their_section_do_not_link(board_image: Image) -> None:
    edit(board_image, "firmware_pools.c", r"USMP_SECTION\(FIRMWARE_ITCM_SECTION\)", "")
    code, text = rebuild(board_image)
    assert code != 0
    assert "usmp: section .usmp.firmware.itcm is not pool itcm as planned" in text


def test_a_pool_that_is_not_at_its_origin_does_not_link(board_image: Image) -> None:
    origin, _ = board_image.board.regions["DTCM"]
    path = board_image.folder / "usmp.toml"
    path.write_text(path.read_text().replace('region = "DTCM"', f'region = "DTCM"\norigin = {origin + 64}'))
    code, text = rebuild(board_image)
    assert code == 0, text
    edit(board_image, "firmware.ld", rf"dtcm 0x{origin + 64:x}", rf"dtcm 0x{origin + 128:x}")
    code, text = rebuild(board_image)
    assert code != 0
    assert "usmp: pool dtcm is not at its origin" in text


def test_a_lifetime_that_is_cut_short_shows_in_a_tensor(board_image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "lifetimes", cut(passes.lifetimes, VICTIM))
    monkeypatch.setattr(operator_order, "least_workspace", lambda *_: 0)  # that bound would find it first
    files = DiskFiles(board_image.folder)
    planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
    layout = pipeline.lay_out(planned)
    writer.write(pipeline.emit(layout), board_image.generated)
    (board_image.folder / "main.c").write_text(image.harness(planned, layout, 1))
    code, text = rebuild(board_image)
    assert code == 0, text
    with pytest.raises(CheckFailed, match=r'model "digits", run 0, operator \d+ .*elements differ'):
        check(board_image)


def test_bytes_that_are_read_when_dead_show_in_a_tensor(board_image: Image) -> None:
    """Nothing is planned over them: it is the harness that puts garbage there."""
    rows = board_image.layout.summary.buffers
    index = [row.name for row in rows].index(VICTIM)
    ((start, stop),) = rows[index].intervals
    died = (*rows[:index], replace(rows[index], intervals=((start, stop - 1),)), *rows[index + 1 :])
    layout = replace(board_image.layout, summary=replace(board_image.layout.summary, buffers=died))
    (board_image.folder / "main.c").write_text(image.harness(board_image.planned, layout, 1))
    code, text = rebuild(board_image)
    assert code == 0, text
    with pytest.raises(CheckFailed, match=r'model "digits", run 0, operator \d+ .*elements differ'):
        check(board_image)


Pass = Callable[[Schedule, Storage, Survivors], Lifetimes]


def cut(honest: Pass, victim: str) -> Pass:
    """Let a buffer die one step before its last reader is done."""

    def lifetimes(schedule: Schedule, storage: Storage, survivors: Survivors) -> Lifetimes:
        intervals = list(honest(schedule, storage, survivors).intervals)
        index = [buffer.name for buffer in storage.buffers].index(victim)
        ((start, stop),) = intervals[index]
        intervals[index] = (Interval(start, stop - 1),)
        return Lifetimes(tuple(intervals))

    return lifetimes


def test_constants_that_are_not_copied_show_in_a_tensor(board_image: Image) -> None:
    edit(board_image, "firmware_copy_table.ld", r"LONG\(LOADADDR\(\.usmp\.firmware\.itcm\)\).*", "")
    assert rebuild(board_image)[0] == 0
    with pytest.raises(CheckFailed, match="elements differ"):
        check(board_image)


def test_a_pool_that_is_copied_from_now_on_is_linked_again(
    board: Board, tmp_path: Path, shared: Shared, find: str
) -> None:
    """No fault, if the linker reads the copy table anew: without its entry ITCM would hold nothing."""
    line = 'load_region = "FLASH"\n'
    text = board_manifests.of(board_manifests.PAIR, board_manifests.THREE)
    board_image = image.make(board, tmp_path, text.replace(line, ""), 1, shared, find=find)
    assert "__usmp_itcm_load" not in firmware.symbols(board, board_image.elf)
    (tmp_path / "usmp.toml").write_text(text)
    touch(tmp_path / "usmp.toml")
    assert rebuild(board_image)[0] == 0
    assert board.region_of(firmware.symbols(board, board_image.elf)["__usmp_itcm_load"][0]) == "FLASH"
    assert check(board_image) > 0
    assert rebuild(board_image) == (0, "ninja: no work to do.\n")


def test_a_region_that_is_missing_does_not_link(board_image: Image) -> None:
    path = board_image.folder / "usmp.toml"
    path.write_text(path.read_text().replace('region = "DTCM"', 'region = "DTMC"'))
    code, text = rebuild(board_image)
    assert code != 0
    assert "usmp: MEMORY has no region DTMC, which pool dtcm asks for" in text
