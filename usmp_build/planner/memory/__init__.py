"""The memory problem and its answers.  This package knows nothing of graphs, models or files."""

from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Pool, Problem

__all__ = ["Allocation", "Buffer", "Plan", "Pool", "Problem"]
