"""Arrays of numbers are scaled as single ones are, and as C does it."""

import ctypes
from pathlib import Path

import numpy as np

from tests.support.processes import output
from tests.support.tools import need
from usmp_build.arithmetic import fixed_point, vectors
from usmp_build.arithmetic.fixed_point import ONE, Factor, quantize

RANDOM = np.random.default_rng(5)
VALUES = np.array([0, 1, -1, ONE - 1, -ONE, -ONE + 1, *RANDOM.integers(-ONE, ONE, 500)], np.int64)
FACTORS = [
    *map(quantize, [*RANDOM.uniform(0, 1, 40), *np.exp(RANDOM.uniform(-25, 20, 60)), 1.0, 0.5]),
    Factor(0, 0),
    Factor(ONE // 2, 30),
    Factor(ONE - 1, -31),
]
HEADER = Path(fixed_point.__file__).parents[1] / "kernels" / "portable" / "c"


def test_an_array_is_scaled_as_its_numbers_are() -> None:
    scaled = vectors.scale(VALUES[:, None], FACTORS)
    assert scaled.tolist() == [[fixed_point.scale(int(value), factor) for factor in FACTORS] for value in VALUES]


def test_one_factor_is_for_all() -> None:
    assert vectors.scale(VALUES, FACTORS[:1]).tolist() == [fixed_point.scale(int(v), FACTORS[0]) for v in VALUES]


def test_low_bits_are_kept() -> None:
    wide = np.array([ONE, -ONE - 1, 3 * ONE, 5], np.int64)
    assert vectors.wrap(wide).tolist() == [fixed_point.wrap(int(v)) for v in wide] == [-ONE, ONE - 1, -ONE, 5]


def test_c_scales_as_python_does(tmp_path: Path) -> None:
    need("cc")
    (tmp_path / "usmp.h").write_text("#include <stdint.h>\n#include <stddef.h>\n")
    (tmp_path / "scale.c").write_text(
        '#include "arithmetic.h"\nint32_t scale(int32_t v, int32_t m, int32_t s) { return usmp_scale(v, m, s); }\n'
    )
    library = tmp_path / "scale.so"
    flags = ["-shared", "-fPIC", f"-I{tmp_path}", f"-I{HEADER}"]
    output(["cc", *flags, "-o", library, tmp_path / "scale.c"])
    function = ctypes.CDLL(str(library)).scale
    function.restype = ctypes.c_int32
    for factor in FACTORS:
        expected = vectors.scale(VALUES, [factor]).tolist()
        assert [function(int(value), factor.multiplier, factor.shift) for value in VALUES] == expected
