"""Reads problems from JSON or CSV, whichever it is."""

from __future__ import annotations

from usmp_build import effort
from usmp_build.document.source import check_size, decode, is_json
from usmp_build.errors import Span
from usmp_build.planner.memory.alive import count_pairs, problem_of
from usmp_build.planner.memory.problem import UNNAMED_POOL, Pool
from usmp_build.planner.memory.timeline import Timeline, are_powers_of_two
from usmp_build.planner.problems.bulk import in_bulk
from usmp_build.planner.problems.csv_form import read_csv
from usmp_build.planner.problems.csv_plain import Plain, read_plain
from usmp_build.planner.problems.json_form import read_json
from usmp_build.planner.problems.statement import Statement, assemble, check_pairs, check_sum


def read_problem(data: bytes, file: str) -> Statement:
    """Read a problem; `file` is its name in messages.  Raises ProblemError with all that is wrong."""
    check_size(data, file)
    with in_bulk():
        if is_json(data):
            return assemble(read_json(decode(data, file)))
        plain = read_plain(data)
        return _plain(plain, file) if plain else assemble(read_csv(decode(data, file)))


def _plain(plain: Plain, file: str) -> Statement:
    """Return the statement of a plain file: one pool, one interval for each buffer."""
    pools, place = (Pool(UNNAMED_POOL),), Span(file, 1, 1)
    pairs = count_pairs(plain.lower, plain.upper)
    if pairs > effort.LISTED_PAIRS and are_powers_of_two(plain.alignment):
        total = int(plain.size.sum(dtype=object)) + int(plain.alignment.sum(dtype=object))
        check_sum(total, len(plain.names), place)
        timeline = Timeline(plain.lower, plain.upper, plain.size, plain.alignment)
        return Statement(timeline, pools, plain.names, timed=True)
    check_pairs(pairs, place)
    columns = (plain.lower, plain.upper, plain.size, plain.alignment)
    return Statement(problem_of(plain.names, columns, pools[0]), pools, plain.names, timed=True)
