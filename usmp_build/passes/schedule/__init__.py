"""Builds the schedule: one structured program of steps for all models of the firmware.

Every model becomes

    enter · operator · operator · ... · leave

where `enter` writes all inputs (the caller filled them before the first step) and `leave` reads all outputs (the
caller reads them after the last): lifetimes then need no special case for inputs and outputs.  `enter` does not write
inputs that another model fills: the application may read these, and reserved outputs of the previous run, while it
fills the others.  Inputs and outputs that have rows are in neither: each row of an input arrives in a step of its own
(see `rows`), and the application gets each row of an output right after the step that writes it.  Views run nothing.

Operators of the main subgraph run in the chosen order, those of other subgraphs in that of the file.  Programs have
statements instead of operators.
"""

from __future__ import annotations

from itertools import accumulate

from usmp_build.interfaces.analysis import Kernels
from usmp_build.ir.choices import FILE_ORDER, Choices
from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.schedule import Schedule, Sequence
from usmp_build.passes.schedule.leaves import Leaves
from usmp_build.passes.schedule.operators import Operators
from usmp_build.passes.schedule.statements import InlinedFunctions
from usmp_build.request import ModelRequest, Outputs, Request


def schedule(
    request: Request,
    models: tuple[Model, ...],
    kernels: Kernels,
    connections: tuple[Connection, ...],
    choices: Choices = FILE_ORDER,
) -> Schedule:
    """Return the schedule of all models, in the chosen orders and directions.

    `kernels` say which operators have scratch.
    Raises ModelError when calls unfold to more than `leaves.MOST_STEPS`.
    """
    leaves = [Leaves(index, model) for index, model in enumerate(models)]
    connected = {connection.consumer for connection in connections}
    programs = tuple(
        _program(model_leaves, model, kernels, model_request, connected, choices)
        for model_leaves, model, model_request in zip(leaves, models, request.models, strict=True)
    )
    return Schedule(programs, tuple(accumulate((each.count for each in leaves), initial=0)))


def _program(
    leaves: Leaves,
    model: Model,
    kernels: Kernels,
    model_request: ModelRequest,
    connected: set[TensorRef],
    choices: Choices,
) -> Sequence:
    def has_rows(tensor: int) -> bool:
        return TensorRef(leaves.model, 0, model.main.root(tensor)) in choices.by_rows.tables

    inputs, outputs = (
        tuple(TensorRef(leaves.model, 0, tensor) for tensor in side if not has_rows(tensor))
        for side in (model.main.inputs, model.main.outputs)
    )
    filled = tuple(ref for ref in inputs if ref not in connected)
    fed = tuple(ref for ref in inputs if ref in connected)
    retained = outputs if model_request.outputs is Outputs.RESERVED else ()
    enter = leaves.step("enter", writes=filled, keeps=(*fed, *retained))
    body = (*Operators(leaves, model, kernels, choices).main(), *InlinedFunctions(leaves, model).main())
    return Sequence((enter, *body, leaves.step("leave", reads=outputs)))
