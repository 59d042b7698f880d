"""Whether each operator of a model is well formed: what passes and kernels rely on, checked once, at the door.

Each kind declares its operands and the rules that they follow (`OperatorKind.signature`).  Operators of other kinds
pass: they can be planned, whatever they do.
"""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.errors import Diagnostic
from usmp_build.ir.check import check
from usmp_build.ir.graph import Model, Operator
from usmp_build.ir.labels import operator_label
from usmp_build.operators.operands import Fault, Signature, Subject
from usmp_build.operators.table import options_class, traits


def first_fault(model: Model) -> Diagnostic | None:
    """Return what is wrong with a model or its operators, without a place; None when nothing is."""
    return check(model) or _operator_fault(model)


def _operator_fault(model: Model) -> Diagnostic | None:
    for index, graph in enumerate(model.subgraphs):
        for position, operator in enumerate(graph.operators):
            signature = traits(operator.kind).signature
            fault = (
                next(_faults(operator, signature, Subject(operator, graph, index, signature)), None)
                if signature
                else None
            )
            if fault:
                label = operator_label(index, position, operator.kind)
                cure = fault.cure or (_CURE_OF_LOOPS if index else _CURE)
                return Diagnostic(fault.code, f"{label}: {fault.message}", help=cure)
    return None


def _faults(operator: Operator, signature: Signature, subject: Subject) -> Iterator[Fault]:
    yield from signature.inputs.faults("input", operator.inputs)
    yield from signature.outputs.faults("output", operator.outputs)
    expected = options_class(operator.kind)
    if expected and not isinstance(operator.options, expected):
        yield Fault("T232", "it has no options of its kind")
    for rule in signature.rules:
        yield from rule(subject)


_CURE = "the file is damaged, or a tool has edited it: convert the model again"
_CURE_OF_LOOPS = (
    "The file is damaged, or sizes change in a loop, as in a Keras 3 LSTM or GRU: convert the model again, "
    "with unroll=True for such layers."
)
