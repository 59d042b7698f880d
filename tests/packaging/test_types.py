"""Types: a project that uses the installed package passes mypy --strict, and mypy tells it where it is wrong."""

import sys
from pathlib import Path

from tests.support.environments import Environment
from tests.support.processes import far_from_us, run
from tests.support.tools import need_packages

RIGHT = '''
"""A planner's user, and a plug-in: an algorithm."""

from dataclasses import dataclass

from typing_extensions import assert_type

from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.memory import Allocation, Buffer, Plan, Pool, Problem
from usmp_build.planner.library import Solution, Status, solve
from usmp_build.planner.problems import problem_json, read_problem, solution_json


@dataclass(frozen=True)
class Stacked:
    start: int = 0

    def __call__(self, problem: Problem, /) -> Plan | None:
        offset, places = self.start, []
        for buffer in problem.buffers:
            places.append(Allocation(buffer.pools[0], offset))
            offset += buffer.size
        return Plan("stacked", tuple(places))


algorithm: Algorithm = Stacked()
problem = Problem(pools=(Pool("sram", limit=64),), buffers=(Buffer("a", 8, pools=(0,)),), conflicts=((),))
solution = solve(problem, capacity=64, minimize=True)
assert_type(solution, Solution)
assert_type(solution.status, Status)
assert_type(solution.peaks, tuple[int, ...])
statement = read_problem(problem_json(problem).encode(), "problem.json")
assert_type(solution_json(statement, solution), str)
'''

WRONG = """
from usmp_build.planner.memory import Pool
from usmp_build.planner import solve

solve("problem.csv")
Pool("sram", limit="64 KiB")
"""


def mypy(environment: Environment, program: str, folder: Path) -> tuple[int, str]:
    """Check a program as a user of this environment would."""
    need_packages("mypy")
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", environment.python, "program.py"]
    env = far_from_us() | {"MYPY_CACHE_DIR": str(environment.folder / "mypy")}
    done = run(command, folder, env)
    return done.code, done.out


def test_a_project_that_uses_the_package_is_typed(from_wheel: Environment, tmp_path: Path) -> None:
    assert mypy(from_wheel, RIGHT, tmp_path) == (0, "Success: no issues found in 1 source file\n")


def test_wrong_uses_are_type_errors(from_wheel: Environment, tmp_path: Path) -> None:
    code, message = mypy(from_wheel, WRONG, tmp_path)
    assert code == 1
    assert 'Argument 1 to "solve" has incompatible type "str"' in message
    assert 'Argument "limit" to "Pool" has incompatible type "str"' in message
