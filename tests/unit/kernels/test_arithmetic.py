"""Fixed-point arithmetic in C is that in Python, at the edges, too, and never undefined."""

from __future__ import annotations

from pathlib import Path

from tests.support.kernels.driver import HEADERS
from tests.support.processes import output
from tests.support.tools import need
from usmp_build.arithmetic.fixed_point import multiply_high, shift_right
from usmp_build.kernels.reference import sources

FOLDER = Path(sources.__file__).parent / "c"
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
    output(["gcc", *flags, f"-I{HEADERS}", f"-I{FOLDER}", "main.c", "-o", "edges"], cwd=tmp_path)
    found = [int(line) for line in output([tmp_path / "edges"]).split()]
    assert found == [shift_right(v, n) for v in EDGES for n in range(32)]


def test_a_product_with_a_factor_below_one_is_never_the_least_number() -> None:
    """Whose negative overflows."""
    assert multiply_high(LEAST, 2**31 - 1) == LEAST + 1
