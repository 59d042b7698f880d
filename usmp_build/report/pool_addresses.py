"""Planned pools whose addresses the manifest knows: no one may run into the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from usmp_build.errors import Diagnostic, DoesNotFit
from usmp_build.layout import PoolRow
from usmp_build.request import PoolRequest, Request
from usmp_build.units import align_up, count_bytes


def refuse_overlapping_pools(request: Request, pools: Sequence[PoolRow]) -> None:
    """Compare planned sizes with addresses.  Raises DoesNotFit with every pool that runs into another one."""
    if diagnostics := tuple(_meetings(request.pools, pools)):
        raise DoesNotFit(*diagnostics)


def _meetings(requests: Sequence[PoolRequest], pools: Sequence[PoolRow]) -> Iterator[Diagnostic]:
    pairs = zip(pools, requests, strict=True)
    fixed = [(pool.origin, pool, request) for pool, request in pairs if pool.size and pool.origin is not None]
    ranges = sorted(fixed, key=lambda item: item[0])
    for (start, lower, request), (following, upper, _) in pairwise(ranges):
        over = start + lower.size - following
        if over > 0:
            message = (
                f'pool "{lower.name}" needs {count_bytes(lower.size)} from 0x{start:08X}, and pool "{upper.name}" '
                f"is at 0x{following:08X}: {count_bytes(over)} missing"
            )
            free = align_up(start + lower.size, upper.alignment)
            smaller = f', or give "{lower.name}" size = {following - start}, so that the rest goes to other pools'
            help_ = f'move "{upper.name}" to 0x{free:08X} or beyond{smaller if following > start else ""}'
            yield Diagnostic("P361", message, request.span, help_)
