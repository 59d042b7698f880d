"""Draws the machines that each test runs on, where a run of all tests would take too long.

Many tests are the same on each board, compiler, CMake, generator and Python, and some take long for each of our
examples, operators or nets.  A sample keeps a third of these, rounded up, for each test and each set of its other
parameters; another seed draws others.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

import pytest

_DRAWN = frozenset(
    {"board", "cmake", "compiler", "example", "family", "generator", "python", "sampled_kind", "standard"}
)
"""Parameters of which a third is kept."""
_SHARE = 3


def left_out(items: Iterable[pytest.Item], seed: str) -> set[pytest.Item]:
    """Return the tests that the sample of this seed leaves out; the order of `items` does not matter."""
    drawn = defaultdict[object, list[pytest.Item]](list)
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if not _DRAWN.isdisjoint(parameters):
            others = {name: value for name, value in parameters.items() if name not in _DRAWN}
            drawn[item.nodeid.partition("[")[0], repr(others)].append(item)

    def draw(item: pytest.Item) -> bytes:
        return hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest()

    kept = {each for same in drawn.values() for each in sorted(same, key=draw)[: -(-len(same) // _SHARE)]}
    return {each for same in drawn.values() for each in same} - kept
