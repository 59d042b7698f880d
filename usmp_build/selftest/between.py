"""What is alive between runs, for the program of the self-test: which model runs first, and what runs leave intact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Subgraph, TensorRef
from usmp_build.layout.code import PortRow
from usmp_build.layout.layout import Layout
from usmp_build.pipeline import Planned
from usmp_build.request import InputOutput, Inputs, Outputs

_Pair: TypeAlias = tuple[int, PortRow]
"""A tensor, and its port."""


def order(planned: Planned) -> list[int]:
    """Return the models so that producers come before consumers, unless they feed each other in a cycle."""
    models: dict[int, None] = {}
    entered: set[int] = set()

    def visit(model: int) -> None:
        if model not in entered:
            entered.add(model)
            feeding = (c for c in planned.analysis.connections if c.consumer.model == model)
            for producer in sorted({connection.producer.model for connection in feeding}):
                visit(producer)
            models[model] = None

    for model in range(len(planned.request.models)):
        visit(model)
    return list(models)


def is_late(planned: Planned, connection: Connection) -> bool:
    """Return whether a consumer runs before its producer, and so begins with the data of the round before."""
    positions = order(planned)
    return positions.index(connection.producer.model) > positions.index(connection.consumer.model)


def connected(planned: Planned, model: int) -> list[int]:
    """Return the inputs of a model, by position, that others fill."""
    consumers = {connection.consumer for connection in planned.analysis.connections}
    return [
        position
        for position, tensor in enumerate(planned.analysis.models[model].main.inputs)
        if TensorRef(model, 0, tensor) in consumers
    ]


def by_rows(planned: Planned, model: int) -> list[int]:
    """Return the inputs of a model, by position, that arrive row by row: after all others were filled."""
    row = planned.summary.models[model]
    return [position for position, name in enumerate(row.inputs) if name in row.inputs_by_rows]


def facts(planned: Planned, layout: Layout, model: int) -> dict[str, object]:
    """Return for the template the inputs to fill, those that arrive row by row, and pairs of tensor and port.

    `read` are outputs to read after the run, `leaving` those that the application gets row by row.
    `connected` are inputs that others fill, `intact` inputs that the run leaves as they are, `reserved_inputs` and
    `reserved_outputs` what all other runs leave so, too, and `outputs_while_filled` those of them that filling inputs
    leaves so.
    """
    main, code = planned.analysis.models[model].main, layout.models[model][1]
    inputs = list(zip(main.inputs, code.inputs, strict=True))
    outputs = list(zip(main.outputs, code.outputs, strict=True))
    others = connected(planned, model)
    filled = [pair for position, pair in enumerate(inputs) if position not in others and not pair[1].rows]
    return {
        "filled": [port for _, port in filled],
        "read": [pair for pair in outputs if not pair[1].rows],
        "arriving": [port for _, port in inputs if port.rows],
        "leaving": [pair for pair in outputs if pair[1].rows],
        "connected": [inputs[position] for position in others],
        **_left_alone(planned, model, inputs, outputs, filled),
    }


def _left_alone(
    planned: Planned, model: int, inputs: list[_Pair], outputs: list[_Pair], filled: list[_Pair]
) -> dict[str, object]:
    """Return the ports that runs, and filling inputs, leave as they are."""
    model_request, main = planned.request.models[model], planned.analysis.models[model].main
    kept = model_request.inputs if model_request.io is InputOutput.POOL else Inputs.CONSUMED
    is_reserved = model_request.io is InputOutput.POOL and model_request.outputs is Outputs.RESERVED
    return {
        "intact": inputs if kept is not Inputs.CONSUMED else [],
        "reserved_inputs": filled if kept is Inputs.RESERVED else [],
        "reserved_outputs": outputs if is_reserved else [],
        "outputs_while_filled": [pair for pair in outputs if is_reserved and _is_computed(main, pair[0])],
    }


def _is_computed(main: Subgraph, output: int) -> bool:
    """An output that is an input changes when that is filled, and a variable when it is reset."""
    root = main.roots.get(output, output)
    return root not in main.inputs and not main.tensors[root].is_variable


def idle(planned: Planned, model: int, pools: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield pool, as a position in `pools`, offset and size of the bytes that are dead when a run of a model begins."""
    survivors, sizes = planned.analysis.survivors, planned.analysis.problem.buffers
    kept: dict[str, list[tuple[int, int]]] = {name: [] for name in pools}
    for index in survivors.before[model] | survivors.always:
        pool, offset = planned.plan.allocations[index]
        kept.setdefault(planned.summary.pools[pool].name, []).append((offset, offset + sizes[index].size))
    ends = {pool.name: pool.size for pool in planned.summary.pools}
    for number, name in enumerate(pools):
        at = 0
        for start, stop in [*sorted(kept[name]), (ends[name], ends[name])]:
            if start > at:
                yield number, at, start - at
            at = max(at, stop)
