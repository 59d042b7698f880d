"""Transpositions around an attention: where they go, where axes move, and where all stays as it is."""

import pytest

from tests.support.rewriting import lines
from tests.support.road import model
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import Pins

QUERIES = "int8[1,6,2,4] scale=0.1 zero=1"
TENSORS = {
    0: QUERIES,
    1: QUERIES,
    2: QUERIES,
    3: QUERIES,
    4: "int8[1,2,6,4] scale=0.1 zero=1",
    5: "int8[1,2,4,6] scale=0.1 zero=1",
    6: "int8[1,2,6,6] scale=0.2 zero=1",
    7: "int8[1,2,6,6] scale=0.1 zero=1",
    8: "int8[1,2,6,6] scale=0.00390625 zero=-128",
    9: "int8[1,2,6,4] scale=0.1 zero=1",
    10: "int8[1,2,6,4] scale=0.1 zero=1",
    11: "int32[4] = [0, 2, 1, 3]",
    12: "int32[4] = [0, 2, 3, 1]",
    13: "int8[1,1,1,6] scale=0.1 zero=1",
}
ATTENTION = {
    "queries": "%4 = TRANSPOSE(%0, %11)",
    "keys": "%5 = TRANSPOSE(%1, %12)",
    "scores": "%6 = BATCH_MATMUL(%4, %5)",
    "masked": "%7 = ADD(%6, %13)",
    "softmax": "%8 = SOFTMAX(%7)",
    "values": "%9 = TRANSPOSE(%2, %11)",
    "mixed": "%10 = BATCH_MATMUL(%8, %9)",
    "back": "%3 = TRANSPOSE(%10, %11)",
}
MOVED = "left_axes=[0, 2, 1, 3] right_axes=[0, 2, {}] output_axes=[0, 2, 1, 3]"


def text(tensors: dict[int, str], operators: dict[str, str], outputs: str = "%3") -> str:
    declared = [f'%{number} "t{number}" {of}' for number, of in (TENSORS | tensors).items()]
    return "\n".join([*declared, "inputs %0, %1, %2, %13", f"outputs {outputs}", *(ATTENTION | operators).values()])


def test_products_read_and_write_heads_where_they_are() -> None:
    """A mask that is the same for all tokens and heads is in nobody's way."""
    assert lines(text({}, {})) == [
        f"%6 = BATCH_MATMUL(%0, %1) {MOVED.format('3, 1')}",
        "%7 = ADD(%6, %13)",
        "%8 = SOFTMAX(%7)",
        f"%3 = BATCH_MATMUL(%8, %2) {MOVED.format('1, 3')}",
    ]


def test_scores_of_a_token_lie_side_by_side() -> None:
    rewritten = rewrite(model(text({}, {})))
    assert rewritten.record.axes == {(0, tensor): (0, 2, 1, 3) for tensor in (6, 7, 8)}
    assert [rewritten.model.main.tensors[tensor].shape for tensor in (6, 7, 8)] == [(1, 6, 2, 6)] * 3


def test_products_of_matrices_may_lack_the_leading_axis() -> None:
    """As PyTorch's are: views lie between them and the transpositions."""
    tensors = {
        4: "int8[2,6,4] scale=0.1 zero=1",
        5: "int8[2,4,6] scale=0.1 zero=1",
        6: "int8[2,6,6] scale=0.2 zero=1",
        7: "int8[2,6,6] scale=0.1 zero=1",
        8: "int8[2,6,6] scale=0.00390625 zero=-128",
        9: "int8[2,6,4] scale=0.1 zero=1",
        10: "int8[2,6,4] scale=0.1 zero=1",
        14: TENSORS[4],
        15: TENSORS[5],
        16: TENSORS[9],
        17: TENSORS[10],
    }
    operators = {
        "queries": "%14 = TRANSPOSE(%0, %11)\n%4 = RESHAPE(%14)",
        "keys": "%15 = TRANSPOSE(%1, %12)\n%5 = RESHAPE(%15)",
        "values": "%16 = TRANSPOSE(%2, %11)\n%9 = RESHAPE(%16)",
        "back": "%17 = RESHAPE(%10)\n%3 = TRANSPOSE(%17, %11)",
    }
    own = "left_axes=[1, 0, 2] right_axes=[0, 2, {}] output_axes=[1, 0, 2]"
    assert lines(text(tensors, operators)) == [
        "%4 = VIEW(%0)",
        f"%6 = BATCH_MATMUL(%4, %1) {own.format('3, 1')}",
        "%7 = ADD(%6, %13)",
        "%8 = SOFTMAX(%7)",
        f"%10 = BATCH_MATMUL(%8, %2) {own.format('1, 3')}",
        "%3 = VIEW(%10)",
    ]
    assert rewrite(model(text(tensors, operators))).record.axes == dict.fromkeys(
        ((0, tensor) for tensor in (4, 6, 7, 8, 10)), (1, 0, 2)
    )


def test_a_right_side_that_others_read_stays_transposed() -> None:
    scores, *_, mixed = lines(text({}, {}, "%3, %9"))
    assert "right_axes" in scores
    assert mixed == "%3 = BATCH_MATMUL(%8, %9) left_axes=[0, 2, 1, 3] output_axes=[0, 2, 1, 3]"


def test_what_is_computed_element_by_element_moves_on_all_ways() -> None:
    """Behind the TRANSPOSE of queries, and before the one of the result."""
    tensors = {14: TENSORS[4], 15: TENSORS[10]}
    more = {"queries": "%14 = TRANSPOSE(%0, %11)\n%4 = TANH(%14)", "back": "%15 = TANH(%10)\n%3 = TRANSPOSE(%15, %11)"}
    left = lines(text(tensors, more))
    assert [left[0], left[-1]] == ["%4 = TANH(%0)", "%3 = TANH(%10)"]
    assert rewrite(model(text(tensors, more)), off=frozenset({"lookups"})).record.axes.keys() == {
        (0, tensor) for tensor in (4, 6, 7, 8, 10)
    }


@pytest.mark.parametrize(
    ("tensors", "operators", "outputs"),
    [
        ({}, {}, "%3, %8"),
        ({}, {}, "%3, %4"),
        ({13: "int8[1,1,6,6] scale=0.1 zero=1"}, {}, "%3"),
        ({13: "int8[1,2,6,6] scale=0.1 zero=1"}, {}, "%3"),
        ({}, {"masked": "%7 = CUMSUM(%6, %14)"}, "%3"),
        (
            {4: "int8[1,2,4,6] scale=0.1 zero=1"},
            {"queries": "%4 = TRANSPOSE(%0, %12)", "scores": "%6 = BATCH_MATMUL(%4, %5) adj_x=true"},
            "%3",
        ),
        ({3: "int8[1,6,2,4] scale=0.2 zero=1"}, {}, "%3"),
        ({3: "int8[1,2,4,6] scale=0.1 zero=1"}, {"back": "%3 = TRANSPOSE(%10, %15)"}, "%3"),
        ({4: "int8[1,2,6,4] scale=0.1 zero=1"}, {"queries": "%4 = RESHAPE(%0)"}, "%3"),
    ],
    ids=[
        "scores are an output", "so are queries", "a mask of each token", "one of each head", "sums along an axis",
        "stored by columns", "another scale", "another order", "no TRANSPOSE",
    ],
)  # fmt: skip
def test_else_nothing_moves(tensors: dict[int, str], operators: dict[str, str], outputs: str) -> None:
    more = {14: "int32[] = [3]", 15: "int32[4] = [0, 1, 3, 2]"}
    left = lines(text(tensors | more, operators, outputs))
    assert not any("axes=" in line for line in left)
    assert "TRANSPOSE" in left[-1]


@pytest.mark.parametrize("place", range(8))
def test_what_a_rule_names_stays(place: int) -> None:
    """An operator of the attention: but the keys, or the values, may stay transposed."""
    left = lines(text({}, {}), Pins(named=frozenset({(0, place)})))
    assert any("output_axes" in line for line in left) == (place in {1, 5})


def test_another_target_reads_what_the_file_says() -> None:
    assert not any("axes" in line for line in lines(text({}, {}), Pins(targets={(0, 4): 1})))


def test_a_scalar_has_no_axes_to_be_turned() -> None:
    scalar = '%0 "x" int8[] scale=0.1 zero=1\n%1 "y" int8[] scale=0.1 zero=1\n%2 "axes" int32[1] = [0]'
    assert lines(f"{scalar}\ninputs %0\noutputs %1\n%1 = TRANSPOSE(%0, %2)") == ["%1 = TRANSPOSE(%0, %2)"]
