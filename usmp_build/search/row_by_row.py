"""Tries plans in which layers run row by row, and keeps what needs less workspace.

    layer by layer     as chosen by the other loops: the plan to beat
    in stretches       operators that must take turns run row by row, all others as a whole: the lowest peak, and with
                       that as few jobs as possible (see `passes.order.lazy`)
    row by row         every operator that can, in the order with the lowest peak

The last two go from the first row to the last, or from the last to the first: padding is not symmetric where strides
are 2, so one of the two directions may need less than the other.  A model in strips has so many rows that it only goes
forward.  First all models go the same way; then each model by itself goes any other way, as long as that needs less.
All of this is planned with little effort, and then once more those candidates that may still be better.

A model that gets or gives rows from outside is *fed*: it only goes row by row, from the first row to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.by_rows import LAYER_BY_LAYER, ByRows
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Direction
from usmp_build.passes import by_rows, in_stretches, refuse_whole_ports
from usmp_build.passes.order import ModelOrders, least_workspace, orders_of_model, workspace_always
from usmp_build.passes.rows.ports import row_ports
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request
from usmp_build.search.directions import PlanBudget
from usmp_build.search.incumbent import Incumbent, workspace
from usmp_build.search.operator_order import BestCandidate, Orders, has_one_pool, planned_again
from usmp_build.search.replanner import Replanner
from usmp_build.units import MAX_BYTES


def row_by_row(replanner: Replanner, layer_by_layer: Orders, beat: int = MAX_BYTES) -> BestCandidate:
    """Return the best plan layer by layer, or a better one with layers that run row by row.

    Only those with less workspace than `beat`, which another choice takes, are of any use.
    """
    request, chosen = replanner.request, layer_by_layer.finish()
    if replanner.takes_first and chosen.plan is not None:
        return chosen
    whole, of_whole = layer_by_layer.first, layer_by_layer.of_models
    enough = _enough(replanner, whole, of_whole)
    rows = dict(_rows(replanner, chosen.analysis, _small(request, of_whole, enough)))
    if not rows:
        return chosen
    fed = frozenset(index for index in rows if request.models[index].has_row_ports)
    is_one_way = replanner.takes_first or len(fed) == len(rows) or bool(replanner.stages)
    directions = [Direction.FORWARD, Direction.BACKWARD][: 1 if is_one_way else 2]
    analyses = [_towards(replanner, chosen.analysis, rows, fed, direction) for direction in directions]
    orders = [_orders(request, each, rows, of_whole, enough) for each in analyses]
    bound = _bound(request, whole, fed, (of_whole, *orders))
    if bound >= beat:
        return chosen
    if fed:  # layer by layer is none of the candidates
        chosen = replace(chosen, plan=None, bound=bound, directions_are_proven=False, others=())
    covered = tuple(analyses) if fed else (whole, *analyses)
    chosen = replace(chosen, bound=min(chosen.bound, bound), orders_are_proven=False, ways=covered)
    candidates = _Candidates(replanner, chosen, fed, beat)
    _plan_candidates(candidates, _ways(request, analyses, rows, orders), replanner.moderate)
    return _with_rows(replanner, chosen, candidates)


def _orders(
    request: Request,
    analysis: Analysis,
    rows: Mapping[int, ByRows],
    of_whole: Sequence[ModelOrders | None],
    enough: Sequence[int],
) -> tuple[ModelOrders | None, ...]:
    """Return the orders of each model: of jobs where it goes by rows, as layer by layer of the others."""
    return tuple(
        orders_of_model(request, analysis, index, enough[index]) if index in rows else each
        for index, each in enumerate(of_whole)
    )


def _with_rows(replanner: Replanner, chosen: BestCandidate, candidates: _Candidates) -> BestCandidate:
    """Return the best candidate, planned once more where operators without rows have directions."""
    incumbent, planned = candidates.incumbent, tuple(candidates.analyses)
    if incumbent.chosen is chosen.analysis:
        return replace(chosen, in_rows=planned)
    others = () if candidates.fed else (chosen.analysis, *chosen.others)
    best = BestCandidate(incumbent.analysis, incumbent.plan, chosen.bound, others=others, ways=chosen.ways)
    in_rows = incumbent.analysis.choices.by_rows.jobs
    has_choice = any(operator not in in_rows for operator in incumbent.analysis.choices.directions)
    best = planned_again(replanner, best, replanner.glance) if has_choice else best
    if best.plan is not None and workspace(best.analysis, best.plan) < best.bound:
        best = replace(best, bound=workspace_always(chosen.analysis))  # with rows in some layers only, less may do
    return replace(best, in_rows=planned)


def _enough(replanner: Replanner, analysis: Analysis, orders: Sequence[ModelOrders | None]) -> list[int]:
    """Return, for each model, bytes with which it needs no more than another one needs in any case; 0: there are none.

    In one pool, models that take turns need as much as the one that needs most, and that is no less than its inputs, or
    its outputs.  A plan may take more than what is alive at the fullest job of its order, so it is half.  Where any
    plan will do, it is half of the pools that the model may use.
    """
    survivors = analysis.survivors
    if any(survivors.before) or any(survivors.after):
        return [0] * len(orders)
    if replanner.takes_first:
        return [_room(analysis, index) // 2 for index in range(len(orders))]
    if not _fills_one_pool(analysis):
        return [0] * len(orders)
    whole = (not asked.has_row_ports for asked in replanner.request.models)
    return [max((each.floor for each in compress(orders, whole) if each is not None), default=0) // 2] * len(orders)


def _room(analysis: Analysis, model: int) -> int:
    """Return the bytes of all pools that the workspace of a model may be in; those without a limit do not count."""
    workspace = (index for index in analysis.storage.workspace if model in analysis.storage.buffers[index].models)
    pools = {pool for index in workspace for pool in analysis.problem.buffers[index].pools}
    return sum(analysis.problem.limits[pool] or 0 for pool in pools)


def _fills_one_pool(analysis: Analysis) -> bool:
    """Tell whether all workspace is in the same pool, as every plan has it, or because it is cheapest and unlimited."""
    buffers = [analysis.problem.buffers[index] for index in analysis.storage.workspace]
    cheapest = {buffer.cheapest_pools[0] for buffer in buffers}
    return has_one_pool(analysis) or (len(cheapest) == 1 and analysis.problem.limits[min(cheapest)] is None)


def _small(request: Request, orders: Sequence[ModelOrders | None], enough: Sequence[int]) -> frozenset[int]:
    """Return the models to which rows give nothing: even with those that run at the same time, they need so little."""
    unknown = max(enough) + 1
    peaks = [unknown if each is None else each.best_peak for each in orders]
    together = (
        sum(peak for other, peak in enumerate(peaks) if other == index or request.are_concurrent(index, other))
        for index in range(len(peaks))
    )
    small = frozenset(index for index, bytes_ in enumerate(together) if bytes_ <= enough[index])
    return small.difference(index for index in small if request.models[index].has_row_ports)


@frozen
class _Way:
    """How a model runs row by row."""

    direction: Direction
    order: tuple[int, ...] | None
    """The order of its jobs; None: that of the file."""
    rows: ByRows
    peak: int
    """The bytes alive at the fullest job."""


_Ways = Mapping[int, _Way]
"""Model → the way it goes; other models go layer by layer."""

_Planner = Callable[[Problem], Plan | None]


class _Candidates:
    """Plans candidates in which models go by rows, and keeps the best."""

    def __init__(self, replanner: Replanner, chosen: BestCandidate, fed: frozenset[int], beat: int) -> None:
        self.fed = fed
        """The models that must go by rows."""
        self.incumbent = Incumbent(replanner, chosen.analysis, chosen.plan)
        self._replanner = replanner
        self._whole = chosen.analysis
        self._bound = chosen.bound
        self._beat = beat
        self._best: _Ways = {}
        """The ways of the incumbent; empty: layer by layer."""
        self.analyses: list[Analysis] = []
        """All candidates that were planned."""

    def is_better(self, ways: _Ways, plan: _Planner | None = None) -> bool:
        """Plan the candidate in which models go these ways, by default with little effort; tell whether it is kept.

        It is not planned where no plan can be better, or where a fed model would go layer by layer.
        """
        peak = workspace_always(self._whole) + max((way.peak for way in ways.values()), default=0)
        most = self._beat - 1
        has_no_hope = has_one_pool(self._whole) and peak > min(self.incumbent.workspace_bytes() - 1, most)
        is_done = self.incumbent.is_least(self._bound) or (self._replanner.takes_first and self.incumbent.plan)
        if has_no_hope or is_done or not self.fed <= ways.keys():
            return False
        before = self.incumbent.plan
        budget = PlanBudget(plan or self._replanner.glance, effort.ROW_PLANS)
        if ways and ways == self._best:
            analysis = self.incumbent.chosen
        else:
            analysis = self._replanner.retime(self._whole, _choices(self._whole.choices, ways))
            self.analyses.append(analysis)
        self.incumbent.look(analysis, budget, most)
        is_kept = self.incumbent.plan is not before
        self._best = ways if is_kept else self._best
        return is_kept


def _plan_candidates(candidates: _Candidates, kinds: Sequence[list[_Ways]], plan: _Planner) -> None:
    """Plan all candidates with little effort, and once more those of the best one's kind."""
    best = _best_ways(candidates, list(chain(*kinds)))
    alike = next((kind for kind in kinds if best in kind), [best] if best else kinds[0])
    for each in sorted(alike, key=lambda each: each != best):
        candidates.is_better(each, plan)


def _best_ways(candidates: _Candidates, ways: list[_Ways]) -> _Ways:
    """Return which way each model goes in the best candidate, planned with little effort; empty: layer by layer."""
    best: _Ways = {}
    tried = [best]
    for each in ways:
        tried.append(each)
        if candidates.is_better(each):
            best = each
    models = sorted({index for each in ways for index in each})
    if not 1 < len(models) <= effort.ORDER_MODELS:
        return best
    for index in models:
        without = {number: way for number, way in best.items() if number != index}
        for changed in (without, *({**without, index: each[index]} for each in ways if index in each)):
            if changed not in tried:
                tried.append(changed)
                best = changed if candidates.is_better(changed) else best
    return best


def _rows(replanner: Replanner, analysis: Analysis, small: Collection[int]) -> Iterator[tuple[int, ByRows]]:
    """Yield each model with operators that can run row by row, and these, as long as there are few enough rows.

    Those in `small` have no reason to.

    Raises ManifestError for an input or output that the manifest wants in rows and that cannot have them.
    """
    left = effort.ROWS - sum(analysis.storage.rows.values())
    for index, model in enumerate(replanner.request.models):
        if model.free_order and replanner.request.rows and index not in small:
            rows = by_rows(replanner.request, analysis, index)
            count = sum(table.rows for table in rows.tables.values())
            if rows.jobs and count <= left and sum(rows.jobs.values()) <= effort.ROW_JOBS:
                left -= count
                refuse_whole_ports(replanner.request, analysis, index, rows)
                yield index, rows
            else:
                refuse_whole_ports(replanner.request, analysis, index, LAYER_BY_LAYER)


def _towards(
    replanner: Replanner, analysis: Analysis, rows: Mapping[int, ByRows], fed: frozenset[int], direction: Direction
) -> Analysis:
    """Return the analysis in which all models run row by row, in the order of the file; fed ones always go forward."""
    directions = {
        ref: Direction.FORWARD if index in fed else direction for index, each in rows.items() for ref in each.jobs
    }
    choices = Choices({}, {**analysis.choices.directions, **directions}, _merged(rows.values()))
    return replanner.retime(analysis, choices)


def _ways(
    request: Request,
    analyses: Sequence[Analysis],
    rows: Mapping[int, ByRows],
    orders: Sequence[tuple[ModelOrders | None, ...]],
) -> tuple[list[_Ways], list[_Ways]]:
    """Return candidates in which all models go in one direction: in stretches; with more jobs.

    Each of `analyses` is of one direction, and `orders` are its best ones.
    """
    shortest: list[_Ways] = []
    everything: list[_Ways] = []
    for analysis, of_models in zip(analyses, orders, strict=True):
        by_model = {index: each for index, each in enumerate(of_models) if each is not None}
        peaks = {index: each.best_peak for index, each in by_model.items()}
        if has_one_pool(analysis):  # a model gains nothing by a lower peak than that of another one
            peaks = dict.fromkeys(peaks, max(peaks.values()))
        ways = {
            index: _Way(
                analysis.choices.direction(next(iter(rows[index].jobs))), each.best, rows[index], each.best_peak
            )
            for index, each in by_model.items()
            if index in rows
        }
        shorter = {
            index: _in_stretches(request, analysis, index, way, by_model[index].stretches(peaks[index]))
            for index, way in ways.items()
        }
        divided = {index: way for index, way in shorter.items() if way.rows.jobs}
        shortest += [divided] if divided else []
        everything += [ways] if shorter != ways else []
    return shortest, everything


def _in_stretches(
    request: Request, analysis: Analysis, index: int, way: _Way, stretches: tuple[tuple[int, ...], ...]
) -> _Way:
    """Return the way in which operators that are a stretch by themselves run as a whole; the same where none is.

    So it is where an input or output would no longer come or go by rows, as the manifest says.
    """
    rows = in_stretches(way.rows, analysis, index, stretches) if stretches else way.rows
    in_rows = {tensor.tensor for tensor in rows.tables}
    if rows == way.rows or not row_ports(request.models[index], analysis.models[index].main) <= in_rows:
        return way
    return replace(way, order=tuple(chain(*stretches)), rows=rows)


def _bound(
    request: Request, whole: Analysis, fed: frozenset[int], orders: Iterable[tuple[ModelOrders | None, ...]]
) -> int:
    """Return a lower bound on bytes of workspace, whichever way each model goes.

    `whole` is layer by layer, and so are the first of `orders`; the others are of each direction.

    Where several operators read an input whose rows arrive, it depends on the order of jobs which of them a row arrives
    for.  The search takes it for the first one in the file, so nothing is proven of such a model.
    """
    least = []
    for index, (layer_by_layer, *in_rows) in enumerate(zip(*orders, strict=True)):
        ways = in_rows if index in fed else [layer_by_layer, *in_rows]
        bounds = [each for each in ways if each and not _has_several_readers(request, whole, index)]
        least.append(min(bounds, key=lambda each: each.bound, default=None))
    return least_workspace(whole, least)


def _has_several_readers(request: Request, analysis: Analysis, index: int) -> bool:
    main = analysis.models[index].main
    arriving = row_ports(request.models[index], main).intersection(main.inputs)
    return any(sum(tensor in op.inputs for op in main.operators) > 1 for tensor in arriving)


def _choices(whole: Choices, ways: _Ways) -> Choices:
    """Return choices in which some models run row by row, each in its way, and the others as before."""
    orders = {index: order for index, order in whole.orders.items() if index not in ways}
    directions = dict(whole.directions)
    for index, way in ways.items():
        if way.order is not None:
            orders[index] = way.order
        directions |= dict.fromkeys(way.rows.jobs, way.direction)
    return Choices(orders, directions, _merged(way.rows for way in ways.values()))


def _merged(rows: Iterable[ByRows]) -> ByRows:
    merged = ByRows()
    for each in rows:
        merged = ByRows({**merged.jobs, **each.jobs}, {**merged.tables, **each.tables}, {**merged.edges, **each.edges})
    return merged
