"""Chooses the tests of CI, where all would take too long: the same for every commit, and a few that a seed draws.

Many tests are the same on each board, compiler, CMake, generator, Python and way to install us, and some take long for
each of our operators, nets or algorithms; the mark `drawn` names those parameters.  A sample keeps an eighth of their
values, and at least one, for each test and each set of its other parameters.  Tests of a file prefer the same ones:
what it builds for a board is built once.

Of other tests that take long it keeps a third or a fifth.  Of all that is left out, the seed draws one of forty.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

_DRAWN = frozenset({"board", "cmake", "compiler", "example", "family", "generator", "installed", "python", "standard"})
"""Parameters that are drawn wherever they are."""
_VALUES, _ROTATING = 8, 40
"""One of so many is kept: of the values of a parameter, and of all that is left out."""


def of_parameters(items: Iterable[pytest.Item], seed: str) -> set[pytest.Item]:
    """Return the tests that are left out because other values of their parameters are kept, in whatever order."""
    groups = defaultdict[object, list[pytest.Item]](list)
    for item in items:
        if drawn := _drawn(item):
            others = {name: value for name, value in _parameters(item).items() if name not in drawn}
            groups[item.nodeid.partition("[")[0], repr(others)].append(item)

    def place(item: pytest.Item) -> int:
        return _number(f"{item.nodeid.partition('::')[0]} {sorted(_drawn(item).items())}")

    kept = {each for group in groups.values() for each in sorted(group, key=place)[: max(1, len(group) // _VALUES)]}
    return {each for group in groups.values() for each in group if not _has_its_turn(each, seed)} - kept


def of_long_ones(shares: Mapping[pytest.Item, int], seed: str) -> set[pytest.Item]:
    """Return the tests that are left out because they take long, and no parameter is drawn for them.

    One of so many is kept as each test says.
    """
    alone = {item: share for item, share in shares.items() if not _drawn(item)}
    return {item for item, share in alone.items() if _number(item.nodeid) % share and not _has_its_turn(item, seed)}


def _has_its_turn(item: pytest.Item, seed: str) -> bool:
    return _number(f"{seed} {item.nodeid}") % _ROTATING == 0


def _drawn(item: pytest.Item) -> dict[str, str]:
    """Return which parameters are drawn, and what each process calls their values.

    The text of a function or a set is another one in each process, so that pytest-xdist would refuse to run.
    """
    names = _DRAWN.union(*(mark.args for mark in item.iter_markers("drawn")))
    return {
        name: value if isinstance(value, str) else str(item.callspec.indices[name])  # type: ignore[attr-defined]
        for name, value in _parameters(item).items()
        if name in names
    }


def _parameters(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def _number(text: str) -> int:
    """Return a large number that is the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
