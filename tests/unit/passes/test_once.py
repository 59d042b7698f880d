"""Equal constants are stored once, where that takes no choice from any plan."""

import itertools
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from usmp_build.ir.graph import DType
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.passes.once import merged

A, B, C = 0, 1, 2
"""Pools."""


def constant(
    *pools: int, data: bytes = b"abcd", model: int = 0, dtype: DType = DType.INT8, name: str = "m.c"
) -> StorageBuffer:
    return StorageBuffer(name, Kind.CONSTANT, (model,), len(data), dtype.alignment, dtype, pools, "", data)


def left(*buffers: StorageBuffer) -> list[tuple[int, ...]]:
    return [buffer.pools for buffer in merged(buffers).buffers]


def test_the_smaller_choice_of_pools_holds_for_both() -> None:
    result = merged([constant(A, B, model=1, name="x"), constant(B, model=0, name="y")])
    assert [(b.name, b.models, b.pools) for b in result.buffers] == [("x", (0, 1), (B,))]
    assert (result.numbers, result.saved) == ([0, 0], 4)


def test_what_is_left_knows_the_names_of_what_is_gone() -> None:
    buffers = merged([constant(A, name="x"), constant(A, data=b"efgh", name="y"), constant(A, name="z")]).buffers
    assert [(b.name, b.equals) for b in buffers] == [("x", ("z",)), ("y", ())]


def test_choices_that_only_overlap_stay_apart() -> None:
    assert left(constant(A, B), constant(B, C)) == [(A, B), (B, C)]
    assert left(constant(A), constant(B)) == [(A,), (B,)]


def test_one_that_could_go_with_two_goes_where_it_would_rather_be() -> None:
    assert left(constant(B, A), constant(A), constant(B)) == [(B,), (A,)]
    assert merged([constant(B, A), constant(A), constant(B)]).numbers == [0, 1, 0]


def test_the_same_pools_in_another_order_are_one_choice() -> None:
    assert left(constant(B, A), constant(A, B)) == left(constant(A, B), constant(B, A)) == [(A, B)]


def test_only_the_same_bytes_of_the_same_type() -> None:
    others = [constant(A, data=b"abce"), constant(A, data=b"abc"), constant(A, dtype=DType.UINT8)]
    assert len(merged([constant(A), *others]).buffers) == 4


def test_what_is_kept_apart_stays() -> None:
    """A constant that is written, say."""
    result = merged([constant(A), replace(constant(A), stays_apart=True), constant(A)])
    assert (len(result.buffers), result.numbers) == (2, [0, 1, 0])


def test_alignments_are_all_obeyed_and_constants_of_no_bytes_are_one() -> None:
    aligned = StorageBuffer("m.c", Kind.CONSTANT, (0,), 4, 16, DType.INT8, (A,), "", b"abcd")
    assert [b.alignment for b in merged([constant(A), aligned]).buffers] == [16]
    assert len(merged([constant(A, data=b""), constant(A, B, data=b"")]).buffers) == 1


def test_the_longest_tail_stays_and_says_why() -> None:
    longer = replace(constant(A, name="z"), tail=16, reason="16 bytes behind it are read")
    for buffers in itertools.permutations([constant(A, name="x"), replace(constant(A, name="y"), tail=3), longer]):
        assert [(b.tail, b.reason) for b in merged(buffers).buffers] == [(16, longer.reason)]


def test_other_buffers_keep_their_order() -> None:
    tensor = StorageBuffer("m.x", Kind.INPUT, (0,), 4, 1, DType.INT8, (A,), "")
    result = merged([tensor, constant(A), constant(A), tensor])
    assert [b.kind for b in result.buffers] == [Kind.INPUT, Kind.CONSTANT, Kind.INPUT]
    assert result.numbers == [0, 1, 1, 2]


choices = st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=3, unique=True).map(tuple)
constants = st.builds(lambda pools, data: constant(*pools, data=data), choices, st.sampled_from([b"ab", b"cd", b"efg"]))


def fits(buffers: tuple[StorageBuffer, ...], limits: tuple[int, int, int]) -> bool:
    for places in itertools.product(*(buffer.pools for buffer in buffers)):
        used = [0, 0, 0]
        for buffer, pool in zip(buffers, places, strict=True):
            used[pool] += buffer.size
        if all(bytes_ <= limit for bytes_, limit in zip(used, limits, strict=True)):
            return True
    return False


@given(st.lists(constants, max_size=6), st.tuples(*[st.integers(0, 8)] * 3))
def test_what_fits_apart_fits_together(buffers: list[StorageBuffer], limits: tuple[int, int, int]) -> None:
    result = merged(buffers)
    assert fits(result.buffers, limits) or not fits(tuple(buffers), limits)
    for before, number in zip(buffers, result.numbers, strict=True):
        after = result.buffers[number]
        assert (after.data, after.dtype) == (before.data, before.dtype)
        assert set(after.pools) <= set(before.pools)


@given(st.lists(constants, max_size=6), st.randoms())
def test_the_order_of_declaration_changes_nothing(buffers: list[StorageBuffer], draw: random.Random) -> None:
    shuffled = sorted(buffers, key=lambda _: draw.random())
    described = [sorted((b.data, b.pools) for b in merged(each).buffers) for each in (buffers, shuffled)]
    assert described[0] == described[1]
