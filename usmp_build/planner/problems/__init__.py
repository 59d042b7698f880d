"""Reads and writes memory problems, and plans with their proofs, as CSV and JSON.

bytes ─read_problem→ Statement       Problem  ─problem_json, problem_csv→ text
bytes ─read_plan→ PlanFile           Solution ─solution_json, offsets_csv→ text
"""

from usmp_build.planner.problems.csv_write import offsets_csv, problem_csv
from usmp_build.planner.problems.json_form import problem_json
from usmp_build.planner.problems.plan_file import PlanFile, read_plan
from usmp_build.planner.problems.read import read_problem
from usmp_build.planner.problems.solution_write import solution_json
from usmp_build.planner.problems.statement import Statement

__all__ = [
    "PlanFile",
    "Statement",
    "offsets_csv",
    "problem_csv",
    "problem_json",
    "read_plan",
    "read_problem",
    "solution_json",
]
