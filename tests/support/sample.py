"""Draws the tests that a run has, where all of them would take too long; another seed draws others.

Many tests are the same on each board, compiler, CMake, generator, Python and way to install us, and some take long for
each of our operators, nets or algorithms; the mark `drawn` names those parameters.  A sample keeps a fifth of their
values, and at least one, for each test and each set of its other parameters.  Tests of a file prefer the same ones:
what it builds for a board is built once.

Of other tests that take long it keeps about one half.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

import pytest

_DRAWN = frozenset({"board", "cmake", "compiler", "example", "family", "generator", "installed", "python", "standard"})
"""Parameters that are drawn wherever they are."""
_SHARE = 5


def of_parameters(items: Iterable[pytest.Item], seed: str) -> set[pytest.Item]:
    """Return the tests that are left out because other values of their parameters are drawn, in whatever order."""
    groups = defaultdict[object, list[pytest.Item]](list)
    for item in items:
        if drawn := _drawn(item):
            others = {name: value for name, value in _parameters(item).items() if name not in drawn}
            groups[item.nodeid.partition("[")[0], repr(others)].append(item)

    def place(item: pytest.Item) -> bytes:
        return _digest(f"{seed} {item.nodeid.partition('::')[0]} {sorted(_drawn(item).items())}")

    kept = {each for group in groups.values() for each in sorted(group, key=place)[: max(1, len(group) // _SHARE)]}
    return {each for group in groups.values() for each in group} - kept


def of_long_ones(items: Iterable[pytest.Item], seed: str) -> set[pytest.Item]:
    """Return the tests of `items` that are left out because they take long, and no parameter is drawn for them."""
    return {item for item in items if not _drawn(item) and _digest(f"{seed} {item.nodeid}")[0] % 2}


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


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
