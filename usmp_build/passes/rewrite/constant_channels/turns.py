"""Keeps channels that are not needed if an operator would run more instructions without them.

DEPTHWISE_CONV_2D computes four channels in one turn, and each remaining one in a turn of its own:

    4 channels    1 turn
    3 channels    3 turns

So three channels cost more than four.  The other operators take no more turns for fewer channels: there the remainder
of blocks of four is one block, or every channel is a turn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.ir.graph import Subgraph
from usmp_build.passes.rewrite.constant_channels.forward import Facts
from usmp_build.passes.rewrite.constant_channels.needed import Kept, needed
from usmp_build.passes.rewrite.constant_channels.sums import Sum

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
