"""Finds the persistent buffers: those that keep their bytes between runs, and during which models' runs.

Models that exclude each other follow one another on the timeline, but run in any order, each any number of times.  So a
buffer needed between runs is alive during the whole run of every model that may run in the meantime:

    preserved input       its own model, to the end
    reserved input        always: the application, or DMA, may fill it at any time
    reserved output       every other model; its own while inputs are filled, and again from when it is written
    connection            its producer from when it is written; every other model; its consumer until it is read for
                          the last time, or to the end, if a run does not consume it
    variables, constants  always
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.lifetimes import Survivors
from usmp_build.ir.storage import Kind, Storage
from usmp_build.request import Inputs, Outputs, Request


def survivors(
    request: Request, models: tuple[Model, ...], connections: tuple[Connection, ...], storage: Storage
) -> Survivors:
    """Return for each model the buffers that hold data when its run begins, and those that must when it has ended."""
    always = {i for i, buffer in enumerate(storage.buffers) if buffer.kind in {Kind.VARIABLE, Kind.CONSTANT}}
    before: list[set[int]] = [set() for _ in models]
    after: list[set[int]] = [set() for _ in models]
    for index, (settings, model) in enumerate(zip(request.models, models, strict=True)):
        if settings.inputs is not Inputs.CONSUMED:
            inputs = set(_buffers(storage, index, model.main.inputs))
            after[index] |= inputs
            always |= inputs if settings.inputs is Inputs.RESERVED else set()
        if settings.outputs is Outputs.RESERVED:
            for side in (*before, *after):
                side.update(_buffers(storage, index, model.main.outputs))
    for connection in connections:
        producer = connection.producer
        connected = set(_buffers(storage, producer.model, (producer.tensor,)))
        for other in range(len(models)):
            is_last = connection.is_consumed and other == connection.consumer.model
            before[other] |= connected if other != producer.model else set()
            after[other] |= set() if is_last else connected
    return Survivors(frozenset(always), tuple(map(frozenset, before)), tuple(map(frozenset, after)))


def _buffers(storage: Storage, model: int, tensors: Iterable[int]) -> Iterator[int]:
    """Yield the planned buffers of these tensors of a main subgraph; of a tensor in memory of pages, all rows."""
    for tensor in tensors:
        buffer = storage.tensors.get(TensorRef(model, 0, tensor))
        if buffer is not None:
            yield from storage.span(buffer)
