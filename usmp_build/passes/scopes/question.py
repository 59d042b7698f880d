"""Defines the input of `unify`: domains with allowed scopes, and the ties and edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from usmp_build.frozen import frozen

Allowed: TypeAlias = frozenset[int]
"""A set of scopes."""


class Freedom(Enum):
    """When an edge is decided."""

    PLAIN = "plain"
    FREE = "free"
    """After all plain ones: at a boundary of the subgraph, where a copy does least harm."""
    PINNED = "pinned"
    """Last: the value is pinned, and its users do not follow it."""

    @property
    def order(self) -> int:
        """Position in the order in which edges are decided."""
        return list(Freedom).index(self)


@frozen
class Edge:
    """A use of a value."""

    value: int
    port: int
    freedom: Freedom = Freedom.PLAIN
    copies: Allowed | None = None
    """Scopes allowed for a copy for this use; None: any."""
    sources: Allowed | None = None
    """Scopes that the copy can be made from; None: any."""


@frozen
class PoolQuestion:
    """The problem; domains are numbered from 0."""

    allowed: Sequence[Allowed]
    """For each domain its allowed scopes."""
    ties: Sequence[tuple[int, int]] = ()
    edges: Sequence[Edge] = ()
    """In the order of the graph: of two uses in conflict, the first one has priority."""
    preferred: Allowed = frozenset()
    """The scopes for domains that are left with a choice; empty: they keep the choice."""
    defaults: Sequence[int] = ()
    """Domains in the order in which they take the preferred scopes: TVM's PlanDevices has a default device.  The
    pipeline has none, and leaves the choice to the planner."""
