"""Arithmetic at the edges: in fixed point that of C is that of Python, and tables follow from any scales."""

import itertools
from pathlib import Path

import pytest

from tests.support.kernels.driver import HEADERS
from tests.support.processes import output
from tests.support.tools import need
from usmp_build.arithmetic import functions
from usmp_build.arithmetic.fixed_point import multiply_high, shift_right
from usmp_build.arithmetic.limits import Quantized
from usmp_build.kernels import dsp, mve, portable

INCLUDES = [f"-I{HEADERS}", *(f"-I{package.__path__[0]}/c" for package in (portable, dsp, mve))]
LEAST = -(2**31)
EDGES = [LEAST + 1, -(2**30), -3, -2, -1, 0, 1, 2, 3, 2**30, 2**31 - 2, 2**31 - 1]
MAIN = """
#include <stdio.h>
#include "arithmetic.h"

int main(void)
{
    static const int32_t values[] = { %s };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        for (int32_t count = 0; count < 32; ++count) {
            printf("%%ld\\n", (long)usmp_shift_right(values[i], count));
        }
    }
    return 0;
}
"""


def test_shifting_to_the_right_at_the_edges(tmp_path: Path) -> None:
    need("gcc")
    (tmp_path / "main.c").write_text(MAIN % ", ".join(map(str, EDGES)), "utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    output(["gcc", *flags, *INCLUDES, "main.c", "-o", "edges"], cwd=tmp_path)
    shifted = [int(line) for line in output([tmp_path / "edges"]).split()]
    assert shifted == [shift_right(v, n) for v in EDGES for n in range(32)]


SCALED = """
#include <stdio.h>
#include "arithmetic.h"
#include "scaling.h"

int main(void)
{
    static const int32_t values[] = { %s };
    static const int32_t multipliers[] = {0, 1 << 30, (1 << 30) + 1, 1518500250, INT32_MAX};
    int32_t wrong = 0;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        for (size_t m = 0; m < sizeof multipliers / sizeof multipliers[0]; ++m) {
            for (int32_t right = 1; right < 32; ++right) {
                const int32_t expected = usmp_scale_down(values[i], multipliers[m], right);
                const struct usmp_scaling scaling = usmp_scaling_by(multipliers[m], right);
                wrong += usmp_scaled(values[i], scaling, 1) != expected;
                wrong += usmp_scaled(values[i], scaling, 1 - 2 * 128) != expected - 128;
            }
            for (int32_t shift = multipliers[m] == 0 ? 0 : -31; shift < 3; ++shift) {
                const int32_t value = values[i] %% 4 == 0 ? INT32_MAX - (values[i] & 7) : values[i];
                const int32_t expected = usmp_scale(value, multipliers[m], shift);
                wrong += usmp_scaled_by_any(value, multipliers[m], shift) != expected;
            }
        }
        if (values[i] %% 2 == 0) {
            const struct usmp_scaling half = usmp_scaling_by(1 << 30, 0);
            wrong += usmp_scaled(values[i], half, 1) != usmp_scale_down(values[i], 1 << 30, 0);
        }
    }
    printf("%%ld\\n", (long)wrong);
    return 0;
}
"""


def test_scaling_in_loops_is_scaling(tmp_path: Path) -> None:
    """Of any value that a sum of two operands has, and between."""
    need("gcc")
    values = [
        *range(-300, 300),
        *(sign * (value + less) for value in (65025, 2**28, 2**30) for sign in (1, -1) for less in (-1, 0, 1)),
    ]
    (tmp_path / "main.c").write_text(SCALED % ", ".join(map(str, values)), "utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    output(["gcc", *flags, *INCLUDES, "main.c", "-o", "scaled"], cwd=tmp_path)
    assert output([tmp_path / "scaled"]).split() == ["0"]


def test_a_product_with_a_factor_below_one_is_never_the_least_number() -> None:
    """Whose negative overflows."""
    assert multiply_high(LEAST, 2**31 - 1) == LEAST + 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [functions.elu, functions.exp, functions.gelu, functions.gelu_tanh, functions.log])
def test_functions_have_tables_for_all_scales(function: functions.Function) -> None:
    for one, other in itertools.product((1e-45, 1e-20, 1.0, 1e20, 3e38), repeat=2):
        assert len(functions.table(function, Quantized(one, 3), Quantized(other, -4))) == 256
        assert len(functions.interpolated(function, one, other)) == 2 * 513
        assert len(functions.sqrt(Quantized(one, 3), Quantized(other, -4))) == 256
