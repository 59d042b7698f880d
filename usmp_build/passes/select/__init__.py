"""Selects a kernel for each operator: queries the operator's library once, and stores the answers in a table."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.errors import KernelError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph
from usmp_build.ir.options import called_subgraphs
from usmp_build.passes.assign import Assignment, Spot
from usmp_build.passes.select.declared import check_declared
from usmp_build.request import Request


def select(request: Request, models: tuple[Model, ...], assignment: Assignment, libraries: Libraries) -> Kernels:
    """Return the kernels of all operators but views and control flow.

    Raises KernelError, placed at the model's file, when the result of an operator's arithmetic is undefined.
    """
    chosen: dict[OperatorRef, Kernel | NoKernel] = {}
    for m, model in enumerate(models):
        for s, graph in enumerate(model.subgraphs):
            for i, op in enumerate(graph.operators):
                if not op.runs or called_subgraphs(op.options):
                    continue
                spot = Spot(m, s, op.position)
                target = assignment.target(spot)
                name = assignment.library(spot, request.targets)
                try:
                    chosen[OperatorRef(m, s, i)] = ask(libraries, (target, name), op, graph)
                except KernelError as error:
                    path = request.models[m].path
                    raise KernelError(*(replace(d, place=path) for d in error.diagnostics)) from None
    return chosen


def ask(libraries: Libraries, runner: tuple[int, str], op: Operator, graph: Subgraph) -> Kernel | NoKernel:
    """Query a kernel library for an operator, and check what it declares.

    `runner` is the target and the name of the library.  Raises KernelError.
    """
    kernel = libraries[runner].kernel(op, graph)
    if isinstance(kernel, NoKernel):
        return kernel
    chosen = _of_library(kernel, runner[1])
    check_declared(chosen, op, graph)
    return chosen


def _of_library(kernel: Kernel, name: str) -> Kernel:
    """Name the library of a kernel, unless it has the kernel from another one, which it names itself."""
    name = kernel.library or name
    backward = kernel.backward and replace(kernel.backward, library=name)
    by_rows = kernel.by_rows and _of_library(kernel.by_rows, name)
    return replace(kernel, library=name, backward=backward, by_rows=by_rows)


def inputs_read(kernel: Kernel | NoKernel, inputs: int) -> frozenset[int]:
    """Return the positions of the inputs whose bytes an operator reads when it runs; it has `inputs` of them."""
    if isinstance(kernel, NoKernel):
        return frozenset(range(inputs))
    return kernel.input_positions()
