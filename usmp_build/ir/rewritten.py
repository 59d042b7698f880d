"""A model behind its rewrites, and what each of them removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from usmp_build.ir.graph import Model

KeptChannels: TypeAlias = Mapping[tuple[int, int], tuple[int, ...]]
"""(subgraph, tensor) → indices along the last axis that are left, of tensors that lost some."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What one rewrite removed; less than 0 is what it added."""

    rewrite: str
    """As the manifest calls it."""
    operators: int = 0
    channels: int = 0
    """Of tensors that are computed: indices along their last axis."""
    weights: int = 0
    """Elements of filters and matrices."""
    macs: int = 0
    """Multiplications of one run, as `Work.macs` counts them."""
    constant_bytes: int = 0
    """Of constants that operators read; derived ones, such as factors, are not counted."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was removed or added."""
        return not any((self.operators, self.channels, self.weights, self.macs, self.constant_bytes))


class Made(NamedTuple):
    """A rewritten model, and which channels of its tensors are left."""

    model: Model
    channels: KeptChannels = MappingProxyType({})


@dataclass(frozen=True)
class Record:
    """What rewrites removed from a model."""

    channels: KeptChannels = field(default_factory=dict)
    savings: tuple[Saving, ...] = ()
    """Of the rewrites that changed something, in the order in which they were made."""
    gone: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(subgraph, tensor) → the rewrite behind which nobody reads or writes that tensor any more."""


class Rewritten(NamedTuple):
    """What `passes.rewrite` makes of a model."""

    model: Model
    record: Record
