"""Finds the inputs and outputs that are in the caller's arrays, and so have no planned bytes."""

from __future__ import annotations

from usmp_build.ir.graph import Model, TensorRef
from usmp_build.passes.row_ports import caller_ports
from usmp_build.request import Request


def arguments(request: Request, models: tuple[Model, ...]) -> dict[TensorRef, TensorRef]:
    """Return the root of each such port → the input or output whose array holds it.

    No two of them share bytes: where they do in the model, `scopes` made copies.
    """
    ports: dict[TensorRef, TensorRef] = {}
    for index, (model_request, model) in enumerate(zip(request.models, models, strict=True)):
        main, in_arrays = model.main, caller_ports(model_request, model.main)
        for port in (tensor for tensor in (*main.inputs, *main.outputs) if tensor in in_arrays):
            ports[TensorRef(index, 0, main.roots.get(port, port))] = TensorRef(index, 0, port)
    return ports
