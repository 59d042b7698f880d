"""Reduce a set of buffers that has no plan to a small subset that has none (delta debugging).

Runs of buffers are left out at once, from the last.  A run that is needed is halved; after one that is not, the next is
twice as long.  So it takes about log2(n) tests for each buffer that stays:

    a b c d e f g h     without e f g h?  fits: not all of them are superfluous
    a b c d e f g h     without g h?      still too much
    a b c d e f         without c d e f?  still too much
    a b                 ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Fails: TypeAlias = Callable[[list[int]], bool]
"""Whether these buffers alone still have no plan."""


def shrink(members: Sequence[int], fails: Fails, tests: int) -> tuple[int, ...]:
    """Leave out superfluous members, from the last, in at most `tests` tests; the untested rest stays.

    Each member that stays was needed when it was tested.  It still is in the end if `fails` is monotonic: fewer
    members never fail where more do not.
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
    """Return the shortest failing beginning of `members`, by bisection; a longer one when tests run out."""
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
    """Shrink until no member is superfluous, even where `fails` is not monotonic: without any one, the rest fits.

    Each round takes at most `tests` tests.
    """
    kept = tuple(members)
    while len(fewer := shrink(kept, fails, tests)) < len(kept):
        kept = fewer
    return kept
