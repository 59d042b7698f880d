"""Finds the channels that must be kept, by propagating needs backward from the outputs of the model.

A channel is removed unless it is needed.  A sum needs the channels of its input that have a nonzero weight for an
output that is kept, unless they are constant and the bias can absorb them, or the output itself is constant.  Tied
channels are kept or removed together.  No tensor loses all of its channels.
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
"""Most sweeps from the last operator to the first.  Ties may require several; beyond that, all channels are kept."""

Kept: TypeAlias = Mapping[int, Booleans]
"""Tensor → for each channel, whether it is kept.  Missing tensors keep all channels."""
NOTHING: Kept = MappingProxyType({})


def needed(graph: Subgraph, analysis: Facts, demanded: set[int], besides: Kept = NOTHING) -> Kept | None:
    """Return the channels to keep; tensors in `demanded` keep all, others at least those in `besides`.

    None: the limit of sweeps was reached.
    """
    shrinking = sorted({tensor for role in analysis.roles if role for tensor in role.tensors})
    kept = {tensor: np.zeros(len(analysis.intervals[tensor].low), np.bool_) for tensor in shrinking}
    for tensor in (demanded | set(_whole(graph, analysis))) & kept.keys():
        kept[tensor][:] = True
    for tensor, channels in besides.items():
        kept[tensor] |= channels
    unseen = {index: ~analysis.settled(index) for index in analysis.sums}
    for _ in range(_MOST_SWEEPS):
        before = _count(kept)
        for index in reversed(range(len(analysis.roles))):
            role = analysis.roles[index]
            if isinstance(role, Sum) and not role.depthwise:
                computed = kept[role.target] & unseen[index]
                unseen[index] &= ~computed
                _sum(role, computed, analysis, kept)
            else:
                for tie in role.ties if role else ():
                    _tie(tie, kept)
        for tensor in shrinking if _count(kept) == before else ():
            kept[tensor][0] |= not kept[tensor].any()
        if _count(kept) == before:
            return kept
    return None


def _whole(graph: Subgraph, analysis: Facts) -> Iterator[int]:
    """Yield the operands that must keep all channels because of the operator that touches them."""
    for op, role in zip(graph.operators, analysis.roles, strict=True):
        shrinkable = role.tensors if role else ()
        yield from (tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None and tensor not in shrinkable)


def _sum(role: Sum, computed: Booleans, analysis: Facts, kept: Kept) -> None:
    """Keep the channels that newly kept outputs are computed from."""
    if not computed.any():
        return
    used = role.is_used[computed].any(0) & ~role.is_foldable(analysis.intervals[role.source])[role.channel]
    kept[role.source][role.channel[used]] = True


def _tie(tie: Tie, kept: Kept) -> None:
    source, target = kept[tie.source], kept[tie.target]
    source[tie.source_channels[target[tie.target_channels]]] = True
    target[tie.target_channels[source[tie.source_channels]]] = True


def _count(kept: Kept) -> int:
    return sum(int(np.count_nonzero(each)) for each in kept.values())
