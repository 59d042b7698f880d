"""Refuses an input or output that shall come or go row by row, but has to be in one piece, and says why."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Input, Operand, Output
from usmp_build.interfaces.row_jobs import RowJobs
from usmp_build.ir.by_rows import ByRows
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.passes.rows.by_rows import Candidates
from usmp_build.passes.rows.ports import row_ports
from usmp_build.request import Request

_WHOLE = "it has to be in one piece"


def refuse_whole_ports(request: Request, analysis: Analysis, index: int, rows: ByRows) -> None:
    """Raise ManifestError for a port of a model that the manifest wants in rows, and that has none in `rows`."""
    settings, model = request.models[index], analysis.models[index]
    for tensor in sorted(row_ports(settings, model.main)):
        if TensorRef(index, 0, tensor) not in rows.tables:
            side = "input" if tensor in model.main.inputs else "output"
            span = settings.inputs_by_rows if side == "input" else settings.outputs_by_rows
            causes = _causes(request, analysis, index, tensor)
            cause, help_ = next(causes, ("with it, the plan has too many rows", _WHOLE))
            name = quoted(model.main.tensors[tensor].name)
            verb = "arrive" if side == "input" else "leave"
            message = f'{side} {name} of model "{settings.name}" cannot {verb} row by row: {cause}'
            raise ManifestError(Diagnostic("P371", message, span, f'{help_}; without {side}s = "rows" it is'))


def _causes(request: Request, analysis: Analysis, index: int, tensor: int) -> Iterator[tuple[str, str]]:
    """Yield what keeps a tensor in one piece, each with a clause of help; the first is the one to name."""
    graph = analysis.models[index].main
    if tensor < graph.parameters:
        yield "functions of a program take all of it", _WHOLE
    if tensor in graph.roots:
        yield "it has the same bytes as another tensor", "remove the RESHAPE or the like from the model"
    if tensor in graph.inputs and tensor in graph.outputs:
        yield "it is an input and an output", _WHOLE
    candidates = Candidates(request, analysis, index)
    jobs = dict(candidates.jobs())
    uses = [
        (op, operand, jobs.get(OperatorRef(index, 0, number)))
        for number, op, operand in _uses(graph, graph.root(tensor))
    ]
    for op, operand, each in uses:
        yield from _causes_in_use(op, operand, each)
    if not uses:
        yield "no operator of the model reads it" if tensor in graph.inputs else "no operator computes it", _WHOLE
    if len({each.shapes.get(operand) for _, operand, each in uses if each}) > 1:
        yield "operators divide it into different rows", _WHOLE
    if not candidates.has_one_pool(TensorRef(index, 0, tensor)):
        yield "it may be in several pools", "name one pool for it, in workspace_pools or with place; or"


def _causes_in_use(op: Operator, operand: Operand, jobs: RowJobs | None) -> Iterator[tuple[str, str]]:
    """Yield what keeps an operand in one piece; `jobs` are those of the operator, if it can run row by row."""
    name = f"{op.kind} {op.position}"
    if not op.runs:
        yield f"its bytes are divided among the parts of {name}", f"{_WHOLE} for this operator"
    elif jobs is None:
        yield f"{name} does not run row by row", f"{_WHOLE} for this operator"
    elif operand not in jobs.shapes:
        verb = "takes" if isinstance(operand, Input) else "computes"
        yield f"{name} {verb} all of it at once", f"{_WHOLE} for this operator"
    elif jobs.shapes[operand][0] == 1:
        yield "it has only one row", _WHOLE


def _uses(graph: Subgraph, root: int) -> Iterator[tuple[int, Operator, Operand]]:
    """Yield the operators that touch a tensor, or a view of it, and the operand that it is."""
    for number, op in enumerate(graph.operators):
        if op.kind != "VIEW":
            yield from ((number, op, Output(at)) for at, each in enumerate(op.outputs) if graph.root(each) == root)
            read = ((at, each) for at, each in enumerate(op.inputs) if each is not None)
            yield from ((number, op, Input(at)) for at, each in read if graph.root(each) == root)
