"""A model after its rewrites, and the savings of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model
from usmp_build.ir.options import Order

KeptChannels: TypeAlias = Mapping[tuple[int, int], tuple[int, ...]]
"""(subgraph, tensor) → remaining indices along the last axis, for tensors that lost some."""
MovedAxes: TypeAlias = Mapping[tuple[int, int], Order]
"""(subgraph, tensor) → for each axis, which one it is in the model file, for tensors whose axes moved."""


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
    """A rewritten model, the channels that tensors kept, and where their axes moved."""

    model: Model
    channels: KeptChannels = MappingProxyType({})
    axes: MovedAxes = MappingProxyType({})


class Stage(NamedTuple):
    """Successive operators of main that run once for each strip; one tensor goes in, and one comes out."""

    first: int
    """Indices of operators, before they are divided."""
    stop: int
    """The operator after the last one."""
    strips: int


class Strip(NamedTuple):
    """A tensor with some columns of another one."""

    whole: int
    columns: range


@frozen
class Record:
    """All savings of rewrites in a model."""

    channels: KeptChannels = field(default_factory=dict)
    axes: MovedAxes = field(default_factory=dict)
    savings: tuple[Saving, ...] = ()
    """Savings of the rewrites that changed something, in the order in which they ran."""
    removed: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(subgraph, tensor) → the rewrite after which no operator reads or writes the tensor."""
    strips: Mapping[int, Strip] = field(default_factory=dict)
    """Tensor of main that is computed in a strip → what it has of the tensor that the file has."""
    strip_operators: Mapping[int, int] = field(default_factory=dict)
    """Position of an operator that computes a strip → that of the operator of the file."""
    stages: tuple[tuple[int, int, int], ...] = ()
    """Of each stage in strips the positions of its first and its last operator, and the strips."""


class Rewritten(NamedTuple):
    """The result of `passes.rewrite` for a model."""

    model: Model
    record: Record
