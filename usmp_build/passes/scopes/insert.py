"""Applies the answer of `unify` to a subgraph: inserts its copies, and lists the pools of all tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from usmp_build.ir.graph import Subgraph
from usmp_build.passes.copies import Inserted, NewCopy, insert
from usmp_build.passes.scopes.names import elsewhere
from usmp_build.passes.scopes.statement import Statement
from usmp_build.passes.scopes.unify import Answer, Copy


@dataclass(frozen=True)
class Answered:
    """A subgraph after its question was answered."""

    inserted: Inserted
    domains: tuple[frozenset[int], ...]
    """For each tensor its remaining pools."""
    origins: Mapping[int, tuple[int, Copy]]
    """Tensor that a COPY writes → the tensor that it copies, and the copy in the answer."""

    @property
    def graph(self) -> Subgraph:
        """The subgraph with its copies."""
        return self.inserted.graph


def with_copies(statement: Statement, answer: Answer) -> Answered:
    """Insert the copies of an answer; pools follow the numbers that `insert` gives to tensors."""
    domains = list(answer.allowed[: len(statement.graph.tensors)])
    wanted = []
    for copy in answer.copies:
        uses = [statement.uses[edge] for edge in copy.edges]
        domains.append(copy.allowed)
        is_output = any(use.reader is None for use in uses)
        if is_output:
            domains[copy.value], domains[-1] = domains[-1], domains[copy.value]
        tensor = elsewhere(statement.request, statement.graph, copy.value, domains[-1])
        wanted.append(NewCopy(copy.value, tensor, tuple((use.reader, use.position) for use in uses), is_output))
    inserted = insert(statement.graph, wanted)
    pairs = zip(inserted.copies, answer.copies, strict=True)
    return Answered(
        inserted, tuple(domains), {inserted_copy.written: (inserted_copy.source, copy) for inserted_copy, copy in pairs}
    )
