"""Builds the errors for a request that has no plan: why, where, and what would help."""

from __future__ import annotations

from dataclasses import replace

from usmp_build import effort
from usmp_build.errors import Diagnostic, DoesNotFit
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.passes.order import least_bytes
from usmp_build.planner.memory.bounds import confined
from usmp_build.planner.memory.explain import explain
from usmp_build.planner.memory.limits import with_limits
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.shortage import ProofScope, Shortage, put_into_words
from usmp_build.report.suggestions import Restated, suggested_fixes
from usmp_build.request import Request
from usmp_build.search.limits import Fitted, ports_exceed_limits, without_limits
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner
from usmp_build.search.strips import choose


def explain_infeasible(replanner: Replanner, fitted: Fitted) -> DoesNotFit:
    """Explain why there is no plan, once for each family of pools; the place is the limit in question."""
    request, analysis = replanner.request, fitted.chosen.analysis
    is_small = len(analysis.problem.buffers) <= effort.FIXES_BUFFERS
    algorithm = (replanner if is_small else replanner.briefly()).algorithm

    def restate(other: Request) -> Restated | None:
        asked = replanner.asking(other)
        first = asked.analyze()
        if ports_exceed_limits(other, first):
            return None
        within = choose(asked.at_first(), first)
        if within.plan is not None or len(first.problem.buffers) > effort.FIXES_BUFFERS:
            return within.analysis, within.plan
        unlimited = choose(asked.briefly().asking(without_limits(other, range(len(other.pools))))).analysis
        return _limited(other, unlimited), None

    exceeding = fitted.unlimited.plan if fitted.unlimited else None
    names = [step.name for step in steps(analysis.schedule.root)]
    diagnostics = []
    for shortage in explain(analysis.problem, algorithm, exceeding):
        others = suggested_fixes(request, analysis, shortage, algorithm, restate)
        together = _together(request, analysis, shortage.witness)
        scope = _scope(request, fitted.chosen, shortage)
        are_constants = all(analysis.storage.buffers[b].kind is Kind.CONSTANT for b in shortage.witness.buffers)
        message, help_ = put_into_words(analysis.problem, shortage, names, others, together, scope, are_constants)
        place = request.pools[shortage.pools[0]].span if shortage.pools else request.plan_span
        diagnostics.append(Diagnostic("P502", message, place, help_))
    return DoesNotFit(*diagnostics)


def _scope(request: Request, chosen: BestCandidate, shortage: Shortage) -> ProofScope:
    """Tell whether a shortage that is proven of this schedule is one of any other, too."""
    analysis = chosen.analysis
    kinds = [analysis.storage.buffers[index].kind for index in shortage.witness.buffers]
    if not shortage.proven or Kind.CONSTANT in kinds:
        return ProofScope.ALL
    is_port = kinds in ([Kind.INPUT], [Kind.OUTPUT])
    is_alone = is_port or (len(kinds) == 1 and not chosen.ways)  # it is too large whenever it is alive
    limited = (_limited(request, each) for each in chosen.ways or (analysis,))
    ways = [(each, confined(each.problem, shortage.pools)) for each in limited]
    if not is_alone and least_bytes(request, ways) < shortage.room + shortage.missing:
        return ProofScope.SCHEDULE
    if chosen.other_buffers:
        return ProofScope.SAME_BUFFERS
    if chosen.ways and not is_alone:
        return ProofScope.ROWS
    return ProofScope.ALL if request.rows else ProofScope.LAYER_BY_LAYER


def _limited(request: Request, analysis: Analysis) -> Analysis:
    """Return an analysis that was made without limits with those of the request."""
    return replace(analysis, problem=with_limits(analysis.problem, (pool.limit for pool in request.pools)))


def _together(request: Request, analysis: Analysis, witness: Witness) -> str:
    """Name the models that some of these buffers are of and that may run at the same time; empty if there are none."""
    about = (analysis.storage.buffers[index] for index in witness.buffers)
    models = {model for buffer in about if buffer.kind is not Kind.CONSTANT for model in buffer.models}
    pairs = (pair for pair in request.concurrent if models.issuperset(pair))
    names = [f'"{request.models[model].name}"' for model in sorted({model for pair in pairs for model in pair})]
    return f"while {', '.join(names[:-1])} and {names[-1]} run at the same time" if names else ""
