"""How many plans decide which operators copy: fewer where each of them takes long."""

from dataclasses import replace

import pytest

from tests.support.road import every, model, request
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import OperatorRef
from usmp_build.kernels.reference import Reference
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.search import concat_aliasing
from usmp_build.search.operator_order import BestCandidate, Orders
from usmp_build.search.replanner import Replanner

SITES = 16


def joins() -> str:
    """Concatenations of two halves, one after the other."""
    lines = ['%0 "x" float32[1,2]', "inputs %0", f"outputs %{3 * SITES}"]
    for site in range(SITES):
        a, b, whole = (3 * site + number for number in (1, 2, 3))
        size = 2 << site
        lines += [f'%{a} "a{a}" float32[1,{size}]', f'%{b} "b{b}" float32[1,{size}]']
        lines += [f'%{whole} "w{whole}" float32[1,{2 * size}]']
        lines += [
            f"%{a} = RELU(%{a - 1})",
            f"%{b} = LOGISTIC(%{a - 1})",
            f"%{whole} = CONCATENATION(%{a}, %{b}) axis=1",
        ]
    return "\n".join(sorted(lines, key=lambda line: (" = " in line, line[0] != "%")))


@pytest.mark.parametrize(("buffers", "all_meet", "plans"), [(50, False, 16), (1000, False, 6), (300, True, 4)])
def test_the_more_buffers_meet_the_fewer_plans_are_tried(
    buffers: int, all_meet: bool, plans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No plan of what is shared fits, so halves are tried as long as there is work left."""
    asked, read = request("m"), model(joins())
    others = tuple(tuple(o for o in range(buffers) if o != index) if all_meet else () for index in range(buffers))
    problem = Problem((), tuple(Buffer(f"b{index}", 1, (0,)) for index in range(buffers)), others)
    count = 0

    class Stated(Replanner):
        def analyze(self, aliases: frozenset[OperatorRef] | None = None) -> Analysis:
            return replace(super().analyze(aliases), problem=problem)

    class Fitting(Orders):
        def __init__(self, _: Replanner, first: Analysis) -> None:
            nonlocal count
            count += 1
            self.chosen = BestCandidate(first, Plan("copies", ()) if count == 1 else None, 0)

        def finish(self) -> BestCandidate:
            return self.chosen

    monkeypatch.setattr(concat_aliasing, "Orders", Fitting)
    monkeypatch.setattr(concat_aliasing, "row_by_row", lambda _, orders: orders.finish())
    concat_aliasing.choose(Stated(asked, (read,), every(asked, Reference()), Auto()))
    assert count == plans
