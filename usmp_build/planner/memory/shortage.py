"""Shortages: why a problem has no plan, which changes would give it one, and messages that say both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from usmp_build.frozen import frozen
from usmp_build.planner.memory.increase import Increase
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.problem import Problem
from usmp_build.units import count_bytes, show_bytes

_SHOWN = 6
"""Most buffers named in a message; rows of a tensor count as one."""

_WAYS = 3
"""Most suggested fixes shown in a message."""


@frozen
class Shortage:
    """Why a problem has no plan."""

    pools: tuple[int, ...] = ()
    """The pools that are too small, taken together; empty when that is not known."""
    room: int = 0
    """Bytes that they have for the buffers of `witness`."""
    missing: int = 0
    """Bytes by which that is too little."""
    witness: Witness = field(default_factory=Witness)
    """The heaviest set of buffers there."""
    core: tuple[int, ...] = ()
    """A small set of buffers that do not fit together, largest first."""
    proven: bool = False
    """Whether every plan needs `missing` more bytes.  Otherwise the algorithm found no plan, neither for all buffers
    nor for those of `core`, and `missing` is the increase with which it found one."""
    increases: tuple[Increase, ...] = ()
    """Increases of limits, each of which is enough for the algorithm to find a plan."""


class ProofScope(Enum):
    """Which plans a proof covers, in words that follow "no" or "every"."""

    ALL = "plan"
    LAYER_BY_LAYER = "plan that runs layer by layer"
    """Row by row, one may need less."""
    ROWS = "order of rows"
    """Nor does any plan that runs layer by layer; one whose layers go through their rows in different directions may
    need less."""
    SAME_BUFFERS = "plan with these buffers"
    """Other copies, or other concat aliasing, would make other buffers."""
    SCHEDULE = "plan of this schedule"
    """Another order or other directions of the operators may need less."""


class Fix(NamedTuple):
    """A suggested fix, with which the algorithm found a plan."""

    bytes: int
    """How many bytes it takes."""
    words: str
    """What to do, as part of a sentence."""


class Explanation(NamedTuple):
    """A shortage in words."""

    message: str
    help: str


def put_into_words(
    problem: Problem,
    shortage: Shortage,
    step_names: Sequence[str] = (),
    others: Iterable[Fix] = (),
    together: str = "",
    scope: ProofScope = ProofScope.ALL,
    are_constants: bool = False,
) -> Explanation:
    """Return the message for a shortage; `step_names[t]` names what runs at step t, `others` are further suggestions.

    `together` explains why buffers conflict that share no step, `scope` is what a proof covers.  Constants are there at
    every step, so that none is named.
    """
    larger = (_larger(problem, increase) for increase in shortage.increases)
    fixes = sorted([*larger, *others], key=lambda fix: fix.bytes)[:_WAYS]
    if are_constants and shortage.proven:
        largest = sorted(shortage.witness.buffers, key=lambda index: -problem.buffers[index].size)
        message = f"the constants do not fit: {_too_small(problem, shortage, 'are')}: {_sizes(problem, largest)}"
    else:
        message = _message(problem, shortage, _when(shortage.witness, step_names) or together, scope)
    return Explanation(message, _help(problem, shortage, fixes, scope))


def _larger(problem: Problem, increase: Increase) -> Fix:
    enough = "" if increase.least else ", which is enough"
    return Fix(
        increase.bytes, f'enlarge "{problem.pools[increase.pool].name}" by {count_bytes(increase.bytes)}{enough}'
    )


def _message(problem: Problem, shortage: Shortage, when: str, scope: ProofScope) -> str:
    if not shortage.proven:
        lacks = f": {_too_small(problem, shortage, 'seem')}" if shortage.pools else ""
        most = f", most of all {when}" if shortage.pools and when else ""
        core = f"no place was found for {_sizes(problem, shortage.core)}" if shortage.core else ""
        return f"no plan was found{lacks}{most}" + (f": {core}" if core else "")
    lacks = _too_small(problem, shortage, "are")
    crowd = _crowd(problem, shortage) + _shared(problem, shortage)
    verdict = "no plan was found: in this schedule" if scope is ProofScope.SCHEDULE else "the buffers do not fit:"
    return f"{verdict} {lacks}{f' {when}' if when else ''}: {crowd}"


def _too_small(problem: Problem, shortage: Shortage, verb: str) -> str:
    """For example 'pool "sram" (65,536 bytes) is 1 byte too small'."""
    one = len(shortage.pools) == 1
    pools = f"pool {_names(problem, shortage)}" if one else f"pools {_names(problem, shortage)} together"
    verb = {"are": "is", "seem": "seems"}[verb] if one else verb
    return f"{pools} ({show_bytes(shortage.room)} bytes) {verb} {count_bytes(shortage.missing)} too small"


def _crowd(problem: Problem, shortage: Shortage) -> str:
    """List the buffers that do not fit together, and count those alive at the same time."""
    rest = [index for index in shortage.witness.buffers if index not in set(shortage.core)]
    if not rest or len(shortage.core) > _SHOWN:
        return _sizes(problem, (*shortage.core, *rest))
    others = f"{len(rest)} other buffer{'s' if len(rest) > 1 else ''} ({count_bytes(_total(problem, rest))})"
    verb = "does not fit" if len(shortage.core) == 1 else "do not fit together"
    return f"{_sizes(problem, shortage.core)} {verb} beside {others} alive then"


def _shared(problem: Problem, shortage: Shortage) -> str:
    """State how many bytes of the witness may be shared by overlaps."""
    overlap = _total(problem, shortage.witness.buffers) - shortage.room - shortage.missing
    return f"; at most {count_bytes(overlap)} of these may be shared" if overlap > 0 else ""


def _sizes(problem: Problem, indices: Sequence[int]) -> str:
    """For example "vww.t58 18,432 + vww.t60[2,3] 9,216 + 3 more 1,024"."""
    groups: dict[str, list[int]] = {}
    for index in indices:
        groups.setdefault(_name_of_all_rows(problem, index), []).append(index)
    shown = [_named(problem, group) for group in islice(groups.values(), _SHOWN)]
    if rest := [index for group in islice(groups.values(), _SHOWN, None) for index in group]:
        shown.append(f"{len(rest)} more {show_bytes(_total(problem, rest))}")
    return " + ".join(shown)


_ROW = re.compile(r"(.*)\[(\d+)\]")
"""The name of a row: that of the tensor, and its number."""


def _name_of_all_rows(problem: Problem, index: int) -> str:
    buffer = problem.buffers[index]
    row = _ROW.fullmatch(buffer.name)
    return row[1] if row and buffer.offset is None else buffer.name


def _named(problem: Problem, group: Sequence[int]) -> str:
    """Name a buffer, or rows of a tensor as one, with their bytes."""
    name, at = problem.buffers[group[0]].name, problem.buffers[group[0]].offset
    rows = [row[2] for index in group if (row := _ROW.fullmatch(problem.buffers[index].name))]
    if len(group) > 1:
        name = f"{name[: name.rindex('[')]}[{','.join(sorted(rows, key=int))}]"
    return f"{name} {show_bytes(_total(problem, group))}" + ("" if at is None else f" at {show_bytes(at)}")


def _total(problem: Problem, indices: Iterable[int]) -> int:
    return sum(problem.buffers[index].size for index in indices)


def _when(witness: Witness, step_names: Sequence[str]) -> str:
    if witness.step is None:
        return ""
    name = f' "{step_names[witness.step]}"' if witness.step < len(step_names) else ""
    return f"at step {witness.step}{name}"


def _names(problem: Problem, shortage: Shortage, conjunction: str = "and") -> str:
    return f" {conjunction} ".join(f'"{problem.pools[pool].name}"' for pool in shortage.pools)


def _proof(shortage: Shortage, scope: ProofScope) -> str:
    """State what is proven, apart from what was tried: the algorithm may need more than the best plan."""
    if not shortage.proven:
        return "one may exist all the same"
    if all(increase.bytes > shortage.missing for increase in shortage.increases) and shortage.increases:
        return f"every {scope.value} needs {count_bytes(shortage.missing)} more, at least"
    return f"no {scope.value} needs less"


def _help(problem: Problem, shortage: Shortage, fixes: Sequence[Fix], scope: ProofScope) -> str:
    proof = _proof(shortage, scope)
    if len(fixes) > 1:
        return "\n  - ".join([f"{proof}; each of these makes a plan:", *(fix.words for fix in fixes)])
    if fixes:
        return f"{proof}; {fixes[0].words}"
    enlarge = f"enlarge {_names(problem, shortage, 'or')}" if shortage.pools else "enlarge the pools"
    if shortage.proven:
        return f"{proof}; {enlarge}, or give some of these buffers another pool"
    return f"{proof}; try another algorithm, or {enlarge}"
