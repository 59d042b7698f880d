"""Tables of rows and of jobs have the smallest type that holds them, and say where a row is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from usmp_build.layout import Jobs, PoolRow, RowOffsets
from usmp_build.layout.rows import smallest_unsigned

POOL = PoolRow.__new__(PoolRow)  # what tables say of rows does not depend on it
TABLE = RowOffsets("m_t1_rows", unit=4, entries=(3, 255), pool=POOL, row_bytes=8, comment="t1")


@pytest.mark.parametrize(
    ("largest", "c_type"),
    [(0, "uint8_t"), (255, "uint8_t"), (256, "uint16_t"), (65_535, "uint16_t"), (65_536, "uint32_t")],
)
def test_the_smallest_type(largest: int, c_type: str) -> None:
    assert smallest_unsigned(largest) == c_type
    assert replace(TABLE, entries=(largest, 0)).c_type == c_type
    assert Jobs("m_jobs", (0, largest)).c_type == c_type


def test_the_address_of_a_row() -> None:
    assert TABLE.at("pool", "y - 1") == "pool + m_t1_rows[y - 1] * 4"
    assert replace(TABLE, unit=1).at("pool", "y") == "pool + m_t1_rows[y]"
