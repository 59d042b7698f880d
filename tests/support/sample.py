"""Draws the machines that each test runs on, where a run of all tests would take too long.

Many tests are the same on each board, compiler, CMake, generator, Python and way to install us, and some take long for
each of our examples, operators, nets or algorithms.  A sample keeps a fifth of these, and at least one, for each test
and each set of its other parameters; another seed draws others.  Tests of a file prefer the same ones: what it builds
for a board is built once.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

import pytest

_DRAWN = frozenset({"board", "cmake", "compiler", "example", "family", "generator", "installed", "python", "standard"})
"""Parameters of which a fifth is kept, as of all whose names begin with `sampled_`."""
_SHARE = 5


def _is_drawn(parameter: str) -> bool:
    return parameter in _DRAWN or parameter.startswith("sampled_")


def _words(item: pytest.Function, parameter: str) -> str:
    """Return what each process calls a value: the text of a function or a set is another one in each of them."""
    value = item.callspec.params[parameter]
    return value if isinstance(value, str) else str(item.callspec.indices[parameter])


def left_out(items: Iterable[pytest.Item], seed: str) -> set[pytest.Item]:
    """Return the tests that the sample of this seed leaves out; the order of `items` does not matter."""
    drawn = defaultdict[object, list[pytest.Function]](list)
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        parameters = item.callspec.params
        others = {name: value for name, value in parameters.items() if not _is_drawn(name)}
        if others.keys() < parameters.keys():
            drawn[item.nodeid.partition("[")[0], repr(others)].append(item)

    def draw(item: pytest.Function) -> bytes:
        values = sorted((name, _words(item, name)) for name in item.callspec.params if _is_drawn(name))
        return hashlib.sha256(f"{seed} {item.nodeid.partition('::')[0]} {values}".encode()).digest()

    kept = {each for same in drawn.values() for each in sorted(same, key=draw)[: max(1, len(same) // _SHARE)]}
    return {each for same in drawn.values() for each in same} - kept
