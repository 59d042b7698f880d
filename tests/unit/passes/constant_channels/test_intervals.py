"""The arithmetic of intervals: what goes in between the ends comes out between the ends."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.arithmetic import fixed_point, vectors
from usmp_build.arithmetic.fixed_point import ONE, Factor
from usmp_build.operators.values.interval import Interval
from usmp_build.operators.values.transfer import scaled
from usmp_build.passes.rewrite.constant_channels.read_sums import taps
from usmp_build.passes.rewrite.constant_channels.sums import Sum

FACTORS = st.builds(Factor, st.integers(ONE // 2, ONE - 1), st.integers(-31, 30))
INTS = st.integers(-ONE, ONE - 1)
BYTES = st.integers(-128, 127)


@given(INTS, INTS, st.integers(0, 1000), FACTORS)
def test_scaling_keeps_the_order_of_what_fits(a: int, b: int, between: int, factor: Factor) -> None:
    low, high = sorted((a, b))
    value = low + (high - low) * between // 1000
    if vectors.fits(np.array([low, high]), [factor]).all():
        ends = (fixed_point.scale(each, factor) for each in (low, value, high))
        least, middle, most = ends
        assert least <= middle <= most


@given(INTS, FACTORS)
def test_what_fits_is_not_wrapped(value: int, factor: Factor) -> None:
    shifted = value << max(factor.shift, 0)
    assert bool(vectors.fits(np.array([value]), [factor])[0]) == (fixed_point.wrap(shifted) == shifted)


@given(st.integers(-(1 << 40), 1 << 40), st.integers(0, 1 << 40), FACTORS, BYTES)
def test_what_may_wrap_may_be_anything(low: int, width: int, factor: Factor, zero_point: int) -> None:
    x = Interval(np.array([low]), np.array([low + width]))
    y = scaled(x, factor, zero_point, (-100, 90))
    for value in (low, low + width // 2, low + width):
        output = fixed_point.scale(fixed_point.wrap(value), factor) + zero_point
        assert y.low[0] <= min(max(output, -100), 90) <= y.high[0]


@st.composite
def sums(draw: st.DrawFn) -> tuple[Sum, Interval]:
    """Draw two outputs of three taps over two inputs, with padding on either side, and what the inputs may be."""
    weights = np.array(draw(st.lists(BYTES, min_size=12, max_size=12)), np.int8).reshape(2, 3, 2)
    bias = np.array(draw(st.lists(INTS, min_size=2, max_size=2)), np.int64)
    outside = np.array([draw(st.booleans()), False, draw(st.booleans())])
    ends = np.sort(np.array(draw(st.lists(BYTES, min_size=4, max_size=4)), np.int64).reshape(2, 2), 1)
    factors = tuple(draw(st.lists(FACTORS, min_size=2, max_size=2)))
    inside = np.ones(3, np.bool_)
    points = draw(BYTES), draw(BYTES)
    layer = Sum(
        0, 1, weights, draw(BYTES), np.arange(2), False, bias, True, inside, outside, factors, *points, (-128, 127)
    )
    return layer, Interval(ends[:, 0], ends[:, 1])


@given(sums(), st.integers(0, 2**32 - 1))
@settings(max_examples=300)
def test_sums_and_outputs_lie_between_their_ends(drawn: tuple[Sum, Interval], seed: int) -> None:
    layer, x = drawn
    r = np.random.default_rng(seed)
    acc = layer.accumulated(x)
    y = layer.output(acc)
    for _ in range(8):
        pixels = r.integers(x.low, x.high, (3, 2), endpoint=True)
        if r.random() < 0.5:
            pixels = np.where(r.random((3, 2)) < 0.5, x.low, x.high)
        seen = ~layer.outside | (r.random(3) < 0.5)
        total = (layer.widened() * ((pixels - layer.zero_point) * seen[:, None])).sum((1, 2)) + layer.bias
        assert ((acc.low <= total) & (total <= acc.high)).all()
        for output, value in enumerate(total.tolist()):
            result = fixed_point.scale(fixed_point.wrap(value), layer.factors[output]) + layer.target_zero_point
            assert y.low[output] <= min(max(result, -128), 127) <= y.high[output]


@given(sums())
def test_the_ends_of_sums_are_reached(drawn: tuple[Sum, Interval]) -> None:
    """Nothing is given away: without padding, some input makes each end."""
    layer, x = drawn
    layer = replace(layer, outside=np.zeros(3, np.bool_))
    acc = layer.accumulated(x)
    for end, for_positive, for_negative in ((acc.low, x.low, x.high), (acc.high, x.high, x.low)):
        pixels = np.where(layer.widened() > 0, for_positive, for_negative) - layer.zero_point
        assert ((layer.widened() * pixels).sum((1, 2)) + layer.bias).tolist() == end.tolist()


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(0, 4))
def test_taps_are_seen_where_they_are(
    size: int, places: int, window: int, stride: int, dilation: int, pad: int
) -> None:
    seen = taps(size, places, window, stride, dilation, pad)
    for tap in range(window):
        pixels = [place * stride + tap * dilation - pad for place in range(places)]
        assert bool(seen.outside[tap]) == any(not 0 <= pixel < size for pixel in pixels)
        assert bool(seen.inside[tap]) >= any(0 <= pixel < size for pixel in pixels)
