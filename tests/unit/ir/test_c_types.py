"""Constants as text that C compilers read: the same values, dense, in lines that fit."""

import numpy as np
import pytest

from usmp_build.ir.c_types import value_lines
from usmp_build.ir.graph import DType

TYPES = [DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.FLOAT32, DType.BOOL]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("count", [0, 1, 28, 29, 1000])
def test_the_values_are_there_in_full_lines(dtype: DType, count: int) -> None:
    values = np.arange(count).astype(dtype.numpy) * np.array(-7).astype(dtype.numpy)
    lines = list(value_lines(values.tobytes(), dtype))
    assert all(line == line.strip() and line.endswith(",") for line in lines)
    assert all(100 < len(line) <= 112 for line in lines[:-1])
    shown = "".join(lines).replace(" ", "").split(",")[:-1]
    read = np.array([float(text.rstrip("f")) for text in shown]).astype(dtype.numpy)
    assert read.tobytes() == values.tobytes()


def test_a_weight_takes_its_digits_and_a_comma() -> None:
    weights = np.random.default_rng(1).integers(-128, 128, 10_000).astype(np.int8)
    lines = list(value_lines(weights.tobytes(), DType.INT8))
    assert sum(map(len, lines)) == sum(len(f"{value},") for value in weights.tolist())
