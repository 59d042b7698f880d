"""Inserts copies that are needed in any case, before scopes are planned.

    ports   with io = "application", an output that no operator writes to an array of its own: it is also an input, a
            constant, a variable, or another output.  It is copied at the end of the run
    pins    a tensor that is pinned to pools which its writer does not reach (see `pinned`)

They run right before their first reader, as all copies do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel
from usmp_build.ir.graph import Model, OperatorRef, Port, TensorRef
from usmp_build.ir.ports import output_signature
from usmp_build.passes.assign import Assignment, Spot
from usmp_build.passes.copies import NewCopy, carried, insert
from usmp_build.passes.rows.ports import caller_ports
from usmp_build.passes.scopes.copies import copier
from usmp_build.passes.scopes.pinned import PinnedTensors, Wanted, writer
from usmp_build.passes.select import ask
from usmp_build.request import InputOutput, Request


@frozen
class Prepared:
    """Models with these copies, the targets that make them, and their kernels."""

    models: tuple[Model, ...]
    assignment: Assignment
    kernels: Kernels


def prepared(
    request: Request, models: tuple[Model, ...], assignment: Assignment, kernels: Kernels, libraries: Libraries
) -> Prepared:
    """Insert the copies that are needed in any case.

    Raises ManifestError if a tensor is pinned to pools that neither its writer nor a copier reaches.
    """
    state = Prepared(models, assignment, kernels)
    for m, model in enumerate(models):
        if request.models[m].io is InputOutput.APPLICATION:
            state = _with_copies(state, (m, 0), list(_ports(request, state, m)), libraries)
            state = _renamed(state, model, m)
        for s in range(len(model.subgraphs)):
            pins = PinnedTensors(request, state.assignment, state.kernels, (m, s), state.models[m].subgraphs[s])
            state = _with_copies(state, (m, s), list(pins.copies()), libraries)
    return state


def _ports(request: Request, state: Prepared, model: int) -> Iterator[Wanted]:
    """Yield a copy for each output that would share the bytes of another port, or that no operator computes."""
    main = state.models[model].main
    taken = {main.roots.get(tensor, tensor) for tensor in main.inputs}
    in_arrays = caller_ports(request.models[model], main)
    for position, tensor in enumerate(main.outputs):
        root = main.roots.get(tensor, tensor)
        source = main.tensors[root]
        if tensor in in_arrays and (root in taken or source.is_constant or source.is_variable):
            port = replace(main.tensors[tensor], data=None, is_variable=False, resource="", initial=None)
            by = copier(request, writer(state.assignment, (model, 0), main, root), 0)
            yield Wanted(NewCopy(tensor, port, ((None, position),)), by)
        taken.add(root)


def _renamed(state: Prepared, before: Model, index: int) -> Prepared:
    """Return the state with output names of the signature at the same positions as before."""
    model = state.models[index]
    if model.main.outputs == before.main.outputs or not before.output_names:
        return state
    named = zip(output_signature(before), model.main.outputs, strict=True)
    names = tuple(Port(name, tensor) for name, tensor in named if name)
    models = (*state.models[:index], replace(model, output_names=names), *state.models[index + 1 :])
    return replace(state, models=models)


def _with_copies(state: Prepared, place: tuple[int, int], wanted: Sequence[Wanted], libraries: Libraries) -> Prepared:
    if not wanted:
        return state
    model = state.models[place[0]]
    inserted = insert(model.subgraphs[place[1]], [each.copy for each in wanted])
    graph = inserted.graph
    kernels: dict[OperatorRef, Kernel | NoKernel] = {r: k for r, k in state.kernels.items() if r[:2] != place}
    kernels |= carried(state.kernels, place, inserted)
    targets, names = dict(state.assignment.targets), dict(state.assignment.libraries)
    tensors = dict(state.assignment.tensors)
    for inserted_copy, (_, by, moves_pin) in zip(inserted.copies, wanted, strict=True):
        op = graph.operators[inserted_copy.operator]
        if moves_pin:
            tensors[TensorRef(*place, inserted_copy.written)] = tensors.pop(TensorRef(*place, inserted_copy.source))
        spot = Spot(*place, op.position)
        targets[spot], names[spot] = by
        kernels[OperatorRef(*place, inserted_copy.operator)] = ask(libraries, by, op, graph)
    graphs = (*model.subgraphs[: place[1]], graph, *model.subgraphs[place[1] + 1 :])
    models = (*state.models[: place[0]], replace(model, subgraphs=graphs), *state.models[place[0] + 1 :])
    return Prepared(models, replace(state.assignment, targets=targets, libraries=names, tensors=tensors), kernels)
