"""Memory problems and plans: types, bounds, verification, explanations.  No graphs, models or files in here."""

from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Pool, Problem

__all__ = ["Allocation", "Buffer", "Plan", "Pool", "Problem"]
