"""A model after its rewrites, and the savings of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model

KeptChannels: TypeAlias = Mapping[tuple[int, int], tuple[int, ...]]
"""(subgraph, tensor) → remaining indices along the last axis, for tensors that lost some."""


@frozen
class Saving:
    """Amounts that one rewrite removed; negative ones were added."""

    rewrite: str
    """Name in the manifest."""
    operators: int = 0
    channels: int = 0
    """Indices along the last axis of computed tensors."""
    weights: int = 0
    """Elements of filters and matrices."""
    macs: int = 0
    """Multiply-accumulates of one run, as `Work.macs` counts them."""
    constant_bytes: int = 0
    """Bytes of constants that operators read; derived ones, such as factors, are not counted."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was removed or added."""
        return not any((self.operators, self.channels, self.weights, self.macs, self.constant_bytes))


class RewriteStep(NamedTuple):
    """A rewritten model, and the channels that tensors kept."""

    model: Model
    channels: KeptChannels = MappingProxyType({})


@frozen
class Record:
    """All savings of rewrites in a model."""

    channels: KeptChannels = field(default_factory=dict)
    savings: tuple[Saving, ...] = ()
    """Savings of the rewrites that changed something, in the order in which they ran."""
    removed: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(subgraph, tensor) → the rewrite after which no operator reads or writes the tensor."""


class Rewritten(NamedTuple):
    """The result of `passes.rewrite` for a model."""

    model: Model
    record: Record
