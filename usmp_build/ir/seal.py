"""The layout of the seal, the header of a constant pool owned by the application."""

from __future__ import annotations

from usmp_build.frozen import frozen

_WORD = 4
"""Bytes of `uint32_t`."""


@frozen
class SealMember:
    """A member of `struct usmp_seal`: little-endian words, the lowest first."""

    name: str
    words: int
    comment: str
    is_covered: bool
    """Whether the CRC-32 covers it and all bytes after it."""

    def packed(self, value: int) -> bytes:
        """Return the bytes of the member for a value."""
        return value.to_bytes(_WORD * self.words, "little")

    @property
    def declaration(self) -> str:
        """The member in C."""
        return f"uint32_t {self.name}{f'[{self.words}]' if self.words > 1 else ''};"


SEAL = (
    SealMember("id", 2, "of the code that reads them", is_covered=False),
    SealMember("crc", 1, "CRC-32 of all bytes after it", is_covered=False),
    SealMember("size", 1, "bytes of the pool", is_covered=True),
)
"""The members in order; those that the CRC-32 covers come last."""

FIRST_COVERED = next(member.name for member in SEAL if member.is_covered)
"""The CRC-32 covers all bytes from it on."""

SEAL_BYTES = _WORD * sum(member.words for member in SEAL)
