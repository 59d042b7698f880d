"""Plans memory problems: places buffers with lifetimes in pools with limits, and verifies the result.

    from usmp_build.planner import Buffer, Pool, Problem, solve

It knows no model and no manifest.
"""

from usmp_build.planner.library import solve
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.memory.timeline import Timeline

__all__ = ["Buffer", "Pool", "Problem", "Solution", "Status", "Timeline", "solve"]
