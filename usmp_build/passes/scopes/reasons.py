"""Why a tensor may live only where it may: who restricts it, in a few words."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.ir.labels import short_label
from usmp_build.ir.scopes import COPY
from usmp_build.passes.scopes.insert import Answered
from usmp_build.passes.scopes.statement import Statement
from usmp_build.passes.scopes.unify import Answer

_SHOWN = 2
"""So many are named."""


def reasons(statement: Statement, answer: Answer, answered: Answered) -> Iterator[str]:
    """Yield a reason for each tensor, copies among them; empty where nobody restricts it."""
    agreeing = _agreeing(statement, answer)
    computed = {source: copy.value for source, copy in answered.origins.values()}
    for tensor in range(len(answered.graph.tensors)):
        if tensor in answered.origins:
            source, copy = answered.origins[tensor]
            users = _some([statement.uses[edge].label for edge in copy.edges])
            name = short_label(answered.graph.tensors[source].name, source)
            yield f"copy of {name} for {users}"
        else:
            value = computed.get(tensor, tensor)
            reason = _of_value(statement, value, answer.allowed[value], agreeing.get(value, []))
            yield reason or _of_copy(statement, value)


def _agreeing(statement: Statement, answer: Answer) -> dict[int, list[str]]:
    """Return for each tensor the users that it lives with; those with copies have no say."""
    copied = {edge for copy in answer.copies for edge in copy.edges}
    found: dict[int, list[str]] = {}
    for edge, use in enumerate(statement.uses):
        if edge not in copied:
            found.setdefault(use.tensor, []).append(f"{use.label} reads it")
    return found


def _of_value(statement: Statement, tensor: int, pools: frozenset[int], users: list[str]) -> str:
    if pools.issuperset(statement.preference(tensor)) or not pools.intersection(statement.preference(tensor)):
        return ""
    said = [*(why.who for why in statement.whys[tensor]), *users]
    return _some(said) or _shared(statement, tensor)


def _of_copy(statement: Statement, tensor: int) -> str:
    """Say what is copied by an operator that was there before the question."""
    graph = statement.graph
    writer = graph.operators[graph.producers[tensor]] if tensor in graph.producers else None
    source = writer.inputs[0] if writer is not None and writer.kind == COPY else None
    return "" if source is None else f"copy of {short_label(graph.tensors[source].name, source)}"


def _shared(statement: Statement, tensor: int) -> str:
    """Nobody asked for it but for a tensor that has the same bytes."""
    pairs = ((op.inputs[0], op.outputs[0]) for op in statement.views())
    other = next((b if tensor == a else a for a, b in pairs if tensor in (a, b)), None)
    return "" if other is None else f"has the bytes of {short_label(statement.graph.tensors[other].name, other)}"


def _some(said: list[str]) -> str:
    few = list(dict.fromkeys(said))
    more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
    return " and ".join(few[:_SHOWN]) + more if not more else ", ".join(few[:_SHOWN]) + more
