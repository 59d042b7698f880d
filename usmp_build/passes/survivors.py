"""Request + Connections + Storage → Survivors: what must outlive a run, and whose runs.

Models that exclude each other follow one another on the timeline, but run in any order, each any number of times.  So
what is needed between runs is alive in the run of every model that may run meanwhile, from beginning to end:

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
    """Say of each model what holds data when a run of it begins, and what must when the run has ended."""
    always = {i for i, buffer in enumerate(storage.buffers) if buffer.kind in {Kind.VARIABLE, Kind.CONSTANT}}
    before: list[set[int]] = [set() for _ in models]
    after: list[set[int]] = [set() for _ in models]
    for index, (asked, model) in enumerate(zip(request.models, models, strict=True)):
        if asked.inputs is not Inputs.CONSUMED:
            own = set(_buffers(storage, index, model.main.inputs))
            after[index] |= own
            always |= own if asked.inputs is Inputs.RESERVED else set()
        if asked.outputs is Outputs.RESERVED:
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
    """Yield the planned buffers of some tensors of a model's main subgraph, all rows of those in memory of pages."""
    for tensor in tensors:
        buffer = storage.tensors.get(TensorRef(model, 0, tensor))
        if buffer is not None:
            yield from storage.span(buffer)
