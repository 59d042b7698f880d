"""Finds the inputs and outputs that are in the caller's arrays, and so have no planned bytes."""

from __future__ import annotations

from usmp_build.ir.graph import Model, TensorRef
from usmp_build.request import InputOutput, Request


def arguments(request: Request, models: tuple[Model, ...]) -> dict[TensorRef, TensorRef]:
    """Return the root of each such port → the input or output whose array holds it.

    No two of them share bytes: where they do in the model, `scopes` made copies.
    """
    ports: dict[TensorRef, TensorRef] = {}
    for index, (model_request, model) in enumerate(zip(request.models, models, strict=True)):
        main = model.main
        for port in (*main.inputs, *main.outputs) if model_request.io is InputOutput.APPLICATION else ():
            ports[TensorRef(index, 0, main.roots.get(port, port))] = TensorRef(index, 0, port)
    return ports
