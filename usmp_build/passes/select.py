"""Operators → kernels: asks the library once for each, and keeps the answers in a table."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.errors import KernelError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel, KernelLibrary, NoKernel
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.request import Request


def select(request: Request, models: tuple[Model, ...], library: KernelLibrary) -> Kernels:
    """Choose a kernel for every operator that runs by itself: not for views and control flow.

    Raises KernelError, placed at the model's file, when a model asks for arithmetic that has no defined result.
    """
    chosen: dict[OperatorRef, Kernel | NoKernel] = {}
    for m, model in enumerate(models):
        for s, graph in enumerate(model.subgraphs):
            for i, op in enumerate(graph.operators):
                if op.kind == "VIEW" or called_subgraphs(op.options):
                    continue
                try:
                    chosen[OperatorRef(m, s, i)] = library.kernel(op, graph)
                except KernelError as error:
                    path = request.models[m].path
                    raise KernelError(*(replace(d, place=path) for d in error.diagnostics)) from None
    return chosen


def inputs_read(kernel: Kernel | NoKernel, inputs: int) -> frozenset[int]:
    """Return the positions of an operator's inputs whose bytes are read when it runs, out of `inputs` many."""
    if isinstance(kernel, NoKernel):
        return frozenset(range(inputs))
    return kernel.input_positions()
