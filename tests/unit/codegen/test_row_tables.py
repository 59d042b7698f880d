"""Tables of rows and of jobs have the smallest type that holds them, and say where a row is."""

from dataclasses import replace

import pytest

from usmp_build.layout import PoolRow
from usmp_build.layout.rows import Jobs, RowOffsets, smallest_unsigned


def pool(name: str) -> PoolRow:
    """A pool of which tables say no more than the name."""
    row = PoolRow.__new__(PoolRow)
    object.__setattr__(row, "name", name)
    return row


POOLS = tuple(map(pool, ("dtcm", "sram", "psram")))
TABLE = RowOffsets("m_t1_rows", 4, (3, 255), (POOLS[1],) * 2, workspaces=POOLS, row_bytes=8, elements=8, comment="t1")


@pytest.mark.parametrize(
    ("largest", "c_type"),
    [(0, "uint8_t"), (255, "uint8_t"), (256, "uint16_t"), (65_535, "uint16_t"), (65_536, "uint32_t")],
)
def test_the_smallest_type(largest: int, c_type: str) -> None:
    assert smallest_unsigned(largest) == c_type
    assert replace(TABLE, offsets=(largest, 0)).c_type == c_type
    assert Jobs("m_jobs", (0, largest)).c_type == c_type


def test_the_address_of_a_row() -> None:
    assert TABLE.at("pool", "y - 1") == "pool + m_t1_rows[y - 1] * 4"
    assert replace(TABLE, unit=1).at("pool", "y") == "pool + m_t1_rows[y]"


@pytest.mark.parametrize(("pools", "slots"), [(2, 2), (3, 4)])
def test_a_row_in_one_of_several_pools(pools: int, slots: int) -> None:
    """Each entry names the pool, too; a power of two in place of the number of pools makes that cheap."""
    table = replace(TABLE, pools=(POOLS[1], POOLS[0]), workspaces=POOLS[:pools])
    assert table.entries == (3 * slots + 1, 255 * slots)
    assert table.c_type == "uint16_t"
    assert table.at("bases", "y") == f"bases[m_t1_rows[y] % {slots}] + m_t1_rows[y] / {slots} * 4"
