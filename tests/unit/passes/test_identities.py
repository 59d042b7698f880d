"""Identities: which operators change nothing, and which stay."""

import pytest

from tests.support.rewriting import OTHER, graph, lines
from tests.support.road import firmware, model
from usmp_build.errors import KernelError
from usmp_build.search.replanner import Replanner


@pytest.mark.parametrize(
    ("middle", "tensors"),
    [
        ("%2 = QUANTIZE(%1)", {}),
        ("%2 = PAD(%1, %3)", {"3": "int32[4,2] = zeros"}),
        ("%2 = SLICE(%1, %3, %4)", {"3": "int32[4] = zeros", "4": "int32[4] = [1, 4, -1, 2]"}),
        (
            "%2 = STRIDED_SLICE(%1, %3, %4, %5) begin_mask=2",
            {"3": "int32[4] = [0, 3, -4, 0]", "4": "int32[4] = [1, 4, 9, 2]", "5": "int32[4] = [7, 1, 1, 1]"},
        ),
        ("%2 = TRANSPOSE(%1, %3)", {"3": "int32[4] = [0, 1, 2, 3]"}),
        (
            "%5 = TRANSPOSE(%1, %3); %2 = TRANSPOSE(%5, %4)",
            {"3": "int32[4] = [0, 3, 1, 2]", "4": "int32[4] = [0, 2, 3, 1]", "5": "int8[1,2,4,4] scale=0.5 zero=-3"},
        ),
        ("%2 = TILE(%1, %3)", {"3": "int32[4] = [1*4]"}),
        ("%2 = BROADCAST_TO(%1, %3)", {"3": "int64[4] = [1, 4, 4, 2]"}),
        ("%2 = RESIZE_BILINEAR(%1, %3)", {"3": "int32[2] = [4, 4]"}),
        ("%2 = CONCATENATION(%1) axis=3", {}),
        ("%2 = SPLIT(%3, %1)", {"3": "int32[] = [3]"}),
        ("%2 = RESHAPE(%1)", {}),
        ("%2 = CAST(%1)", {}),
        ("%2 = AVERAGE_POOL_2D(%1)", {}),
        ("%2 = MAX_POOL_2D(%1)", {}),
        ("%2 = MEAN(%1, %3) keep_dims=true", {"3": "int32[1] = [0]"}),
        ("%3 = DEQUANTIZE(%1); %2 = QUANTIZE(%3)", {"3": "float32[1,4,4,2]"}),
        ("%3 = QUANTIZE(%1); %4 = QUANTIZE(%3); %2 = CAST(%4)", {}),
    ],
)
def test_an_identity_goes(middle: str, tensors: dict[str, str]) -> None:
    assert lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors)) == ["%1 = TANH(%0)", "%9 = TANH(%1)"]


@pytest.mark.parametrize(
    ("middle", "tensors"),
    [
        ("%2 = QUANTIZE(%1)", OTHER),
        ("%2 = RELU(%1)", {}),
        ("%2 = RELU6(%1)", {}),
        ("%2 = AVERAGE_POOL_2D(%1) activation=RELU", {}),
        ("%2 = MAX_POOL_2D(%1) filter_h=2", {}),
        ("%2 = TRANSPOSE(%1, %3)", {"3": "int32[4] = [0, 2, 1, 3]"}),
        (
            "%2 = STRIDED_SLICE(%1, %3, %3, %4) begin_mask=15 end_mask=15",
            {"3": "int32[4] = zeros", "4": "int32[4] = [-1*4]"},
        ),
        ("%2 = CONCATENATION(%1) axis=3 activation=RELU", {}),
        ("%2 = CONCATENATION(%1) axis=3", OTHER),
        ("%2 = MEAN(%1, %3) keep_dims=true", {**OTHER, "3": "int32[1] = [0]"}),
        ("%2 = LOGISTIC(%1)", {}),
    ],
)
def test_what_computes_something_stays(middle: str, tensors: dict[str, str]) -> None:
    left = lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors))
    assert [line.split()[2].partition("(")[0] for line in left] == [
        "TANH",
        middle.split()[2].partition("(")[0],
        "TANH",
    ]


@pytest.mark.parametrize(
    ("middle", "tensors"),
    [
        ("%2 = PAD(%1, %3)", {"3": "int32[4,2] = [0, 0, -1, 1, 0, 0, 0, 0]"}),
        ("%2 = PAD(%1, %3)", {"3": "int32[2] = [0, 0]"}),
        ("%2 = PAD(%1, %3)", {"3": "int32[4,2]"}),
        ("%2 = PADV2(%1, %3, %4)", {"3": "int32[4,2] = zeros", "4": "int32[1] = [3]"}),
        ("%2 = SLICE(%1, %3, %4)", {"3": "int32[4] = [0, 1, 0, 0]", "4": "int32[4] = [1, 4, 4, 2]"}),
        ("%2 = SLICE(%1, %3, %4)", {"3": "int32[4] = zeros", "4": "int32[4] = [1, 4, 3, 2]"}),
        (
            "%2 = STRIDED_SLICE(%1, %3, %4, %5)",
            {"3": "int32[4] = [0, 1, 0, 0]", "4": "int32[4] = [1, 5, 4, 2]", "5": "int32[4] = [1*4]"},
        ),
        (
            "%2 = STRIDED_SLICE(%1, %3, %3, %5) begin_mask=15 end_mask=15 shrink_axis_mask=2",
            {"3": "int32[4] = zeros", "5": "int32[4] = [1*4]"},
        ),
        ("%2 = MAX_POOL_2D(%1) stride_h=2", {}),
        ("%2 = MEAN(%1, %3) keep_dims=true", {"3": "int32[1] = [1]"}),
        ("%2 = MEAN(%1, %3) keep_dims=true", {"3": "int32[1] = [7]"}),
        ("%2 = CONCATENATION(%1) axis=9", {}),
        ("%2 = PACK(%1)", {}),
        ("%2 = SPLIT(%3, %1)", {"3": "int32[] = [9]"}),
        ("%2 = SPLIT_V(%1, %3, %4)", {"3": "int32[1] = [3]", "4": "int32[1] = [1]"}),
        ("%2 = UNPACK(%1)", {}),
        ("%2 = TRANSPOSE(%1, %3)", {"3": "int32[4] = [1, 0, 2, 3]"}),
        ("%2 = TILE(%1, %3)", {"3": "int32[4] = [1, 1, 1, 2]"}),
        ("%2 = TILE(%1, %3)", {"3": "int32[3] = [1*3]"}),
        ("%2 = BROADCAST_TO(%1, %3)", {"3": "int32[4] = [2, 4, 4, 2]"}),
        ("%2 = RESIZE_BILINEAR(%1, %3)", {"3": "int32[2] = [4, 5]"}),
        ("%2 = RESIZE_BILINEAR(%1, %3)", {"2": OTHER["2"], "3": "int32[2] = [4, 4]"}),
        ("%2 = QUANTIZE(%1)", {"2": "int8[1,2,8,2] scale=0.5 zero=-3"}),
    ],
)
def test_an_operator_stays_whose_output_is_not_what_its_operands_make(middle: str, tensors: dict[str, str]) -> None:
    """The output is declared like the input, which is wrong: whoever looks for a kernel says so."""
    left = lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors), off=frozenset({"parts"}))
    assert left[1] == middle


@pytest.mark.parametrize(
    "operators",
    [
        "%9 = RELU()",
        '%1 = "CUSTOM:x"(); %9 = RELU(%1)',
        "%1 = ADD(); %9 = RELU(%1)",
        "%1 = DEQUANTIZE(); %9 = QUANTIZE(%1)",
    ],
)
def test_operators_without_inputs_are_left_alone(operators: str) -> None:
    assert lines(graph(operators, {"1": "float32[1,4,4,2]"})) == operators.split("; ")


@pytest.mark.parametrize("operator", ["%9 = RELU6(%0)", "%9 = MAX_POOL_2D(%0) activation=RELU6"])
def test_a_limit_of_more_steps_than_float32_counts_is_told(operator: str) -> None:
    tiny = "int8[1,4,4,2] scale=1e-38 zero=0"
    models = (model(graph(operator, {"0": tiny, "9": tiny})),)
    with pytest.raises(KernelError, match=r"K403.*more than 2\^31"):
        Replanner.of(firmware({"ram": "cpu", "flash": "cpu"}), models).analyze()


def test_a_wrong_padding_is_told_and_not_removed() -> None:
    text = graph("%1 = TANH(%0); %2 = PAD(%1, %3)", {"3": "int32[4,2] = [0, 0, -1, 1, 0, 0, 0, 0]"}, "%2")
    with pytest.raises(KernelError, match=r"K408.*has a padding below 0"):
        Replanner.of(firmware({"ram": "cpu", "flash": "cpu"}), (model(text),)).analyze()


@pytest.mark.parametrize(
    "middle", ["%2 = AVERAGE_POOL_2D(%1)", "%2 = MAX_POOL_2D(%1)", "%2 = MEAN(%1, %3) keep_dims=true"]
)
def test_floats_are_computed_over_one_element_too(middle: str) -> None:
    tensors = {**dict.fromkeys("0129", "float32[1,4,4,2]"), "3": "int32[1] = [0]"}
    assert lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors))[1] == middle


def test_a_padding_of_nothing_to_other_parameters_is_a_view() -> None:
    """The bytes are the same, and mean something else."""
    tensors = {**OTHER, "3": "int32[4,2] = zeros"}
    assert lines(graph("%1 = TANH(%0); %2 = PAD(%1, %3); %9 = TANH(%2)", tensors))[1] == "%2 = VIEW(%1)"


@pytest.mark.parametrize(
    ("middle", "tensors"),
    [
        ("%2 = QUANTIZE(%1)", {"2": "int8[1,4,4,2] scale=0.5005 zero=-3"}),
        ("%2 = ADD(%1, %3)", {"3": "int8[1] scale=0.5 zero=7 = [7]"}),
        ("%2 = SUB(%1, %3)", {"3": "int8[] scale=0.5 zero=7 = [7]"}),
        ("%2 = MUL(%3, %1)", {"3": "int8[1,1] scale=0.0078125 zero=-128 = [0]"}),
        ("%2 = MUL(%3, %1)", {"3": "int8[1] scale=0.5 zero=0 = [2]", "2": "int8[1,4,4,2] scale=0.501 zero=-3"}),
    ],
)
def test_an_operator_goes_that_leaves_all_values(middle: str, tensors: dict[str, str]) -> None:
    left = lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors))
    assert left == (
        ["%1 = TANH(%0)", "%2 = VIEW(%1)", "%9 = TANH(%2)"] if "2" in tensors else ["%1 = TANH(%0)", "%9 = TANH(%1)"]
    )


@pytest.mark.parametrize(
    ("middle", "tensors"),
    [
        ("%2 = QUANTIZE(%1)", {"2": "int8[1,4,4,2] scale=0.51 zero=-3"}),
        ("%2 = ADD(%1, %3)", {"3": "int8[1] scale=0.5 zero=7 = [8]"}),
        ("%2 = ADD(%1, %3)", {"3": "int8[2] scale=0.5 zero=7 = [7, 7]"}),
        ("%2 = SUB(%3, %1)", {"3": "int8[1] scale=0.5 zero=7 = [7]"}),
        ("%2 = MUL(%1, %3)", {"3": "int8[1] scale=0.5 zero=0 = [3]"}),
        ("%2 = ADD(%1, %1)", {}),
    ],
)
def test_an_operator_stays_that_changes_a_value(middle: str, tensors: dict[str, str]) -> None:
    assert lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors))[1] == middle


def test_two_transpositions_stay_that_move_something() -> None:
    """There and on, and there and back for somebody else, too."""
    tensors = {"3": "int32[4] = [0, 2, 1, 3]", "4": "int32[4] = [0, 3, 2, 1]"}
    assert len(lines(graph("%1 = TRANSPOSE(%0, %3); %2 = TRANSPOSE(%1, %4); %9 = TANH(%2)", tensors))) == 3
    both = "%1 = TRANSPOSE(%0, %3); %2 = TRANSPOSE(%1, %3); %9 = ADD(%1, %2)"
    assert lines(graph(both, tensors)) == ["%1 = TRANSPOSE(%0, %3)", "%9 = ADD(%1, %0)"]


def test_only_values_that_may_be_there_count() -> None:
    """Up to twelve steps above the zero point, the other scale makes the same of each."""
    tensors = {"2": "int8[1,4,4,2] scale=0.51 zero=-3"}
    add = "%1 = ADD(%0, %0) activation=RELU6"
    assert lines(graph(f"{add}; %2 = QUANTIZE(%1); %9 = TANH(%2)", tensors)) == [add, "%2 = VIEW(%1)", "%9 = TANH(%2)"]


def test_an_identity_that_makes_an_output_is_a_view_or_a_copy() -> None:
    assert lines(graph("%1 = TANH(%0); %9 = QUANTIZE(%1)", {})) == ["%1 = TANH(%0)", "%9 = VIEW(%1)"]
    assert lines(graph("%9 = QUANTIZE(%0)", {})) == ["%9 = RESHAPE(%0)"]


def test_a_clamp_goes_where_its_input_is_within() -> None:
    add = "%1 = ADD(%0, %0) activation=RELU6"
    text = graph(f"{add}; %2 = RELU(%1); %3 = MAX_POOL_2D(%2) filter_h=2; %4 = TANH(%1); %9 = RELU6(%3)", {})
    assert lines(text) == [add, "%3 = MAX_POOL_2D(%1) filter_h=2", "%9 = VIEW(%3)"]
    assert lines(graph(f"{add}; %2 = TANH(%1); %3 = RELU(%1); %9 = ADD(%2, %3)", {})) == [
        add,
        "%2 = TANH(%1)",
        "%9 = ADD(%2, %1)",
    ]


def test_a_variable_is_not_looked_through() -> None:
    """It may change between the two."""
    tensors = {"1": "int8[1,4,4,2] scale=0.5 zero=-3 variable"}
    text = graph("%2 = QUANTIZE(%1); _ = ASSIGN_VARIABLE(%1, %0); %9 = TANH(%2)", tensors)
    assert [line.split("(")[0] for line in lines(text)] == ["%2 = QUANTIZE", "_ = ASSIGN_VARIABLE", "%9 = TANH"]


FLOATS = dict.fromkeys(["3", "4", "9"], "float32[1,4,4,2]")


@pytest.mark.parametrize(
    ("readers", "outputs"),
    [("%9 = TANH(%4)", "%9"), ("%5 = QUANTIZE(%3); %6 = TANH(%5); %9 = MUL(%4, %4)", "%6, %9")],
)
def test_a_dequantize_stays_that_is_read_behind_an_identity(readers: str, outputs: str) -> None:
    left = lines(graph(f"%3 = DEQUANTIZE(%0); %4 = RESHAPE(%3); {readers}", FLOATS, outputs))
    assert left[0] == "%3 = DEQUANTIZE(%0)"
    assert "(%3" in left[-1]
