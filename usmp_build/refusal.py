"""Analysis without a plan → why, where, and what would help."""

from __future__ import annotations

from usmp_build.errors import CheckFailed, Diagnostic, DoesNotFit
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.memory.explain import explain
from usmp_build.memory.plan import Plan
from usmp_build.memory.pressure import Witness
from usmp_build.memory.problem import Problem
from usmp_build.memory.shortage import put_into_words
from usmp_build.request import Request
from usmp_build.ways_out import Restate, ways_out


def refusal(request: Request, analysis: Analysis, algorithm: Algorithm, restate: Restate) -> DoesNotFit:
    """Explain why an algorithm finds no plan, once for each family of pools; the place is the limit in question."""

    def attempt(problem: Problem) -> Plan | None:
        try:
            return algorithm(problem)
        except CheckFailed:  # it breaks down over a question that it need not answer
            return None

    names = [step.name for step in steps(analysis.schedule.root)]
    diagnostics = []
    for shortage in explain(analysis.problem, attempt):
        others = ways_out(request, analysis, shortage, attempt, restate)
        together = _together(request, analysis, shortage.witness)
        message, help_ = put_into_words(analysis.problem, shortage, names, others, together)
        place = request.pools[shortage.pools[0]].span if shortage.pools else request.plan_span
        diagnostics.append(Diagnostic("P502", message, place, help_))
    return DoesNotFit(*diagnostics)


def _together(request: Request, analysis: Analysis, witness: Witness) -> str:
    """Name the models that some of these buffers are of and that may run at the same time; empty if there are none."""
    about = (analysis.storage.buffers[index] for index in witness.buffers)
    models = {model for buffer in about if buffer.kind is not Kind.CONSTANT for model in buffer.models}
    pairs = (pair for pair in request.concurrent if models.issuperset(pair))
    names = [f'"{request.models[model].name}"' for model in sorted({model for pair in pairs for model in pair})]
    return f"while {', '.join(names[:-1])} and {names[-1]} run at the same time" if names else ""
