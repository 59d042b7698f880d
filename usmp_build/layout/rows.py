"""The C of operators that run row by row: where rows are, and which operator computes its next row when."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.layout.pools import PoolRow


def smallest_unsigned(largest: int) -> str:
    """Return the C type that holds numbers from 0 to `largest`, below 2^32."""
    return next(f"uint{bits}_t" for bits in (8, 16, 32) if largest < 1 << bits)


@frozen
class RowOffsets:
    """A table of the places of a tensor's rows.

    In one pool, an entry is an offset.  In several, it says which of the model's workspace pools, too:

        entry  =  offset * slots + number of the pool           slots: the number of pools, rounded up to a power of two
    """

    symbol: str
    """`kws_t22_rows`."""
    unit: int
    """Bytes that entries are multiples of."""
    offsets: tuple[int, ...]
    """Offset of each row in its pool, in units."""
    pools: tuple[PoolRow, ...]
    """The pool of each row."""
    workspaces: tuple[PoolRow, ...]
    """All pools that `bases` in C has."""
    row_bytes: int
    elements: int
    """Those of a row."""
    comment: str
    taps: int = 1
    """Entries for each row under a window, where rows move between jobs."""
    by: str = ""
    """What chooses an entry: the row; "k", first the tap, then the row; "y", the row that a job makes, then the tap."""

    @property
    def is_in_several(self) -> bool:
        """Whether rows are in more than one pool."""
        return len({pool.name for pool in self.pools}) > 1

    @property
    def slots(self) -> int:
        """What an entry counts for each unit of an offset."""
        return 1 << (len(self.workspaces) - 1).bit_length() if self.is_in_several else 1

    @property
    def entries(self) -> tuple[int, ...]:
        """What the table holds of each row."""
        if not self.is_in_several:
            return self.offsets
        numbers = {pool.name: number for number, pool in enumerate(self.workspaces)}
        places = zip(self.offsets, self.pools, strict=True)
        return tuple(offset * self.slots + numbers[pool.name] for offset, pool in places)

    @property
    def lines(self) -> tuple[tuple[int, ...], ...]:
        """The entries in lines: all in one, or those of each tap or job."""
        length = {"": len(self.offsets), "k": len(self.offsets) // self.taps, "y": self.taps}[self.by]
        return tuple(self.entries[begin : begin + length] for begin in range(0, len(self.offsets), length))

    @property
    def c_type(self) -> str:
        """The type of an entry."""
        return smallest_unsigned(max(self.entries))

    @property
    def base(self) -> str:
        """What `at` starts from, as C in the functions of a model: a pool, or the array of all workspace pools."""
        return "bases" if self.is_in_several else self.pools[0].base

    def at(self, base: str, row: str) -> str:
        """Return the address of a row as C, given `base` under the name that it has there; `k` is the tap."""
        indices = {"": f"[{row}]", "k": f"[k][{row}]", "y": "[y][k]" if self.taps > 1 else "[y]"}
        entry = f"{self.symbol}{indices[self.by]}"
        unit = f" * {self.unit}" if self.unit > 1 else ""
        if not self.is_in_several:
            return f"{base} + {entry}{unit}"
        return f"{base}[{entry} % {self.slots}] + {entry} / {self.slots}{unit}"


@frozen
class Moves:
    """A table of the moves of a model's rows within a pool, in order."""

    symbol: str
    """`kws_moves`."""
    number: int
    """What stands for a move in tables of jobs."""
    unit: int
    """Bytes that entries are multiples of."""
    entries: tuple[tuple[int, int, int], ...]
    """Offset of the old place, of the new one, and the size of the row, in units."""
    pool: PoolRow

    @property
    def c_type(self) -> str:
        """The type of an entry."""
        return smallest_unsigned(max(max(each) for each in self.entries))


@frozen
class RowTrace:
    """A row that the hook shows after a job."""

    position: int
    tensor: int
    expression: str
    size: int
    """Bytes; 0: the job completed no row of it, as those of a reduction do before the last."""


@frozen
class RowStep:
    """An operator that runs row by row; where rows arrive from outside, every operator."""

    number: int
    """Its number in tables of jobs."""
    step: int
    """Index of its function in `ModelCode.steps`."""
    row: str
    """The row of job number `job`, as C; empty: the whole operator is one job."""
    last: int
    """Its last job."""
    traces: tuple[RowTrace, ...]
    leaving: tuple[RowTrace, ...] = ()
    """Those of the rows that the application gets after a job."""


@frozen
class Arrival:
    """The input of a model whose rows arrive from outside."""

    tensor: int
    name: str
    """The member of `inputs` that it would be."""
    macro: str
    """The prefix of its macros: `VWW_IMAGE`."""
    c_type: str
    place: str
    """The address of row number `row`, as C."""


@frozen
class Jobs:
    """Jobs that follow one another."""

    symbol: str
    """`kws_jobs`."""
    operators: tuple[int, ...]
    """For each job the number of its `RowStep`; where a row arrives, the number of these."""

    @property
    def c_type(self) -> str:
        """The type of an entry of the table."""
        return smallest_unsigned(max(self.operators))
