"""Inputs and outputs in the caller's arrays: they, and their views, have no planned bytes."""

from __future__ import annotations

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.request import InputOutput, Request


def arguments(request: Request, models: tuple[Model, ...]) -> dict[TensorRef, TensorRef]:
    """Return tensor → the input or output of the model whose array it is, for those that are no views.

    Raises ModelError for an output that nothing computes.
    """
    found: dict[TensorRef, TensorRef] = {}
    for index, (asked, model) in enumerate(zip(request.models, models, strict=True)):
        if asked.io is not InputOutput.APPLICATION:
            continue
        main = model.main
        for port in (*main.inputs, *main.outputs):
            root = TensorRef(index, 0, main.roots.get(port, port))
            source = tensor_at(models, root)
            unwritten = source.is_constant or source.is_variable or root in found
            if port in main.outputs and unwritten:
                raise ModelError(_nothing_computes(request, model, index, port))
            found[root] = TensorRef(index, 0, port)
    return found


def _nothing_computes(request: Request, model: Model, index: int, port: int) -> Diagnostic:
    name = model.main.tensors[port].name
    message = f'nothing computes output "{name}": it is an input, a constant or another output of the model'
    help_ = f'write io = "pool" for model "{model.name}": its outputs then may share bytes'
    return Diagnostic("P302", message, request.models[index].path, help_)
