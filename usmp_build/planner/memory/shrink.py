"""From buffers that cannot be together to few of them that cannot.

Whole runs of buffers are left out at once, the last ones first.  A run that cannot be spared is halved; one that can
makes the next one twice as long.  So it takes about log2(n) tests for each buffer that stays:

    a b c d e f g h     without e f g h?  fits: they are not superfluous all together
    a b c d e f g h     without g h?      still too much
    a b c d e f         without c d e f?  still too much
    a b                 ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Fails: TypeAlias = Callable[[list[int]], bool]
"""Whether these buffers, without the others, are still too much."""


def shrink(members: Sequence[int], fails: Fails, tests: int) -> tuple[int, ...]:
    """Leave out what is superfluous, the last ones first; after so many tests what is left stays, needed or not.

    Each buffer that stays was needed when it was looked at.  It is so in the end, too, if fewer buffers never fail
    where more do not.
    """
    kept = list(members)
    end, run = len(kept), max(1, len(kept) // 2)  # from `end` on all are needed
    while end > 0 and tests > 0:
        start = max(0, end - run)
        fewer = kept[:start] + kept[end:]
        tests -= 1
        if fewer and fails(fewer):
            kept, end, run = fewer, start, 2 * run
        elif end - start > 1:
            run = (end - start) // 2
        else:
            end, run = start, 1
    return tuple(kept)


def beginning(members: Sequence[int], fails: Fails, tests: int) -> list[int]:
    """Return as many of the first `members` as it takes to fail, by bisection; more of them when tests run out."""
    low, high = 0, len(members)
    while high - low > 1 and tests > 0:
        middle = (low + high) // 2
        tests -= 1
        if fails(list(members[:middle])):
            high = middle
        else:
            low = middle
    return list(members[:high])


def irreducible(members: Sequence[int], fails: Fails, tests: int) -> tuple[int, ...]:
    """Shrink until nothing more is superfluous, whatever `fails` is like: without any one of them, the rest is not
    too much.  Each round has so many tests.
    """
    kept = tuple(members)
    while len(fewer := shrink(kept, fails, tests)) < len(kept):
        kept = fewer
    return kept
