"""Constants as C has them: structs, member by member."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.layout.pools import PoolRow


@frozen
class ConstantRow:
    """A member of a struct of constants."""

    member: str
    c_type: str
    count: int
    comment: tuple[str, ...]
    """What it is, and what else has these bytes: lines of a comment; none for padding."""
    is_merged: bool
    """Whether it stands for several equal constants."""
    lines: tuple[str, ...]
    """The values, ready to print."""


@frozen
class ConstantGroup:
    """The constants of one pool that only one model reads, or that several do: one C object."""

    symbol: str
    """The object and the tag of its struct: `kws_flash_constants`."""
    models: tuple[int, ...]
    pool: PoolRow
    offset: int
    """Bytes from the start of the pool."""
    size: int
    """Bytes."""
    alignment: int
    """Of the object.  Its size is a multiple of it, so that no linker leaves gaps between the objects of a pool."""
    rows: tuple[ConstantRow, ...]

    @property
    def declaration(self) -> str:
        """A pointer to it, where the pool is the application's."""
        return f"const struct {self.symbol} *{self.symbol}"

    @property
    def needs_math(self) -> bool:
        """Whether a value is spelled INFINITY or NAN, which <math.h> defines."""
        return any("N" in line for row in self.rows for line in row.lines if row.c_type in {"float", "double"})


@frozen
class PoolBytes:
    """The bytes of a constant pool of the application."""

    pool: PoolRow
    data: bytes
    """Bytes between constants are zero, and so is the seal: which code it is for is not known yet."""
