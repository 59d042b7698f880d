"""Explains in a few words why the candidate pools of a tensor are restricted."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.ir.labels import short_label
from usmp_build.ir.scopes import COPY
from usmp_build.passes.scopes.insert import Answered
from usmp_build.passes.scopes.statement import PoolStatement
from usmp_build.passes.scopes.unify import PoolAnswer

_SHOWN = 2
"""Maximum number of users named in a reason."""


def reasons(statement: PoolStatement, answer: PoolAnswer, answered: Answered) -> Iterator[str]:
    """Yield a reason for each tensor, including copies; empty if it is not restricted."""
    agreeing = _agreeing(statement, answer)
    computed = {source: before for source, before, _ in answered.origins.values()}
    for tensor in range(len(answered.graph.tensors)):
        if tensor in answered.origins:
            source, _, copy = answered.origins[tensor]
            users = _listed([statement.uses[edge].label for edge in copy.edges])
            name = short_label(answered.graph.tensors[source].name, source)
            yield f"copy of {name} for {users}"
        else:
            value = computed.get(tensor, tensor)
            reason = _of_value(statement, value, answer.allowed[value], agreeing.get(value, []))
            yield reason or _of_copy(statement, value)


def _agreeing(statement: PoolStatement, answer: PoolAnswer) -> dict[int, list[str]]:
    """Return for each tensor the readers that read it directly, not from a copy."""
    copied = {edge for copy in answer.copies for edge in copy.edges}
    readers: dict[int, list[str]] = {}
    for edge, use in enumerate(statement.uses):
        if edge not in copied:
            readers.setdefault(use.tensor, []).append(f"{use.label} reads it")
    return readers


def _of_value(statement: PoolStatement, tensor: int, pools: frozenset[int], users: list[str]) -> str:
    if pools.issuperset(statement.preference(tensor)) or not pools.intersection(statement.preference(tensor)):
        return ""
    restrictions = [*(why.who for why in statement.whys[tensor]), *users]
    return _listed(restrictions) or _shared(statement, tensor)


def _of_copy(statement: PoolStatement, tensor: int) -> str:
    """Return the reason of a tensor written by a COPY that was inserted before."""
    graph = statement.graph
    writer = graph.operators[graph.producers[tensor]] if tensor in graph.producers else None
    source = writer.inputs[0] if writer is not None and writer.kind == COPY else None
    return "" if source is None else f"copy of {short_label(graph.tensors[source].name, source)}"


def _shared(statement: PoolStatement, tensor: int) -> str:
    """Return the reason of a tensor that is restricted only through a view or its source."""
    pairs = ((op.inputs[0], op.outputs[0]) for op in statement.views())
    other = next((b if tensor == a else a for a, b in pairs if tensor in (a, b)), None)
    return "" if other is None else f"has the bytes of {short_label(statement.graph.tensors[other].name, other)}"


def _listed(users: list[str]) -> str:
    distinct = list(dict.fromkeys(users))
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return " and ".join(distinct[:_SHOWN]) + more if not more else ", ".join(distinct[:_SHOWN]) + more
