"""The C of operators that run row by row: where rows are, and which operator computes its next row when."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.layout.pools import PoolRow


def smallest_unsigned(largest: int) -> str:
    """Return the C type that holds numbers from 0 to `largest`, below 2^32."""
    return next(f"uint{bits}_t" for bits in (8, 16, 32) if largest < 1 << bits)


@dataclass(frozen=True, slots=True)
class RowOffsets:
    """A table of the places of a tensor's rows in its pool."""

    symbol: str
    """`kws_t22_rows`."""
    unit: int
    """Bytes that entries are multiples of."""
    entries: tuple[int, ...]
    """Offset of each row in the pool, in units."""
    pool: PoolRow
    row_bytes: int
    comment: str

    @property
    def c_type(self) -> str:
        """The type of an entry."""
        return smallest_unsigned(max(self.entries))

    def at(self, base: str, row: str) -> str:
        """Return the address of a row as C, given the address of the pool."""
        return f"{base} + {self.symbol}[{row}]{f' * {self.unit}' if self.unit > 1 else ''}"


@dataclass(frozen=True, slots=True)
class RowTrace:
    """A row that the hook shows after a job."""

    position: int
    tensor: int
    expression: str
    size: int
    """Bytes; 0: the job completed no row of it, as those of a reduction do before the last."""


@dataclass(frozen=True, slots=True)
class RowStep:
    """An operator that runs row by row."""

    number: int
    """Its number in tables of jobs."""
    step: int
    """Index of its function in `ModelCode.steps`."""
    row: str
    """The row of job number `job`, as C."""
    last: int
    """Its last job."""
    traces: tuple[RowTrace, ...]


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs that follow one another."""

    symbol: str
    """`kws_jobs`."""
    operators: tuple[int, ...]
    """For each job the number of its `RowStep`."""
    numbers: tuple[int, ...] = ()
    """For each job its number among those of its operator, where jobs run more than once; empty: they run in turn."""

    @property
    def c_type(self) -> str:
        """The type of an entry of the table of operators."""
        return smallest_unsigned(max(self.operators))

    @property
    def numbers_symbol(self) -> str:
        """The name of the table of numbers: `kws_jobs_numbers`."""
        return f"{self.symbol}_numbers"

    @property
    def numbers_type(self) -> str:
        """The type of an entry of the table of numbers."""
        return smallest_unsigned(max(self.numbers))
