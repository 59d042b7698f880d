"""Why nothing fits, in figures."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.problems import CASES, alive, buffer, by_hand, load, problem
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.memory.bounds import Witness, pressure
from usmp_build.planner.memory.explain import explain
from usmp_build.planner.memory.increase import Increase
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Pool, Problem
from usmp_build.planner.memory.shortage import Shortage

LIVE = ((4, 5),)
CROWD = problem(
    [
        buffer("vww.t58", 18432, intervals=LIVE),
        buffer("vww.t60", 18432, intervals=LIVE),
        buffer("t1", 1536, intervals=LIVE),
    ],
    pools={"dtcm": 32768},
)


def never(_: Problem) -> Plan | None:
    return None


def tight() -> Problem:
    """A problem that fits exactly, but not as greedy_by_size plans it."""
    stated, best = load(next(path for path in CASES if path.stem == "tvm_intervals_simple"))
    assert best
    return replace(stated, pools=(Pool("ram", best["ram"]),))


def test_a_bound_is_a_proof() -> None:
    witness = Witness(38400, (0, 1, 2), 4)
    assert explain(CROWD, never) == (Shortage((0,), 32768, 5632, witness, core=(0, 1), proven=True),)
    assert explain(CROWD, GreedyBySize())[0].increases == (Increase(0, 5632, least=True),)


def test_the_core_is_irreducible() -> None:
    sizes = [900, 700, 500, 300, 300, 200, 100, 50]
    stated = problem([buffer(f"b{size}_{i}", size) for i, size in enumerate(sizes)], pools={"ram": 2350})
    core = explain(stated, never)[0].core
    assert [stated.buffers[index].size for index in core] == [900, 700, 500, 300]
    assert pressure(stated, core).bytes > 2350
    assert all(pressure(stated, set(core) - {index}).bytes <= 2350 for index in core)


def test_the_pool_that_lacks_most_is_named_first_but_each_family_has_its_reason() -> None:
    stated = problem(
        [buffer("a", 60), buffer("b", 90, (1,)), buffer("c", 9, (2,))],
        pools={"first": 50, "second": 60, "third": 9},
    )
    first, second = explain(stated, GreedyBySize())
    assert first == Shortage(
        (0,), 50, 10, Witness(60, (0,)), (0,), proven=True, increases=(Increase(0, 10, least=True),)
    )
    assert second == Shortage(
        (1,), 60, 30, Witness(90, (1,)), (1,), proven=True, increases=(Increase(1, 30, least=True),)
    )


def test_any_of_the_pools_may_grow() -> None:
    stated = problem([buffer(f"b{i}", 10 + i, (0, 1)) for i in range(9)], pools={"dtcm": 50, "sram": 60})
    (shortage,) = explain(stated, GreedyBySize())
    assert (shortage.pools, shortage.room, shortage.missing) == ((0, 1), 110, 16)
    for pool, bytes_, _ in shortage.increases:
        pools = list(stated.pools)
        pools[pool] = replace(pools[pool], limit=(pools[pool].limit or 0) + bytes_)
        assert GreedyBySize()(replace(stated, pools=tuple(pools))) is not None


def test_without_proof_the_algorithm_is_asked_about_fewer_buffers() -> None:
    """Buffers of another model, which fit, have no part in it."""
    stated = tight()
    lives = {f"other{i}": (100 + i, 102 + i, 1000) for i in range(20)}
    other = alive(lives)
    shift = len(stated.buffers)
    both = Problem(
        stated.pools,
        (*stated.buffers, *other.buffers),
        (*stated.conflicts, *(tuple(i + shift for i in others) for others in other.conflicts)),
    )
    assert GreedyBySize()(both) is None
    (shortage,) = explain(both, GreedyBySize())
    assert (shortage.pools, shortage.room, shortage.missing, shortage.proven) == ((0,), 216096, 4096, False)
    assert shortage.increases == (Increase(0, 4096, least=True),)
    assert shortage.core == (0, 1, 4, 3, 2)


def claiming(stated: Problem) -> Plan | None:
    """Plans like greedy_by_size, and says that nothing better is possible where all five buffers are there."""
    plan = GreedyBySize()(stated)
    if plan is None or len(stated.buffers) < 5:
        return plan
    return replace(plan, claims=(220192,))


def test_what_an_algorithm_claims_is_a_proof() -> None:
    (shortage,) = explain(tight(), claiming)
    assert (shortage.pools, shortage.room, shortage.missing, shortage.proven) == ((0,), 216096, 4096, True)
    assert len(shortage.core) == 5


def test_a_claim_counts_for_buffers_that_must_be_in_the_pool() -> None:
    stated = tight()
    elsewhere = tuple(replace(some, pools=(0, 1)) for some in stated.buffers)
    free = Problem((*stated.pools, Pool("small", 8)), elsewhere, stated.conflicts)
    assert not explain(free, claiming)[0].proven


def test_work_is_bounded() -> None:
    stated = alive({f"b{i:03}": (i, i + 9, 100 + i) for i in range(200)})
    asked: list[Problem] = []

    def reluctant(stated: Problem) -> Plan | None:
        asked.append(stated)
        return None

    limited = replace(stated, pools=(Pool("ram", 2700),))
    (shortage,) = explain(limited, reluctant)
    assert not shortage.proven
    assert len(asked) < 50


def test_two_buffers_that_must_be_at_one_place() -> None:
    stated = problem([buffer("a", 64, offset=0), buffer("b", 32, offset=32), buffer("c", 8)], pools={"ram": 500})
    (shortage,) = explain(stated, GreedyBySize())
    assert shortage == Shortage(witness=shortage.witness, core=(0, 1))


@pytest.mark.parametrize("algorithm", [never, lambda _: by_hand(1, 2, 3), lambda _: by_hand(*[0] * 10)])
def test_without_any_sound_plan_nothing_is_claimed(algorithm: Callable[[Problem], Plan | None]) -> None:
    (shortage,) = explain(tight(), algorithm)
    assert (shortage.pools, shortage.room, shortage.missing, shortage.proven) == ((), 0, 0, False)
    assert shortage.increases == ()


def test_an_algorithm_that_fails_at_the_whole_but_at_no_family() -> None:
    stated = problem([buffer("a", 1), buffer("b", 1, (1,))], pools={"one": 9, "two": 9})
    assert explain(stated, lambda some: GreedyBySize()(some) if len(some.buffers) < 2 else None) == (Shortage(),)


def test_a_fixed_buffer_that_ends_beyond_the_limit_is_the_whole_proof() -> None:
    """Together they exceed the limit by more, but the fixed one does so without the other."""
    stated = problem([buffer("fixed", 3, offset=1), buffer("other", 2)], pools={"ram": 3})
    (shortage,) = explain(stated, never)
    assert shortage.proven
    assert shortage.core == (0,)


def test_what_just_fits_proves_nothing() -> None:
    """Each of two buffers fills the pool, and each two of three fill both pools: only all of them are too many."""
    two = problem([buffer("a", 8), buffer("b", 8)], pools={"ram": 8})
    assert explain(two, never)[0].core == (0, 1)
    three = problem([buffer(name, 8, (0, 1)) for name in "abc"], pools={"one": 8, "two": 8})
    assert explain(three, never)[0].core == (0, 1, 2)


def test_a_pool_without_any_room() -> None:
    (shortage,) = explain(problem([buffer("a", 8)], pools={"ram": 0}), GreedyBySize())
    assert (shortage.room, shortage.missing, shortage.increases) == (0, 8, (Increase(0, 8, least=True),))


def claims_of(*bytes_: int) -> Callable[[Problem], Plan | None]:
    """Return an algorithm that stacks all buffers and claims that so many bytes are needed, where there are two."""

    def stacked(stated: Problem) -> Plan | None:
        plan = by_hand(*(sum(each.size for each in stated.buffers[:i]) for i in range(len(stated.buffers))))
        return replace(plan, claims=bytes_ if len(stated.buffers) == 2 else ())

    return stacked


@pytest.mark.parametrize(("claim", "missing"), [(16, 4), (13, 1), (12, 0), (11, 0), (0, 0)])
def test_a_claim_proves_what_exceeds_the_limit(claim: int, missing: int) -> None:
    stated = problem([buffer("a", 8), buffer("b", 8)], [], pools={"ram": 12})
    (shortage,) = explain(stated, claims_of(claim))
    assert (shortage.proven, shortage.core) == (missing > 0, (0, 1))
    assert shortage.missing == (missing if missing else 4)
    assert shortage.increases == (Increase(0, 4, least=True),)


def test_one_model_of_several_is_the_core() -> None:
    """Of two pairs and one more that do not meet the second has no plan: nothing is asked about the last one."""
    lives = {name: (4 * (i // 2), 4 * (i // 2) + 2, 4) for i, name in enumerate("abcde")}
    stated = replace(alive(lives), pools=(Pool("ram", 8),))
    asked: list[list[str]] = []

    def half(some: Problem) -> Plan | None:
        names = [each.name for each in some.buffers]
        asked.append(names)
        return None if {"c", "d"} <= set(names) else GreedyBySize()(some)

    (shortage,) = explain(stated, half)
    assert (shortage.core, shortage.proven) == ((2, 3), False)
    assert asked[:5] == [[*"abcde"], [*"abcde"], ["a", "b"], ["c", "d"], ["c"]]


def test_a_window_of_steps_is_the_core() -> None:
    """A chain in which only the middle has no plan: first what is born later is left out, then what dies earlier."""
    lives = {f"b{i}": (i, i + 2, 4) for i in range(12)}
    limits = (Pool("ram", 8),)
    stated = replace(alive(lives), pools=limits)
    asked: list[list[int]] = []

    def gap(some: Problem) -> Plan | None:
        names = [int(each.name[1:]) for each in some.buffers]
        if some.pools == limits:
            asked.append(names)
        return None if {5, 6} <= set(names) else GreedyBySize()(some)

    (shortage,) = explain(stated, gap)
    assert shortage.core == (5, 6)
    assert asked[:5] == [[*range(12)], [*range(6)], [*range(9)], [*range(7)], [6, 5, 4]]


def test_what_has_no_step_counts_as_born_first_and_what_lives_longest_stays() -> None:
    lives: dict[str, tuple[tuple[int, int], ...]] = {"z": ((0, 9),), "a": (), "b": ((0, 1),), "y": ((1, 2),)}
    stated = problem([buffer(name, 4, intervals=life) for name, life in lives.items()], pools={"ram": 16})
    asked: list[str] = []

    def pair(part: Problem) -> Plan | None:
        asked.append("".join(each.name for each in part.buffers))
        return by_hand(*range(0, 4 * len(part.buffers), 4)) if not {"y", "z"} <= {*asked[-1]} else None

    (shortage,) = explain(stated, pair)
    assert [stated.buffers[index].name for index in shortage.core] == ["y", "z"]
    assert [names for names in asked if len(names) < 4][:4] == ["ab", "abz", "zy", "z"]


@pytest.mark.parametrize(
    ("places", "increases"),
    [
        ((0, 8, 16), (Increase(0, 8, least=True),)),
        ((0, 8, 24), (Increase(0, 16, least=False),)),
        (((0, 0), (0, 8), (1, 0)), ()),
    ],
)
def test_a_plan_that_exceeds_one_pool_shows_how_much_is_enough(
    places: tuple[int, ...], increases: tuple[Increase, ...]
) -> None:
    stated = problem([buffer(name, 8) for name in "abc"], pools={"ram": 16, "none": None})
    (shortage,) = explain(stated, never, by_hand(*places))
    assert shortage.increases == increases
    (shortage,) = explain(stated, GreedyBySize(), by_hand(0, 8, 24))
    assert shortage.increases == (Increase(0, 8, least=True),)


def side_by_side(stated: Problem) -> Plan:
    """Stack all buffers, each in its last pool, and claim that nothing less is possible."""
    heights = [0] * len(stated.pools)
    places = []
    for each in stated.buffers:
        places.append((each.pools[-1], heights[each.pools[-1]]))
        heights[each.pools[-1]] += each.size
    return replace(by_hand(*places), claims=tuple(heights))


def test_the_core_of_a_claim_does_not_fit_where_fewer_buffers_do() -> None:
    """Two of three fill the pool: they are no proof."""
    stated = problem([buffer(name, 8) for name in "abc"], [], pools={"ram": 16})
    (shortage,) = explain(stated, side_by_side)
    assert (shortage.missing, shortage.core, shortage.proven) == (8, (0, 1, 2), True)


def test_a_pool_without_limit_is_never_too_small_whatever_is_claimed() -> None:
    buffers = [buffer("a", 8), buffer("b", 8, (0, 1)), buffer("c", 8, (1,))]
    (shortage,) = explain(problem(buffers, [], pools={"free": None, "ram": 12}), side_by_side)
    assert (shortage.pools, shortage.missing, shortage.proven) == ((1,), 4, False)


def test_where_an_algorithm_fails_it_claims_nothing_though_the_pool_has_no_byte() -> None:
    (shortage,) = explain(problem([buffer("empty", 0)], pools={"none": 0}), never)
    assert not shortage.proven


def test_what_a_bound_misses_among_many_it_proves_of_few() -> None:
    """The largest buffer hides three others, which are heavier together."""
    sizes = {"large": 10, "a": 6, "b": 6, "c": 6}
    pairs = [("large", "a"), ("a", "b"), ("b", "c"), ("a", "c")]
    stated = problem([buffer(name, size) for name, size in sizes.items()], pairs, pools={"ram": 17})
    proof = Shortage((0,), 17, 1, Witness(18, (1, 2, 3)), (1, 2, 3), proven=True, increases=(Increase(0, 5, True),))
    assert explain(stated, GreedyBySize()) == (proof,)


def wants(*limits: int | None) -> Callable[[Problem], Plan | None]:
    """Return an algorithm that finds a plan where one of the pools has as many bytes as it wants; None: never."""

    def plan(stated: Problem) -> Plan | None:
        pairs = zip(stated.limits, limits, strict=True)
        is_enough = any(wanted is not None and (limit is None or limit >= wanted) for limit, wanted in pairs)
        return GreedyBySize()(stated) if is_enough else None

    return plan


def shared(first: int, second: int) -> Problem:
    """Two buffers of a byte, the second of which may go to either pool."""
    return problem([buffer("a", 1), buffer("b", 1, (0, 1))], [], pools={"first": first, "second": second})


@pytest.mark.parametrize(("limits", "missing"), [((8, 0), (5, 3)), ((8, 3), (4, 2)), ((1, 1), (1, 1))])
def test_of_increases_that_are_no_proof_the_smallest_is_what_is_missing(
    limits: tuple[int, int], missing: tuple[int, int]
) -> None:
    wanted = (limits[0] + missing[0], limits[1] + missing[1])
    (shortage,) = explain(shared(*limits), wants(*wanted))
    assert shortage.increases == tuple(Increase(pool, bytes_, least=True) for pool, bytes_ in enumerate(missing))
    pool = missing.index(min(missing))
    assert (shortage.pools, shortage.room, shortage.missing) == ((pool,), limits[pool], min(missing))
    assert not shortage.proven


@pytest.mark.parametrize(("limit", "pool", "missing"), [(8, 0, 8), (10, 0, 6), (12, 1, 5)])
def test_where_no_pool_helps_alone_the_one_is_named_that_exceeds_its_limit_most(
    limit: int, pool: int, missing: int
) -> None:
    sizes = {"a": (8, (0,)), "b": (8, (0,)), "c": (5, (0, 1)), "d": (5, (1,))}
    buffers = [buffer(name, size, pools) for name, (size, pools) in sizes.items()]
    stated = problem(buffers, [], pools={"first": limit, "second": 5})
    (shortage,) = explain(stated, lambda part: side_by_side(part) if part.limits == (None, None) else None)
    room = stated.limits[pool]
    assert room is not None
    assert shortage == Shortage((pool,), room, missing, shortage.witness, shortage.core)


def test_pools_that_are_too_small_come_first_and_others_may_need_less() -> None:
    """Of two buffers only the larger pool holds either: it lacks 20 bytes, but the other one lacks only 1."""
    stated = problem([buffer("a", 51, (0, 1)), buffer("b", 69, (0, 1))], pools={"small": 50, "large": 100})
    (shortage,) = explain(stated, GreedyBySize())
    assert (shortage.pools, shortage.missing) == ((1,), 20)
    assert shortage.increases == (Increase(1, 20, least=True), Increase(0, 1, least=True))


@pytest.mark.parametrize(
    ("wanted", "increases"),
    [
        ((16, None), (Increase(0, 8, least=True),)),
        ((20, None), (Increase(0, 8, least=False),)),
        ((None, 12), (Increase(1, 4, least=True), Increase(0, 8, least=False))),
        ((20, 12), (Increase(1, 4, least=True), Increase(0, 8, least=False))),
        ((12, 20), (Increase(0, 4, least=True), Increase(1, 12, least=True))),
    ],
)
def test_a_plan_that_exceeds_one_pool_replaces_only_a_larger_increase_of_that_pool(
    wanted: tuple[int | None, int | None], increases: tuple[Increase, ...]
) -> None:
    """The plan takes 16 bytes of the first pool, and 1 of the second."""
    (shortage,) = explain(shared(8, 8), wants(*wanted), by_hand((0, 15), (1, 0)))
    assert shortage.increases == increases


@pytest.mark.parametrize(("count", "least"), [(44, True), (50, False)])
def test_of_a_large_problem_the_least_increase_is_not_looked_for_as_long(count: int, least: bool) -> None:
    """50 buffers that all conflict do so 2,450 times: that is a large problem."""
    stated = problem([buffer(f"b{i}", 1) for i in range(count)], pools={"ram": 100})
    ((increase,),) = [shortage.increases for shortage in explain(stated, wants(300))]
    assert increase.least == (increase.bytes == 200) == least
