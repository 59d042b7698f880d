"""Operators that read constants only: which are done at build time, and which stay."""

import tracemalloc

import numpy as np
import pytest

from tests.support.road import model
from usmp_build.ir.graph import Subgraph
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import NO_PINS, Pins


def folded(
    operator: str, constants: list[str], message: str, pins: Pins = NO_PINS, reader: str = "ADD(%0, %1)"
) -> Subgraph:
    """`operator` makes %1 of the constants %3, %4 ...; an ADD reads it."""
    declared = ['%0 "x" float32[2,3]', f'%1 "folded" {message}', '%2 "y" float32[2,3]']
    declared += [f'%{number} "c{number}" {text}' for number, text in enumerate(constants, 3)]
    text = "\n".join([*declared, "inputs %0", "outputs %2", f"%1 = {operator}", f"%2 = {reader}"])
    return rewrite(model(text), pins).model.main


@pytest.mark.parametrize(
    ("operator", "constants", "expected"),
    [
        ("DEQUANTIZE(%3)", ["float16[2,3] = [1.5, -2, 0, 3, 4, 65504]"], [[1.5, -2, 0], [3, 4, 65504]]),
        ("DEQUANTIZE(%3)", ["int8[2,3] scale=0.5 zero=1 = [1, 2, 3, -128, 127, 0]"], [[0, 0.5, 1], [-64.5, 63, -0.5]]),
        ("DEQUANTIZE(%3)", ["uint8[2,3] scale=0.5 zero=1 = [1, 2, 3, 255, 0, 9]"], [[0, 0.5, 1], [127, -0.5, 4]]),
        ("DEQUANTIZE(%3)", ["int8[2,3] scales=[1, 2] zeros=[0, 0] axis=0 = [1*6]"], [[1] * 3, [2] * 3]),
        ("DEQUANTIZE(%3)", ["int8[2,3] scale=3e38 zero=0 = [0*3, 2*2, -2]"], [[0] * 3, [np.inf, np.inf, -np.inf]]),
        ("TRANSPOSE(%3, %4)", ["float32[3,2] = [1, 2, 3, 4, 5, 6]", "int32[2] = [1, 0]"], [[1, 3, 5], [2, 4, 6]]),
        ("RESHAPE(%3)", ["float32[6] = [1, 2, 3, 4, 5, 6]"], [[1, 2, 3], [4, 5, 6]]),
        ("FILL(%3, %4)", ["int32[2] = [2, 3]", "float32[] = [7]"], [[7] * 3] * 2),
        ("BROADCAST_TO(%3, %4)", ["float32[3] = [1, 2, 3]", "int64[2] = [2, 3]"], [[1, 2, 3]] * 2),
        ("CONCATENATION(%3, %3)", ["float32[1,3] = [1, 2, 3]"], [[1, 2, 3]] * 2),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_what_constants_make_is_a_constant(operator: str, constants: list[str], expected: list[list[float]]) -> None:
    graph = folded(operator, constants, "float32[2,3]")
    assert [op.kind for op in graph.operators] == ["ADD"]
    np.testing.assert_array_equal(graph.tensors[1].as_array(), np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("operator", "constants", "result"),
    [
        ("DEQUANTIZE(%3)", ["int8[2,3] scale=0.5 zero=1"], "float32[2,3]"),
        ("DEQUANTIZE(%3)", ["int8[2,3] = [1*6]"], "float32[2,3]"),
        ("DEQUANTIZE(%3)", ["int8[2,3] scales=[1, 2] zeros=[0, 0] axis=1 = [1*6]"], "float32[2,3]"),
        ("TRANSPOSE(%3, %4)", ["float32[3,2] = [1*6]", "int32[2] = [1, 1]"], "float32[2,3]"),
        ("TRANSPOSE(%3, %4)", ["float32[3,2] = [1*6]", "int32[2] = [0, 1]"], "float32[2,3]"),
        ("FILL(%3, %4)", ["int32[2] = [3, 2]", "float32[] = [7]"], "float32[2,3]"),
        ("FILL(%3, %4)", ["int32[2] = [2147483647, 2147483647]", "float32[] = [7]"], "float32[2,3]"),
        ("FILL(%3, %4)", ["int32[2] = [-2, 3]", "float32[] = [7]"], "float32[2,3]"),
        ("FILL(%3, %4)", ["int32[2] = [2, 3]", "float32[2] = [7, 8]"], "float32[2,3]"),
        ("FILL(%3, %4)", ["int32[2] = [40, 40]", "float32[] = [7]"], "float32[40,40]"),
        ("RESHAPE(%3)", ["int32[6] = [1*6]"], "float32[2,3]"),
        ("ADD(%3, %3)", ["float32[2,3] = [1*6]"], "float32[2,3]"),
    ],
)
def test_what_is_not_known_or_makes_no_sense_stays(operator: str, constants: list[str], result: str) -> None:
    assert len(folded(operator, constants, result).operators) == 2


def test_pins_outputs_and_readers_without_constants_stay() -> None:
    constant = ["float32[6] = [1*6]"]
    for pins in (
        Pins(named=frozenset({(0, 0)})),
        Pins(foreign=frozenset({(0, 0)})),
        Pins(tensors={(0, 1): frozenset({0})}),
        Pins(tensors={(0, 3): frozenset({0})}),
    ):
        assert len(folded("RESHAPE(%3)", constant, "float32[2,3]", pins).operators) == 2
    matrix = folded("RESHAPE(%3)", constant, "float32[2,3]", reader="FULLY_CONNECTED(%1, %0)")
    assert len(matrix.operators) == 2


@pytest.mark.parametrize(
    ("times", "constant", "result"),
    [(2_000, "float32[64,1024] = [1*65536]", "float32[2,3]"), (30_000, "int32[1024] = [1*1024]", "int32[2,3]")],
    ids=["constants", "shapes"],
)
@pytest.mark.long
def test_a_constant_that_is_named_many_times_takes_no_memory(times: int, constant: str, result: str) -> None:
    """All of them together would be more than a hundred megabytes, and then no [2,3]."""
    often = ", ".join(["%3"] * times)
    tracemalloc.start()
    graph = folded(f"CONCATENATION({often})", [constant], result)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [op.kind for op in graph.operators] == ["CONCATENATION", "ADD"]
    assert most < 64 << 20
