"""How functions of a program get their tensors: as a pointer to plain memory, or as a table of rows."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.statements import Invoke, walk
from usmp_build.ir.uses import callees_first

Forms = Mapping[tuple[int, int], set[bool]]
"""(function, tensor) → whether it is a table of rows; a parameter may be both, in calls from here and from there."""


def forms(analysis: Analysis, index: int) -> Forms:
    """Follow every tensor of a program from where it is stored to all parameters that it becomes."""
    model = analysis.models[index]
    found: dict[tuple[int, int], set[bool]] = {}
    for function in reversed([*callees_first(model)]):
        graph = model.subgraphs[function]
        for tensor in range(len(graph.tensors)):
            if function == 0 or tensor >= graph.parameters:
                found[function, tensor] = {_is_table(analysis, TensorRef(index, function, tensor))}
        for call in walk(graph.body):
            if isinstance(call, Invoke):
                for parameter, argument in enumerate(call.arguments):
                    if argument is not None:
                        passed = found.get((function, argument), set())
                        found.setdefault((call.function, parameter), set()).update(passed)
    return found


def _is_table(analysis: Analysis, ref: TensorRef) -> bool:
    return analysis.storage.tensors.get(ref) in analysis.storage.rows
