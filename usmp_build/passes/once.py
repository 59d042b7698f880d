"""Deduplicates constants: equal ones are stored once, within and across models.

Two constants with the same bytes and element type are merged if the candidate pools of one are a subset of those of the
other; the merged constant has the subset.  That never loses a plan, since the bytes are needed in those pools anyway.
Of {tcm, flash}, {flash} and {itcm}, the first is merged with the second, and the third stays separate: a rule of
`place` is always obeyed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import lcm

from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType
from usmp_build.ir.storage import Kind, Storage, StorageBuffer


def once(storage: Storage) -> Storage:
    """Return the storage with equal constants merged."""
    result = merged(storage.buffers)
    new_index = result.numbers
    return replace(
        storage,
        buffers=result.buffers,
        tensors={ref: new_index[buffer] for ref, buffer in storage.tensors.items()},
        scratch={
            operator: tuple(new_index[index] for index in indices) for operator, indices in storage.scratch.items()
        },
        derived={
            operator: tuple(new_index[index] for index in indices) for operator, indices in storage.derived.items()
        },
        rows={new_index[first]: count for first, count in storage.rows.items()},
        edges={new_index[buffer]: count for buffer, count in storage.edges.items()},
        seals={pool: new_index[seal] for pool, seal in storage.seals.items()},
        initial={new_index[variable]: new_index[constant] for variable, constant in storage.initial.items()},
        repeated=result.saved,
    )


@frozen
class Merged:
    """The buffers after merging."""

    buffers: tuple[StorageBuffer, ...]
    numbers: Sequence[int]
    """Old index of a buffer → new index."""
    saved: int
    """Total size of the constants removed, in bytes."""


def merged(buffers: Sequence[StorageBuffer]) -> Merged:
    """Merge equal constants, except those that must stay apart."""
    equal: dict[tuple[DType, bytes], list[int]] = {}
    for index, buffer in enumerate(buffers):
        if buffer.kind is Kind.CONSTANT and not buffer.stays_apart:
            equal.setdefault((buffer.dtype, buffer.data or b""), []).append(index)
    representative = list(range(len(buffers)))
    merged_buffers = dict(enumerate(buffers))
    groups = (group for members in equal.values() for group in _groups(buffers, members))
    for group, pools in groups:
        merged_buffers[group[0]] = _together([buffers[index] for index in group], pools)
        for index in group:
            representative[index] = group[0]
    new_index = {index: number for number, index in enumerate(sorted(set(representative)))}
    saved = sum(buffer.size for index, buffer in enumerate(buffers) if index not in new_index)
    numbers = [new_index[index] for index in representative]
    return Merged(tuple(merged_buffers[index] for index in new_index), numbers, saved)


def _together(group: Sequence[StorageBuffer], pools: tuple[int, ...]) -> StorageBuffer:
    models = tuple(sorted({model for buffer in group for model in buffer.models}))
    alignment = lcm(*(buffer.alignment for buffer in group))
    equal_names = tuple(buffer.name for buffer in group[1:])
    longest = max(group, key=lambda buffer: buffer.tail)
    return replace(
        group[0],
        models=models,
        pools=pools,
        alignment=alignment,
        tail=longest.tail,
        reason=longest.reason,
        equals=equal_names,
    )


def _groups(buffers: Sequence[StorageBuffer], members: Sequence[int]) -> Iterable[tuple[list[int], tuple[int, ...]]]:
    """Return groups of equal constants to be merged, each with the candidate pools of the result.

    Constants with minimal sets of pools keep these; every other one joins the set that it prefers.  The order of
    `members` decides nothing but which of a group comes first.
    """
    choices = sorted({buffers[index].pools for index in members})
    minimal: dict[frozenset[int], tuple[int, ...]] = {}
    for pools in choices:
        if not any(set(other) < set(pools) for other in choices):
            minimal.setdefault(frozenset(pools), pools)
    groups: dict[frozenset[int], list[int]] = {}
    for index in members:
        groups.setdefault(_preferred(buffers[index].pools, minimal), []).append(index)
    return [(group, minimal[pools]) for pools, group in groups.items()]


def _preferred(pools: tuple[int, ...], minimal: Mapping[frozenset[int], tuple[int, ...]]) -> frozenset[int]:
    """Return the minimal set of pools that a constant with these candidates prefers."""
    rank = {pool: position for position, pool in enumerate(pools)}
    reachable = (candidate for candidate in minimal if candidate <= rank.keys())
    return min(reachable, key=lambda candidate: sorted(rank[pool] for pool in candidate))
