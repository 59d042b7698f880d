"""Whether each operator of a model is well formed: what passes and kernels rely on, checked once, at the door.

`table.FORMS` declares for each operator kind its operands and the rules that they follow; `rules` and the modules
beside it hold the rules.  Operators of other kinds pass: they can be planned, whatever they do.
"""

from __future__ import annotations

from usmp_build.errors import Diagnostic
from usmp_build.ir.check import check
from usmp_build.ir.graph import Model
from usmp_build.ir.labels import operator_label
from usmp_build.well_formed.form import Subject
from usmp_build.well_formed.table import FORMS


def first_fault(model: Model) -> Diagnostic | None:
    """Return what is wrong with a model or its operators, without a place; None when nothing is."""
    return check(model) or _operator_fault(model)


def _operator_fault(model: Model) -> Diagnostic | None:
    for index, graph in enumerate(model.subgraphs):
        for position, operator in enumerate(graph.operators):
            form = FORMS.get(operator.kind)
            fault = next(form.faults(Subject(operator, graph, index, form)), None) if form else None
            if fault:
                label = operator_label(index, position, operator.kind)
                return Diagnostic(fault.code, f"{label}: {fault.message}", help=_CURE)
    return None


_CURE = "The file is damaged, or a tool has edited it: convert the model again."
