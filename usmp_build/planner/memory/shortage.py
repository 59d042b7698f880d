"""What stands in the way of a plan, what would make one, and the words for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from usmp_build.planner.memory.increase import Increase
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.problem import Problem
from usmp_build.units import count_bytes, show_bytes

_SHOWN = 6
"""So many buffers are named in a message."""

_WAYS = 3
"""So many ways out are shown."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """What stands in the way of a plan."""

    pools: tuple[int, ...] = ()
    """The pools that are too small, taken together; empty when even that is not known."""
    room: int = 0
    """The bytes that they offer for the buffers of `witness`."""
    missing: int = 0
    """The bytes by which that is too little."""
    witness: Witness = field(default_factory=Witness)
    """The heaviest set of buffers there."""
    core: tuple[int, ...] = ()
    """Few buffers, largest first, that do not fit together."""
    proven: bool = False
    """No plan can do with less.  Otherwise the algorithm found none, neither for all buffers nor for those of `core`,
    and `missing` is what made it find one."""
    increases: tuple[Increase, ...] = ()
    """Of pools, each for the algorithm to find a plan; one of them is enough."""


class ProofScope(Enum):
    """Which plans a proof covers, in words that follow "no plan"."""

    ALL = ""
    SAME_BUFFERS = " with these buffers"
    """Copies elsewhere, or other tensors that are parts of one another, would be other buffers."""
    SCHEDULE = " of this schedule"
    """Another order or other directions of the operators may need less."""


class Fix(NamedTuple):
    """A way out.  It was tried: the algorithm found a plan."""

    bytes: int
    """That it costs."""
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
) -> Explanation:
    """Word a shortage for people; `step_names[t]` says what happens at step t, `others` are more ways out.

    `together` says why buffers are in each other's way that are alive at no one step, `scope` what a proof covers.
    """
    larger = (_larger(problem, increase) for increase in shortage.increases)
    ways = sorted([*larger, *others], key=lambda way: way.bytes)[:_WAYS]
    when = _when(shortage.witness, step_names) or together
    return Explanation(_message(problem, shortage, when, scope), _help(problem, shortage, ways, scope))


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
    """The buffers that do not fit together, and how many more there are at the same time."""
    rest = [index for index in shortage.witness.buffers if index not in set(shortage.core)]
    if not rest or len(shortage.core) > _SHOWN:
        return _sizes(problem, (*shortage.core, *rest))
    others = f"{len(rest)} other buffer{'s' if len(rest) > 1 else ''} ({count_bytes(_total(problem, rest))})"
    verb = "does not fit" if len(shortage.core) == 1 else "do not fit together"
    return f"{_sizes(problem, shortage.core)} {verb} beside {others} alive then"


def _shared(problem: Problem, shortage: Shortage) -> str:
    """What the buffers take less than their sizes together, because some may overlap."""
    overlap = _total(problem, shortage.witness.buffers) - shortage.room - shortage.missing
    return f"; at most {count_bytes(overlap)} of these may be shared" if overlap > 0 else ""


def _sizes(problem: Problem, indices: Sequence[int]) -> str:
    """For example "vww.t58 18,432 + vww.t60 9,216 + 3 more 1,024"."""
    buffers = [problem.buffers[index] for index in indices[:_SHOWN]]
    fixed = ["" if buffer.offset is None else f" at {show_bytes(buffer.offset)}" for buffer in buffers]
    shown = [f"{buffer.name} {show_bytes(buffer.size)}{at}" for buffer, at in zip(buffers, fixed, strict=True)]
    if rest := indices[_SHOWN:]:
        shown.append(f"{len(rest)} more {show_bytes(_total(problem, rest))}")
    return " + ".join(shown)


def _total(problem: Problem, indices: Iterable[int]) -> int:
    return sum(problem.buffers[index].size for index in indices)


def _when(witness: Witness, step_names: Sequence[str]) -> str:
    if witness.step is None:
        return ""
    name = f' "{step_names[witness.step]}"' if witness.step < len(step_names) else ""
    return f"at step {witness.step}{name}"


def _names(problem: Problem, shortage: Shortage, conjunction: str = "and") -> str:
    return f" {conjunction} ".join(f'"{problem.pools[pool].name}"' for pool in shortage.pools)


def _known(shortage: Shortage, scope: ProofScope) -> str:
    """What is proven, beside what was tried: the algorithm may need more than any plan must."""
    if not shortage.proven:
        return "one may exist all the same"
    if all(increase.bytes > shortage.missing for increase in shortage.increases) and shortage.increases:
        return f"every plan{scope.value} needs {count_bytes(shortage.missing)} more, at least"
    return f"no plan{scope.value} needs less"


def _help(problem: Problem, shortage: Shortage, ways: Sequence[Fix], scope: ProofScope) -> str:
    """What is known, then what helps."""
    known = _known(shortage, scope)
    if len(ways) > 1:
        return "\n  - ".join([f"{known}; each of these makes a plan:", *(way.words for way in ways)])
    if ways:
        return f"{known}; {ways[0].words}"
    enlarge = f"enlarge {_names(problem, shortage, 'or')}" if shortage.pools else "enlarge the pools"
    if shortage.proven:
        return f"{known}; {enlarge}, or give some of these buffers another pool"
    return f"{known}; try another algorithm, or {enlarge}"
