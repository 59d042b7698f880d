"""Damaged images and map files: a report or one clear error, and soon."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.linked_images import Built, link, plan, pool
from usmp_build.errors import CheckFailed, UsageError
from usmp_build.image_check.check import check
from usmp_build.image_check.elf import read_elf
from usmp_build.image_check.image import Image
from usmp_build.image_check.map_file import read_map

ROUNDS = 1500
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)


@pytest.fixture(params=["arm", "x86_64"])
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Built:
    return link(tmp_path, machine=request.param)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Cut, or change a few bytes: most often of the headers, at both ends of the file."""
    if chance.random() < 0.1:
        return data[: chance.randrange(len(data))]
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.choice((chance.randrange(64), -1 - chance.randrange(600), chance.randrange(len(data))))
        result[at] = chance.choice((*INTERESTING, chance.randrange(256)))
    return bytes(result)


def codes(work: Callable[[], object]) -> list[str]:
    """The codes of the errors that work ends with; anything else that it raises fails the test."""
    try:
        work()
    except (CheckFailed, UsageError) as error:
        return [each.code for each in error.diagnostics]
    return []


def test_damaged_images_give_a_report_or_one_error(built: Built) -> None:
    chance = random.Random(6)
    outcomes: dict[tuple[str, ...], int] = {}
    for _ in range(ROUNDS):
        data = damaged(built.elf, chance)
        faults = tuple(codes(lambda data=data: check(plan(), read_elf(data, "small.elf"))))
        outcomes[faults] = outcomes.get(faults, 0) + 1
    assert outcomes.keys() == {(), ("S611",), ("U221",)}
    assert min(outcomes.values()) > ROUNDS / 100


def test_damaged_map_files_give_a_report_or_one_error(built: Built) -> None:
    chance = random.Random(7)
    for _ in range(ROUNDS // 10):
        data = damaged(built.map, chance)
        assert codes(lambda data=data: check(plan(), built.image, read_map(data, "small.map"))) in ([], ["U222"])


@pytest.mark.parametrize("count", [0, 1, 0xFFFF])
def test_counts_that_lie(built: Built, count: int) -> None:
    wide = built.elf[4] == 2
    for at in (56, 60) if wide else (44, 48):
        data = bytearray(built.elf)
        struct.pack_into("<H", data, at, count)
        assert codes(lambda data=bytes(data): read_elf(data, "small.elf")) in ([], ["S611"])


def test_many_sections_do_not_take_long() -> None:
    count, names = 60_000, b".usmp.p.a\0"
    header = struct.pack("<16s2H5I6H", b"\x7fELF\1\1\1", 2, 40, 1, 0, 0, 52, 0, 52, 32, 0, 40, count, count - 1)
    row = struct.pack("<10I", 0, 8, 2, 64, 0, 64, 0, 0, 4, 0)
    last = struct.pack("<10I", 0, 3, 0, 0, 52 + count * 40, len(names), 0, 0, 1, 0)
    image = read_elf(header + row * (count - 1) + last + names, "many.elf")
    assert len(image.sections) == count - 1
    assert "S613" in {each.code for each in check(plan(pool("a", size=64)), image).wrong}


def test_names_without_an_end_do_not_take_long() -> None:
    symbols, names = 100_000, b"a" * 1_000_000
    header = struct.pack("<16s2H5I6H", b"\x7fELF\1\1\1", 2, 40, 1, 0, 0, 52, 0, 52, 32, 0, 40, 3, 2)
    size = symbols * 16
    at = 52 + 3 * 40
    sections = struct.pack("<10I", *[0] * 10)
    sections += struct.pack("<10I", 0, 2, 0, 0, at, size, 2, 0, 4, 16)
    sections += struct.pack("<10I", 0, 3, 0, 0, at + size, len(names), 0, 0, 1, 0)
    rows = b"".join(struct.pack("<IIIBBH", i, i, 4, 1, 0, 1) for i in range(symbols))
    image = read_elf(header + sections + rows + names, "long.elf")
    assert isinstance(image, Image)
    assert len(image.symbols) == symbols
    assert max(len(symbol.name) for symbol in image.symbols) == 1024


def test_a_map_of_one_long_line_does_not_take_long() -> None:
    text = b"Memory Configuration\n\nName Origin Length\nA 0x0 0x1\n\nLinker script and memory map\n"
    for tail in (b"x" * 1_000_000, b" " * 1_000_000, b"x\n" * 300_000, b"\n " * 300_000, b" x" * 300_000):
        assert read_map(text + tail, "long.map").outputs == {}
