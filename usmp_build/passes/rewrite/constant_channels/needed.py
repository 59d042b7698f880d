"""Finds the channels that must be kept, by propagating needs backward from the outputs of the model.

A channel is removed unless it is needed.  A sum needs the channels of its input that have a nonzero weight for an
output that is kept, unless they are constant and the bias can absorb them, or the output itself is constant.  Tied
channels are kept or removed together.  No tensor loses all of its channels.

Channels that are not needed are kept if an operator would run more instructions without them.  DEPTHWISE_CONV_2D
computes four channels in one turn, and each remaining one in a turn of its own:

    4 channels    1 turn
    3 channels    3 turns

So three channels cost more than four.  The other operators take no more turns for fewer channels: there the remainder
of blocks of four is one block, or every channel is a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.ir.graph import Subgraph
from usmp_build.passes.rewrite.constant_channels.forward import Facts
from usmp_build.passes.rewrite.constant_channels.sums import Sum, Tie

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
        _sweep(analysis, unseen, kept)
        if _count(kept) == before:
            for tensor in shrinking:
                kept[tensor][0] |= not kept[tensor].any()
            if _count(kept) == before:
                return kept
    return None


def _sweep(analysis: Facts, unseen: Mapping[int, Booleans], kept: Kept) -> None:
    """Keep what each operator needs, from the last to the first; a sum looks once at each output that is kept."""
    for index in reversed(range(len(analysis.roles))):
        role = analysis.roles[index]
        if isinstance(role, Sum) and not role.depthwise:
            computed = kept[role.target] & unseen[index]
            unseen[index][computed] = False
            _sum(role, computed, analysis, kept)
        elif role is not None:
            for tie in role.ties:
                _tie(tie, kept)


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


BLOCK = 4
"""Outputs that our kernels compute in one turn; a test compares this with their declarations."""
_MOST_ROUNDS = 16
"""Most rounds; if convolutions still cost more after them, all channels are kept."""


def needed_in_no_more_turns(graph: Subgraph, analysis: Facts, demanded: set[int]) -> Kept | None:
    """Return the channels to keep, as `needed`, such that no operator takes more turns."""
    besides: dict[int, Booleans] = {}
    for _ in range(_MOST_ROUNDS):
        kept = needed(graph, analysis, demanded, besides)
        filled = dict(_filled(analysis, kept)) if kept is not None else {}
        if not filled:
            return kept
        besides |= filled
    return None


def _filled(analysis: Facts, kept: Kept) -> Iterator[tuple[int, Booleans]]:
    """Yield outputs of convolutions that would take more turns, each with channels that fill up whole blocks."""
    for role in analysis.roles:
        if isinstance(role, Sum) and role.depthwise and len(kept[role.source]) == len(role.bias):
            output_kept = kept[role.target]
            count = int(np.count_nonzero(output_kept))
            if _turns(count) > _turns(len(output_kept)):
                more = np.flatnonzero(~output_kept)[: -count % BLOCK]
                yield role.target, output_kept | np.isin(np.arange(len(output_kept)), more)


def _turns(channels: int) -> int:
    blocks, rest = divmod(channels, BLOCK)
    return blocks + rest
