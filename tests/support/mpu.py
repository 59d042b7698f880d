"""What registers of Arm's memory protection units mean, as the architecture manuals say; shares nothing with ours."""

from dataclasses import dataclass

_RIGHTS = {3: "rw", 6: "ro", 7: "ro"}
"""AP of PMSAv7, for privileged code; 7 is another name of 6."""
_RIGHTS_V8 = {0: "rw", 1: "rw", 2: "ro", 3: "ro"}


@dataclass(frozen=True)
class Opened:
    """A range of addresses that a region opens."""

    first: int
    last: int
    rights: str
    """rw or ro, and x where code may run."""


def pmsav7(rbar: int, rasr: int) -> list[Opened]:
    """Return what RBAR and RASR open: pieces that touch are one."""
    if not rasr & 1:
        return []
    log2 = (rasr >> 1 & 0x1F) + 1
    assert log2 >= 5
    start = rbar >> log2 << log2
    assert start == rbar & ~0x1F, "the address of a region is no multiple of its size"
    off = rasr >> 8 & 0xFF
    rights = _RIGHTS[rasr >> 24 & 7] + ("" if rasr >> 28 & 1 else "x")
    if log2 < 8:
        assert off == 0, "a region of less than 256 bytes has no eighths"
        return [Opened(start, start + (1 << log2) - 1, rights)]
    pieces: list[Opened] = []
    for index in range(8):
        first, last = (start + each * (1 << log2 - 3) for each in (index, index + 1))
        if off >> index & 1:
            continue
        if pieces and pieces[-1].last == first - 1:
            first = pieces.pop().first
        pieces.append(Opened(first, last - 1, rights))
    return pieces


def pmsav8(rbar: int, rlar: int) -> list[Opened]:
    """Return what RBAR and RLAR open: the limit is within the last 32 bytes."""
    if not rlar & 1:
        return []
    rights = _RIGHTS_V8[rbar >> 1 & 3] + ("" if rbar & 1 else "x")
    return [Opened(rbar & ~0x1F, rlar | 0x1F, rights)]
