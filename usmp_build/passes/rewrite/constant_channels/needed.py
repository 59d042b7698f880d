"""Which channels must be kept: from what the model shows, back to what that is made of.

A channel goes unless somebody needs it.  A sum needs the channels of its input that have a weight other than 0 for an
output that is kept, unless they are constant and its bias can stand for them, or the output is constant itself.
Channels that are tied stay together.  No tensor loses all of its channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.ir.graph import Subgraph
from usmp_build.passes.rewrite.constant_channels.forward import Facts
from usmp_build.passes.rewrite.constant_channels.sums import Sum
from usmp_build.passes.rewrite.constant_channels.tie import Tie

_MOST_SWEEPS = 64
"""From the last operator to the first.  Ties may ask for several; a model that asks for more keeps all it has."""

Kept: TypeAlias = Mapping[int, Booleans]
"""Tensor → for each channel, whether it is kept.  Tensors that are not there keep all."""
NOTHING: Kept = MappingProxyType({})


def needed(graph: Subgraph, known: Facts, demanded: set[int], besides: Kept = NOTHING) -> Kept | None:
    """Return what must be kept; `demanded` are tensors that keep all channels, and `besides` is kept, too.

    None: that takes too long to find out.
    """
    shrinking = sorted({tensor for role in known.roles if role for tensor in role.tensors})
    kept = {tensor: np.zeros(len(known.intervals[tensor].low), np.bool_) for tensor in shrinking}
    for tensor in (demanded | set(_whole(graph, known))) & kept.keys():
        kept[tensor][:] = True
    for tensor, channels in besides.items():
        kept[tensor] |= channels
    unseen = {index: ~known.settled(index) for index in known.sums}
    for _ in range(_MOST_SWEEPS):
        before = _count(kept)
        for index in reversed(range(len(known.roles))):
            role = known.roles[index]
            if isinstance(role, Sum) and not role.depthwise:
                computed = kept[role.target] & unseen[index]
                unseen[index] &= ~computed
                _sum(role, computed, known, kept)
            else:
                for tie in role.ties if role else ():
                    _tie(tie, kept)
        for tensor in shrinking if _count(kept) == before else ():
            kept[tensor][0] |= not kept[tensor].any()
        if _count(kept) == before:
            return kept
    return None


def _whole(graph: Subgraph, known: Facts) -> Iterator[int]:
    """Yield what operators touch that may not lose channels there."""
    for op, role in zip(graph.operators, known.roles, strict=True):
        own = role.tensors if role else ()
        yield from (tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None and tensor not in own)


def _sum(role: Sum, computed: Booleans, known: Facts, kept: Kept) -> None:
    """Keep what these outputs are computed from; those that were kept before have had their turn."""
    if not computed.any():
        return
    used = role.is_used[computed].any(0) & ~role.is_foldable(known.intervals[role.source])[role.channel]
    kept[role.source][role.channel[used]] = True


def _tie(tie: Tie, kept: Kept) -> None:
    source, target = kept[tie.source], kept[tie.target]
    source[tie.source_channels[target[tie.target_channels]]] = True
    target[tie.target_channels[source[tie.source_channels]]] = True


def _count(kept: Kept) -> int:
    return sum(int(np.count_nonzero(each)) for each in kept.values())
