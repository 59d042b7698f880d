"""What a solution says of its bounds."""

from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.solution import Solution, Status


def test_a_bound_is_what_buffers_or_a_search_prove_and_the_gap_is_what_is_above() -> None:
    witnesses = Witness(16, (0, 1), 3), Witness(8, (2,))
    solution = Solution(Status.FEASIBLE, None, peaks=(24, 8), witnesses=witnesses, claims=(20, 0))
    assert (solution.bounds, solution.gaps, solution.gap) == ((20, 8), (4, 0), 4)


def test_without_a_plan_nothing_is_proven_by_default() -> None:
    solution = Solution(Status.UNKNOWN, None)
    assert (solution.claim, solution.work, solution.bounds, solution.gap) == (0, 0, (), 0)
    assert (solution.shortage.pools, solution.shortage.missing, solution.shortage.proven) == ((), 0, False)
