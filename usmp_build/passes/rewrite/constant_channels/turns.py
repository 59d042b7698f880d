"""Channels that nobody needs stay where an operator would run more instructions without them.

DEPTHWISE_CONV_2D takes four channels in one turn, and each of those that are left over in a turn of its own:

    4 channels    1 turn
    3 channels    3 turns

So three channels cost more than four.  The other operators take no more turns for fewer channels: what is left over
from blocks of four is one block there, or every channel is a turn.
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
"""Outputs that our kernels compute in one turn; a test compares it with what they declare."""
_MOST_ROUNDS = 16
"""A model in which so many convolutions, one by one, would cost more keeps all it has."""


def needed_in_no_more_turns(graph: Subgraph, known: Facts, demanded: set[int]) -> Kept | None:
    """Return what must be kept so that no operator takes more turns; as `needed`."""
    besides: dict[int, Booleans] = {}
    for _ in range(_MOST_ROUNDS):
        kept = needed(graph, known, demanded, besides)
        filled = dict(_filled(known, kept)) if kept is not None else {}
        if not filled:
            return kept
        besides |= filled
    return None


def _filled(known: Facts, kept: Kept) -> Iterator[tuple[int, Booleans]]:
    """Yield the outputs of convolutions that would take more turns, and what of them is kept with whole blocks."""
    for role in known.roles:
        if isinstance(role, Sum) and role.depthwise and len(kept[role.source]) == len(role.bias):
            own = kept[role.target]
            count = int(np.count_nonzero(own))
            if _turns(count) > _turns(len(own)):
                more = np.flatnonzero(~own)[: -count % BLOCK]
                yield role.target, own | np.isin(np.arange(len(own)), more)


def _turns(channels: int) -> int:
    blocks, rest = divmod(channels, BLOCK)
    return blocks + rest
