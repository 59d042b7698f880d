"""Tries plans in which layers run row by row, and keeps what needs less workspace.

    layer by layer     as chosen by the other loops: the plan to beat
    row by row         every operator that can, from the first row to the last, or from the last to the first; for
                       both, one or two orders of rows with the lowest peak (see `passes.order`), and where a model may
                       do more work, one in which rows are computed again (see `passes.order.recompute`)

Padding is not symmetric where strides are 2, so one of the two directions may need less than the other.  First all
models go the same way; then each model by itself goes any other way, as long as that needs less.  All of this is
planned with little effort; then the best candidate in full, and the other direction, if its bound leaves room for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.by_rows import ByRows
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Direction
from usmp_build.passes import by_rows
from usmp_build.passes.order import ModelOrders, least_workspace, model_orders
from usmp_build.passes.order.recomputable import recomputed
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request
from usmp_build.search.directions import Budget
from usmp_build.search.incumbent import Incumbent
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner


def row_by_row(replanner: Replanner, chosen: BestCandidate) -> BestCandidate:
    """Return the better one of a choice, and the same with layers that run row by row."""
    rows = dict(_rows(replanner, chosen.analysis))
    if not rows:
        return chosen
    both = (Direction.FORWARD, Direction.BACKWARD)
    analyses = {direction: _by_rows(replanner, chosen.analysis, rows, direction) for direction in both}
    orders = {each: model_orders(replanner.request, analysis) for each, analysis in analyses.items()}
    ways = {each: tuple(_ways(replanner.request, analyses[each], each, orders[each])) for each in orders}
    bound = min(chosen.bound, _bound(replanner, chosen.analysis, orders.values()))
    candidates = _Candidates(replanner, chosen, rows)
    best = _best_ways(candidates, tuple(chain(*ways.values())))
    if best:
        candidates.is_better(best, replanner.attempt)
    for direction, of_models in orders.items():
        is_open = all(way.direction is not direction for way in best.values())
        if is_open and least_workspace(chosen.analysis, of_models) < candidates.incumbent.workspace_bytes():
            candidates.is_better(dict.fromkeys(rows, ways[direction][0]), replanner.attempt)
    incumbent = candidates.incumbent
    if incumbent.chosen is chosen.analysis:
        return replace(chosen, bound=bound, orders_are_proven=False)
    return BestCandidate(incumbent.analysis, incumbent.plan, bound, others=(chosen.analysis, *chosen.others))


def _best_ways(candidates: _Candidates, ways: tuple[_Way, ...]) -> dict[int, _Way]:
    """Return which way each model goes in the best candidate, planned with little effort; empty: layer by layer."""
    rows = candidates.rows
    best: dict[int, _Way] = {}
    for way in ways:
        if candidates.is_better(dict.fromkeys(rows, way)):
            best = dict.fromkeys(rows, way)
    for index in rows if 1 < len(rows) <= effort.ORDER_MODELS else ():
        without = {number: way for number, way in best.items() if number != index}
        for changed in (without, *({**without, index: way} for way in ways)):
            if changed != best and candidates.is_better(changed):
                best = changed
    return best


class _Candidates:
    """Plans candidates in which models go by rows, and keeps the best."""

    def __init__(self, replanner: Replanner, chosen: BestCandidate, rows: Mapping[int, ByRows]) -> None:
        self.rows = rows
        self.incumbent = Incumbent(replanner, chosen.analysis, chosen.plan)
        self._replanner = replanner
        self._whole = chosen.analysis

    def is_better(self, ways: Mapping[int, _Way], plan: Callable[[Problem], Plan | None] | None = None) -> bool:
        """Plan the candidate in which models go these ways, by default with little effort; tell whether it is kept."""
        before = self.incumbent.chosen
        choices = _choices(self._whole.choices, self.rows, ways)
        budget = Budget(plan or self._replanner.glance, effort.ROW_PLANS)
        self.incumbent.look(self._replanner.retime(self._whole, choices), budget)
        return self.incumbent.chosen is not before


def _rows(replanner: Replanner, analysis: Analysis) -> Iterator[tuple[int, ByRows]]:
    """Yield each model with operators that can run row by row, and these, as long as there are few enough rows."""
    left = effort.ROWS - sum(analysis.storage.rows.values())
    for index, model in enumerate(replanner.request.models):
        if model.free_order and replanner.request.rows:
            rows = by_rows(replanner.request, analysis, index)
            count = sum(table.rows for table in rows.tables.values())
            if rows.jobs and count <= left:
                left -= count
                yield index, rows


@dataclass(frozen=True, eq=False)
class _Way:
    """All rows from the first to the last, or from the last to the first."""

    direction: Direction
    orders: Mapping[int, tuple[int, ...]]
    """Model → the order of its jobs; those of other models stay in the order of the file, layer by layer."""
    recomputed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """As `Choices` has it."""


def _by_rows(replanner: Replanner, analysis: Analysis, rows: Mapping[int, ByRows], direction: Direction) -> Analysis:
    """Analyze all models row by row in one direction, in the order of the file."""
    directions = {ref: direction for each in rows.values() for ref in each.jobs}
    choices = Choices({}, {**analysis.choices.directions, **directions}, _merged(rows.values()))
    return replanner.retime(analysis, choices)


def _ways(
    request: Request, analysis: Analysis, direction: Direction, orders: tuple[ModelOrders | None, ...]
) -> Iterator[_Way]:
    """Yield one way or two: of orders with equal peaks, one may leave a plan fewer gaps; and one with rows repeated."""
    best = {index: each.best for index, each in enumerate(orders) if each and each.best}
    also = {index: order for index, each in enumerate(orders) if each and (order := each.another())}
    yield _Way(direction, best)
    if also:
        yield _Way(direction, best | also)
    models = {ref.model for ref in analysis.choices.by_rows.jobs if request.models[ref.model].recompute}
    again = {index: repeated for index in sorted(models) if (repeated := recomputed(request, analysis, index))}
    if again:
        numbers = {index: of_model for index, (_, of_model) in again.items()}
        yield _Way(direction, best | {index: operators for index, (operators, _) in again.items()}, numbers)


def _bound(replanner: Replanner, analysis: Analysis, orders: Iterable[tuple[ModelOrders | None, ...]]) -> int:
    """Return a lower bound on bytes of workspace, whichever way each model goes."""
    layer_by_layer = model_orders(replanner.request, replanner.retime(analysis, Choices()))
    by_model = zip(layer_by_layer, *orders, strict=True)
    least = (
        min((each for each in of_model if each), key=lambda each: each.bound, default=None) for of_model in by_model
    )
    return least_workspace(analysis, least)


def _choices(whole: Choices, rows: Mapping[int, ByRows], ways: Mapping[int, _Way]) -> Choices:
    """Return choices in which some models run row by row, each in its way, and the others as before."""
    orders = {index: order for index, order in whole.orders.items() if index not in ways}
    directions = dict(whole.directions)
    numbers = {index: way.recomputed[index] for index, way in ways.items() if index in way.recomputed}
    for index, way in ways.items():
        if index in way.orders:
            orders[index] = way.orders[index]
        directions |= dict.fromkeys(rows[index].jobs, way.direction)
    return Choices(orders, directions, _merged(rows[index] for index in ways), numbers)


def _merged(rows: Iterable[ByRows]) -> ByRows:
    """Return the rows of several models as one value."""
    merged = ByRows()
    for each in rows:
        merged = ByRows({**merged.jobs, **each.jobs}, {**merged.tables, **each.tables}, {**merged.edges, **each.edges})
    return merged
