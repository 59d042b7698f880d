"""Memory of pages against tensors in one piece: the same storages, each in whole pages.

python -m benchmarks.pages MANIFEST...
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from usmp_build import pipeline
from usmp_build.cli.table import columns
from usmp_build.files import DiskFiles
from usmp_build.pipeline import Planned
from usmp_build.planner.library import Solution, solve
from usmp_build.planner.memory.problem import Buffer, Pool, Problem

Row: TypeAlias = tuple[str, ...]


def main(manifests: list[str]) -> None:
    """Print a row for every pool of pages."""
    found = []
    for path in manifests:
        files = DiskFiles(Path(path).parent)
        planned = pipeline.plan(pipeline.read(Path(path).name, files), files)
        found += rows(planned)
    print("\n".join(table(found)))


def table(found: Iterable[Row]) -> list[str]:
    """Set rows in columns."""
    return columns(("pool", "tensors", "rows", "pages used", "bound", "in one piece"), found, "<>>>>>")


def rows(planned: Planned) -> Iterator[Row]:
    """Compare each pool of pages with one in which tensors are contiguous."""
    for number, pool in enumerate(planned.request.pools):
        if pool.page:
            shown = planned.summary.pools[number]
            whole = in_one_piece(planned, number)
            tensors = len(whole[0].buffers)
            count = sum(allocation.pool == number for allocation in planned.plan.allocations)
            pieces = whole[1].peaks[0] // pool.page
            proof = "" if whole[1].status.name == "OPTIMAL" else " (not proven)"
            name = f"{planned.request.project}.{pool.name}"
            used, bound = shown.size // pool.page, shown.bound // pool.page
            yield name, str(tensors), str(count), str(used), str(bound), f"{pieces}{proof}"


def in_one_piece(planned: Planned, number: int) -> tuple[Problem, Solution]:
    """State and solve the problem of a pool of pages with the rows of each tensor side by side."""
    storage, problem = planned.analysis.storage, planned.analysis.problem
    firsts = [first for first in storage.rows if planned.plan.allocations[first].pool == number]
    page = planned.request.pools[number].page
    buffers = tuple(
        Buffer(problem.buffers[f].name, sum(problem.buffers[row].size for row in storage.span(f)), (0,), (), page,
               problem.buffers[f].intervals)
        for f in firsts
    )  # fmt: skip
    conflicts = tuple(
        tuple(i for i, other in enumerate(firsts) if other != first and other in problem.conflicts[first])
        for first in firsts
    )
    whole = Problem((Pool("pages"),), buffers, conflicts)
    return whole, solve(whole, "exact")


if __name__ == "__main__":
    main(sys.argv[1:])
