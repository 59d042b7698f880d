"""What unification is asked: domains, what they may be, and what connects them (see `unify`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

Allowed: TypeAlias = frozenset[int]
"""Scopes."""


class Freedom(Enum):
    """When an edge is decided."""

    PLAIN = "plain"
    FREE = "free"
    """After all plain ones: a border, where a copy would do least harm."""
    PINNED = "pinned"
    """Last: the value has a place of its own, which its users do not take over."""

    @property
    def order(self) -> int:
        """Return which edges are decided before which."""
        return list(Freedom).index(self)


@dataclass(frozen=True, slots=True)
class Edge:
    """A use of a value."""

    value: int
    port: int
    freedom: Freedom = Freedom.PLAIN
    copies: Allowed | None = None
    """The scopes that a copy for this use may have; None: any."""
    sources: Allowed | None = None
    """The scopes that it can be made from; None: any."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be decided; domains are counted from 0."""

    allowed: Sequence[Allowed]
    """For each domain the scopes that it may have at most."""
    ties: Sequence[tuple[int, int]] = ()
    edges: Sequence[Edge] = ()
    """In the order of the graph: of two uses that cannot both have their way, the first one has."""
    preferred: Allowed = frozenset()
    """What domains take that are left with a choice; empty: they keep their choice."""
    defaults: Sequence[int] = ()
    """Domains in the order in which they take what is preferred: PlanDevices has a default device.  The road has none,
    and leaves the choice to the planner."""
