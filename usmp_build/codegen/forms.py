"""Determines how functions of a program get their tensors: as a pointer to plain memory, or as a table of rows."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.statements import Invoke, walk
from usmp_build.ir.uses import callees_first

Forms = Mapping[tuple[int, int], set[bool]]
"""(function, tensor) → whether it is a table of rows; a parameter may be both, in different calls."""


def forms(analysis: Analysis, index: int) -> Forms:
    """Follow every tensor of a program from its storage to all parameters that it is passed to."""
    model = analysis.models[index]
    forms_: dict[tuple[int, int], set[bool]] = {}
    for function in reversed([*callees_first(model)]):
        graph = model.subgraphs[function]
        for tensor in range(len(graph.tensors)):
            if function == 0 or tensor >= graph.parameters:
                forms_[function, tensor] = {_is_table(analysis, TensorRef(index, function, tensor))}
        for call in walk(graph.body):
            if isinstance(call, Invoke):
                for parameter, argument in enumerate(call.arguments):
                    if argument is not None:
                        passed = forms_.get((function, argument), set())
                        forms_.setdefault((call.function, parameter), set()).update(passed)
    return forms_


def _is_table(analysis: Analysis, ref: TensorRef) -> bool:
    return analysis.storage.tensors.get(ref) in analysis.storage.rows
