"""Applies the answer of `unify` to a subgraph: inserts its copies, and lists the pools of all tensors."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Subgraph
from usmp_build.passes.copies import Inserted, NewCopy, insert
from usmp_build.passes.scopes.names import elsewhere
from usmp_build.passes.scopes.statement import PoolStatement
from usmp_build.passes.scopes.unify import Copy, PoolAnswer


@frozen
class Answered:
    """A subgraph after its question was answered."""

    inserted: Inserted
    domains: tuple[frozenset[int], ...]
    """For each tensor its remaining pools."""
    origins: Mapping[int, tuple[int, int, Copy]]
    """Tensor that is a copy, or a view of one → the tensor that it stands for, the number of that one before, and the
    copy in the answer."""

    @property
    def graph(self) -> Subgraph:
        """The subgraph with its copies."""
        return self.inserted.graph


def with_copies(statement: PoolStatement, answer: PoolAnswer) -> Answered:
    """Insert the copies of an answer; pools follow the numbers that `insert` gives to tensors."""
    domains = list(answer.allowed[: len(statement.graph.tensors)])
    wanted: list[NewCopy] = []
    copies: list[Copy] = []  # of each that is wanted
    for copy in answer.copies:
        number, readers = len(wanted), _readers(statement, copy)
        is_read_outside = {tensor: any(reader is None for reader, _ in readers[tensor]) for tensor in readers}
        for tensor in sorted(readers, key=lambda tensor: not is_read_outside[tensor]):  # the output is the copy
            domains.append(copy.allowed)
            if is_read_outside[tensor]:
                domains[tensor], domains[-1] = domains[-1], domains[tensor]
            new = elsewhere(statement.request, statement.graph, tensor, domains[-1])
            view_of = number if len(wanted) > number else None
            wanted.append(NewCopy(tensor, new, tuple(readers[tensor]), is_read_outside[tensor], view_of))
            copies.append(copy)
    inserted = insert(statement.graph, wanted)
    rows = zip(inserted.all, wanted, copies, strict=True)
    return Answered(
        inserted, tuple(domains), {each.written: (each.source, new.source, copy) for each, new, copy in rows}
    )


def _readers(statement: PoolStatement, copy: Copy) -> dict[int, list[tuple[int | None, int]]]:
    """Return who reads each tensor that a copy serves: the tensor whose bytes are copied, and views of it."""
    readers: dict[int, list[tuple[int | None, int]]] = {}
    for use in (statement.uses[edge] for edge in copy.edges):
        readers.setdefault(use.tensor, []).append((use.reader, use.position))
    return readers
