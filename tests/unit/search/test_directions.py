"""Directions read off plans, against all directions there are."""

from dataclasses import dataclass
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.memory.plan import quality
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.search.directions import Directions, PlanBudget, Reversible, direct

WAYS = (Direction.FORWARD, Direction.BACKWARD)


@dataclass(frozen=True)
class Chain:
    """Operator i reads buffer i, which dies, and writes buffer i + 1; a shortcut keeps a buffer alive for longer.

    Forward it may write `near[i]` bytes before its input, backward behind its end; the other side must be clear.
    """

    sizes: tuple[int, ...]
    near: tuple[int, ...]
    shortcut: tuple[int, int]

    @property
    def operators(self) -> list[OperatorRef]:
        return [OperatorRef(0, 0, i) for i in range(len(self.near))]

    def problem(self, directions: Directions) -> Problem:
        last = [min(i, len(self.near)) for i in range(len(self.sizes))]
        kept, until = self.shortcut
        last[kept] = max(last[kept], until)
        lives = [(max(0, i - 1), end + 1) for i, end in enumerate(last)]
        buffers = tuple(
            Buffer(f"b{i}", size, (0,), intervals=(life,))
            for i, (size, life) in enumerate(zip(self.sizes, lives, strict=True))
        )
        conflicts = tuple(
            tuple(j for j, other in enumerate(lives) if j != i and other[0] < life[1] and life[0] < other[1])
            for i, life in enumerate(lives)
        )
        separations = {}
        for i, operator in enumerate(self.operators):
            source, result = i, i + 1
            if last[source] == i:
                for way in WAYS if directions[operator] is Direction.EITHER else (directions[operator],):
                    if way is Direction.FORWARD:
                        separations[result, source] = min(self.near[i], self.sizes[result])
                    else:
                        far = self.sizes[source] - self.sizes[result] + self.near[i]
                        separations[source, result] = min(far, self.sizes[source])
        return Problem((Pool("ram"),), buffers, conflicts, separations)

    def ways(self) -> Reversible:
        return Reversible({o: ((i, i + 1),) for i, o in enumerate(self.operators)}, self.problem)


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    count = draw(st.integers(1, 5))
    sizes = tuple(draw(st.lists(st.integers(1, 12), min_size=count + 1, max_size=count + 1)))
    near = tuple(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)))
    kept = draw(st.integers(0, count))
    return Chain(sizes, near, (kept, draw(st.integers(kept, count))))


def best_of_all(chain: Chain) -> tuple[int, ...]:
    ranks = []
    for ways in product(WAYS, repeat=len(chain.near)):
        problem = chain.problem(dict(zip(chain.operators, ways, strict=True)))
        plan = Exact()(problem)
        assert plan is not None
        ranks.append(quality(problem, plan))
    return min(ranks)


@settings(max_examples=60)
@given(chains())
def test_no_directions_are_better(chain: Chain) -> None:
    choice = direct(chain.ways(), PlanBudget(Exact()))
    assert choice.directions is not None
    assert choice.plan is not None
    assert not violations(chain.problem(choice.directions), choice.plan)
    assert choice.rank == choice.bound == best_of_all(chain)


@settings(max_examples=60)
@given(chains(), st.integers(1, 3))
def test_a_search_cut_short_says_nothing_wrong(chain: Chain, plans: int) -> None:
    """And never returns what is not better than what is known."""
    forward = chain.problem(dict.fromkeys(chain.operators, Direction.FORWARD))
    plan = Exact()(forward)
    assert plan is not None
    known = quality(forward, plan)
    choice = direct(chain.ways(), PlanBudget(Exact(), plans), known, plan)
    best = best_of_all(chain)
    assert choice.bound <= best
    assert choice.rank is not None
    assert best <= choice.rank <= known
    assert (choice.plan is None) == (choice.rank == known)


def test_ends_alternate_in_a_chain() -> None:
    """Each pair needs one byte more than its larger buffer; a chain that goes one way only adds them up."""
    chain = Chain((8, 8, 8, 8), (1, 1, 1), (3, 3))
    choice = direct(chain.ways(), PlanBudget(Exact()))
    assert choice.rank == (0, 9, 9)
    assert choice.directions is not None
    taken = list(choice.directions.values())
    assert taken[0] is not taken[1] is not taken[2]
