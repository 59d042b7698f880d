"""Memory problems as Hypothesis draws them."""

from itertools import combinations

from hypothesis import strategies as st

from usmp_build.planner.memory.problem import Buffer, Pool, Problem


@st.composite
def problems(draw: st.DrawFn, most: int = 10, largest: int = 40) -> Problem:
    """Draw a problem of up to `most` buffers of up to `largest` bytes, in one to three pools."""
    limits = st.none() | st.integers(0, 4 * largest)
    pools = tuple(Pool(f"pool{i}", draw(limits)) for i in range(draw(st.integers(1, 3))))
    buffers = tuple(draw(buffers_of(f"b{i}", len(pools), largest)) for i in range(draw(st.integers(0, most))))
    pairs = [pair for pair in combinations(range(len(buffers)), 2) if draw(st.integers(0, 2))]
    separations = {
        (low, high): draw(st.integers(-largest, buffers[low].size))
        for a, b in pairs
        for low, high in ((a, b), (b, a))
        if draw(st.integers(0, 4)) == 0
    }
    neighbors: list[list[int]] = [[] for _ in buffers]
    for a, b in pairs:
        neighbors[a].append(b)
        neighbors[b].append(a)
    return Problem(pools, buffers, tuple(tuple(sorted(others)) for others in neighbors), separations)


@st.composite
def buffers_of(draw: st.DrawFn, name: str, pools: int, largest: int) -> Buffer:
    """Draw a buffer; at times its offset is given."""
    candidates = draw(st.lists(st.integers(0, pools - 1), min_size=1, unique=True))
    costs = draw(st.just(()) | st.tuples(*[st.integers(0, 9)] * len(candidates)))
    lives = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=2))
    intervals = tuple((5 * i + start, 5 * i + start + length) for i, (start, length) in enumerate(sorted(lives)))
    alignment = draw(st.sampled_from([1, 1, 2, 4, 8, 12]))
    size, offset = draw(st.integers(0, largest)), None
    if draw(st.integers(0, 9)) == 9:
        offset = draw(st.integers(0, largest)) * draw(st.sampled_from([1, alignment]))
    return Buffer(name, size, tuple(candidates), costs, alignment, intervals, offset)
