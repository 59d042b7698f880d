"""usmp_regions.h: registers of memory protection open a region, with its rights, and as little else as they can."""

import random
from pathlib import Path

import pytest

from tests.support import mpu
from tests.support.host_c import COMPILERS, STRICT
from tests.support.mpu import Opened
from tests.support.processes import output
from tests.support.tools import need
from tests.support.tree import text_file
from usmp_build.emitters.render import render

RIGHTS = ["ro", "rw", "rox"]
"""By `enum usmp_access`."""
MAIN = text_file("memory_protection.c")
EDGES = [
    (0, 1, 0),
    (0x20000000, 0x20000000 + 420, 1),
    (0x7FFFFFFF, 0x80000001, 1),  # only a block of all addresses holds both
    (0, 1 << 32, 2),
    ((1 << 32) - 1, 1 << 32, 0),
    (0x1FFFFFE0, 0x200000E0, 1),
    *((0x1000, 0x1000 + size, 1) for size in (31, 32, 33, 127, 128, 129, 255, 256, 257)),
]
EMPTY = (0x20000100, 0x20000100, 1)


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
def test_registers_decode_to_the_region(tmp_path: Path, compiler: str, standard: str) -> None:
    need(compiler)
    (tmp_path / "usmp_regions.h").write_text(render("usmp_regions.h.j2"), encoding="utf-8")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    language = ["-x", "c++"] if "++" in compiler else []
    output([compiler, standard, *STRICT.split(), *language, "main.c", "-o", "main"], tmp_path)
    regions = [*EDGES, *drawn(), EMPTY]
    (tmp_path / "regions").write_text("\n".join(" ".join(map(str, region)) for region in regions), encoding="utf-8")
    lines = output(["sh", "-c", "./main < regions"], tmp_path).splitlines()
    rows = [tuple(map(int, line.split())) for line in lines]
    for region, v7, v8 in zip(regions, rows[::2], rows[1::2], strict=True):
        start, end, access = region
        if region == EMPTY:
            assert mpu.pmsav7(*v7[:2]) == mpu.pmsav8(*v8[:2]) == []
            assert all(last < first for *_, first, last in (v7, v8))
            continue
        rights = RIGHTS[access]
        assert mpu.pmsav7(*v7[:2]) == [Opened(*v7[2:], rights)] == [Opened(*least_of_v7(start, end - 1), rights)]
        assert mpu.pmsav8(*v8[:2]) == [Opened(*v8[2:], rights)] == [Opened(start // 32 * 32, (end - 1) | 31, rights)]
        assert v7[1] >> 16 & 0x3F == 0x0B
        assert v8[1] >> 1 & 7 == 5


def drawn() -> list[tuple[int, int, int]]:
    """Return regions of all sizes."""
    draw = random.Random(7)
    regions = []
    for _ in range(2000):
        size = draw.randrange(1, 1 << draw.randrange(1, 32))
        start = draw.randrange((1 << 32) - size + 1) & -(1 << draw.randrange(32))
        regions.append((start, start + size, draw.randrange(3)))
    return regions


def least_of_v7(first: int, last: int) -> tuple[int, int]:
    """Return the fewest bytes that one region of PMSAv7 can open with these among them, of all its sizes."""
    choices = []
    for log2 in range(5, 33):
        if first >> log2 == last >> log2:
            granule = 1 << (log2 - 3 if log2 >= 8 else log2)
            choices.append((first // granule * granule, (last // granule + 1) * granule - 1))
    return min(choices, key=lambda choice: choice[1] - choice[0])
