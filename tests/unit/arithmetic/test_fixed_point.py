"""The fixed-point arithmetic by its definition: exact fractions, rounded."""

import math
from fractions import Fraction

import numpy as np
import pytest

from usmp_build.arithmetic import tables
from usmp_build.arithmetic.fixed_point import (
    ONE,
    Factor,
    multiply_high,
    quantize,
    round_half_away,
    scale,
    shift_left,
    shift_right,
    wrap,
)

RANDOM = np.random.default_rng(11)
INTS = [0, 1, -1, ONE - 1, -ONE, *RANDOM.integers(-ONE, ONE, 200).tolist()]
FACTORS = [*RANDOM.uniform(0, 1, 100), *np.exp(RANDOM.uniform(-25, 15, 100)), 1.0, 0.5, 1 - 2.0**-40]


@pytest.mark.parametrize("real", FACTORS)
def test_a_factor_is_normalized_and_near(real: float) -> None:
    factor = quantize(real)
    if factor.multiplier:
        assert ONE // 2 <= factor.multiplier < ONE
    value = Fraction(factor.multiplier) * Fraction(2) ** (factor.shift - 31)
    assert abs(value - Fraction(real)) <= max(Fraction(real) / 2**31, Fraction(1, 2**32))


def test_high_products_round_halves_up() -> None:
    for a in INTS:
        for b in INTS[:20]:
            exact = Fraction(a * b, ONE)
            assert multiply_high(a, b) == min(math.floor(exact + Fraction(1, 2)), ONE - 1)


def test_shifts_round_halves_away_from_zero() -> None:
    for value in INTS:
        for count in (0, 1, 5, 31):
            exact = Fraction(abs(value), 1 << count)
            nearest = math.floor(exact + Fraction(1, 2))
            assert shift_right(value, count) == (nearest if value >= 0 else -nearest)


def test_scaling_is_within_one_of_the_product() -> None:
    for value in INTS:
        factor = quantize(0.3)
        assert abs(scale(value, factor) - value * 0.3) <= 1


def test_overflow_wraps_where_tflm_shifts_out_bits_and_saturates_elsewhere() -> None:
    assert wrap(ONE) == -ONE
    assert scale(ONE // 2, Factor(ONE // 2, 1)) == -ONE // 2
    assert (shift_left(ONE // 2, 1), shift_left(-ONE // 2, 2)) == (ONE - 1, -ONE)


@pytest.mark.parametrize(("value", "rounded"), [(0.5, 1), (-0.5, -1), (1.4, 1), (-2.5, -3), (2.0**40 + 0.5, 2**40 + 1)])
def test_round(value: float, rounded: int) -> None:
    assert round_half_away(value) == rounded


def test_exponential_logistic_and_tanh_are_what_their_names_say() -> None:
    for bits in (4, 5):
        for x in range(-(1 << 31) + 1, 1, 98765432):
            real = x / 2 ** (31 - bits)
            assert tables.exp_of_negative(x, bits) / ONE == pytest.approx(math.exp(real), abs=3e-7)
    for x in range(-(1 << 31) + 1, 1 << 31, 98765432):
        real = x / 2**27
        assert tables.logistic(x) / 256 + 0.5 == pytest.approx(1 / (1 + math.exp(-real)), abs=0.5 / 256 + 1e-6)
        assert tables.tanh(x) / 128 == pytest.approx(math.tanh(real), abs=0.5 / 128 + 1e-6)


def test_a_table_is_computed_once_however_many_operators_have_it() -> None:
    asked: list[int] = []

    def halved(x: int) -> int:
        asked.append(x)
        return x >> 25

    first, again, other = (tables.of_scale(halved, 0.001, zero) for zero in (0, 0, 3))
    assert first == again != other
    assert len(asked) == 2 * 256
