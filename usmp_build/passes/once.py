"""Storage → Storage: equal constants are stored once, within and across models.

Two constants with the same bytes and elements of the same type become one where the pools of one are among those of
the other: the smaller choice holds for both.  That never loses a plan, for the bytes are needed in those pools anyway.
Of {tcm, flash}, {flash} and {itcm}, the first goes with the second, and the third stays: a rule of `place` keeps its
word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm

from usmp_build.ir.graph import DType
from usmp_build.ir.storage import Kind, Storage, StorageBuffer


def once(storage: Storage) -> Storage:
    """Leave one of equal constants, and let all that had another have that one."""
    result = merged(storage.buffers)
    now = result.numbers
    return replace(
        storage,
        buffers=result.buffers,
        tensors={ref: now[buffer] for ref, buffer in storage.tensors.items()},
        scratch={operator: tuple(now[each] for each in own) for operator, own in storage.scratch.items()},
        derived={operator: tuple(now[each] for each in own) for operator, own in storage.derived.items()},
        rows={now[first]: count for first, count in storage.rows.items()},
        seals={pool: now[seal] for pool, seal in storage.seals.items()},
        initial={now[variable]: now[constant] for variable, constant in storage.initial.items()},
        repeated=result.saved,
    )


@dataclass(frozen=True)
class Merged:
    """The buffers that are left."""

    buffers: tuple[StorageBuffer, ...]
    numbers: Sequence[int]
    """Buffer of before → buffer of now."""
    saved: int
    """Bytes of the constants that are gone."""


def merged(buffers: Sequence[StorageBuffer]) -> Merged:
    """Merge equal constants, but for those that stay apart."""
    equal: dict[tuple[DType, bytes], list[int]] = {}
    for index, buffer in enumerate(buffers):
        if buffer.kind is Kind.CONSTANT and not buffer.stays_apart:
            equal.setdefault((buffer.dtype, buffer.data or b""), []).append(index)
    stands = list(range(len(buffers)))
    made = dict(enumerate(buffers))
    groups = (group for members in equal.values() for group in _groups(buffers, members))
    for group, pools in groups:
        made[group[0]] = _together([buffers[index] for index in group], pools)
        for index in group:
            stands[index] = group[0]
    left = {index: number for number, index in enumerate(sorted(set(stands)))}
    gone = sum(buffer.size for index, buffer in enumerate(buffers) if index not in left)
    return Merged(tuple(made[index] for index in left), [left[index] for index in stands], gone)


def _together(group: Sequence[StorageBuffer], pools: tuple[int, ...]) -> StorageBuffer:
    models = tuple(sorted({model for buffer in group for model in buffer.models}))
    alignment = lcm(*(buffer.alignment for buffer in group))
    equals = tuple(buffer.name for buffer in group[1:])
    return replace(group[0], models=models, pools=pools, alignment=alignment, equals=equals)


def _groups(buffers: Sequence[StorageBuffer], members: Sequence[int]) -> Iterable[tuple[list[int], tuple[int, ...]]]:
    """Yield constants that become one, and the pools that are left to it.

    Those whose pools are the fewest keep theirs; others go where they would rather be.  Nothing depends on the order of
    the members but which of them comes first.
    """
    choices = sorted({buffers[index].pools for index in members})
    fewest: dict[frozenset[int], tuple[int, ...]] = {}
    for pools in choices:
        if not any(set(other) < set(pools) for other in choices):
            fewest.setdefault(frozenset(pools), pools)
    groups: dict[frozenset[int], list[int]] = {}
    for index in members:
        groups.setdefault(_preferred(buffers[index].pools, fewest), []).append(index)
    return [(group, fewest[pools]) for pools, group in groups.items()]


def _preferred(pools: tuple[int, ...], fewest: Mapping[frozenset[int], tuple[int, ...]]) -> frozenset[int]:
    """Return which of the fewest pools a constant with these candidates prefers."""
    rank = {pool: position for position, pool in enumerate(pools)}
    able = (each for each in fewest if each <= rank.keys())
    return min(able, key=lambda each: sorted(rank[pool] for pool in each))
