"""Inputs and outputs in the caller's arrays: they, and their views, have no planned bytes."""

from __future__ import annotations

from usmp_build.ir.graph import Model, TensorRef
from usmp_build.request import InputOutput, Request


def arguments(request: Request, models: tuple[Model, ...]) -> dict[TensorRef, TensorRef]:
    """Return tensor → the input or output of the model whose array it is, for those that are no views.

    No two of them share bytes: where they do in the model, `scopes` made copies.
    """
    found: dict[TensorRef, TensorRef] = {}
    for index, (asked, model) in enumerate(zip(request.models, models, strict=True)):
        main = model.main
        for port in (*main.inputs, *main.outputs) if asked.io is InputOutput.APPLICATION else ():
            found[TensorRef(index, 0, main.roots.get(port, port))] = TensorRef(index, 0, port)
    return found
