"""Duplicates: which operators compute the same, and when the second one goes."""

import pytest

from tests.support.rewriting import OTHER, graph, lines


def test_equal_operators_are_one() -> None:
    text = graph("%1 = TANH(%0); %2 = TANH(%0); %3 = TANH(%2); %4 = TANH(%1); %9 = ADD(%3, %4)", {})
    assert lines(text) == ["%1 = TANH(%0)", "%3 = TANH(%1)", "%9 = ADD(%3, %3)"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ADD(%0, %3)", "ADD(%3, %0)"),
        ("MUL(%3, %0) activation=RELU", "MUL(%0, %3) activation=RELU"),
        ("MAXIMUM(%3, %0)", "MAXIMUM(%0, %3)"),
        ("MEAN(%0, %4) keep_dims=true", "MEAN(%0, %5) keep_dims=true"),
    ],
)
def test_operators_with_equal_operands_are_equal(first: str, second: str) -> None:
    axes = dict.fromkeys("45", "int32[1] = [3]")
    left = lines(graph(f"%3 = TANH(%0); %1 = {first}; %2 = {second}; %9 = ADD(%1, %2)", axes))
    assert left[-2:] == [f"%1 = {first}", "%9 = ADD(%1, %1)"]


@pytest.mark.parametrize(
    ("first", "second", "tensors"),
    [
        ("SUB(%0, %3)", "SUB(%3, %0)", {}),
        ("ADD(%0, %3)", "ADD(%0, %0)", {}),
        ("ADD(%0, %4)", "ADD(%0, %5)", dict.fromkeys("45", "int8[1] scale=1 zero=0 = [9]")),
        ("MEAN(%0, %4) keep_dims=true", "MEAN(%0, %5) keep_dims=true", {"4": "int32[1] = [3]", "5": "int32[1] = [2]"}),
    ],
)
def test_operators_with_other_operands_stay(first: str, second: str, tensors: dict[str, str]) -> None:
    """Constants that stand for numbers of the model may be exchanged; those of two operators may differ then."""
    text = graph(f"%3 = TANH(%0); %1 = {first}; %2 = {second}; %9 = ADD(%1, %2)", tensors)
    assert lines(text)[-1] == "%9 = ADD(%1, %2)"


@pytest.mark.parametrize(
    ("second", "tensors"),
    [
        ("%2 = TANH(%1)", {}),
        ("%2 = TANH(%0)", OTHER),
        ("%2 = LOCAL_RESPONSE_NORMALIZATION(%0)", {}),
        ('%2 = "CUSTOM:tanh"(%0)', {}),
        ("%2 = LOGISTIC(%0)", {}),
    ],
)
def test_operators_that_are_not_known_to_be_equal_stay(second: str, tensors: dict[str, str]) -> None:
    first = second.replace("%2 =", "%1 =").replace("(%1)", "(%0)").replace("LOGISTIC", "TANH")
    assert len(lines(graph(f"{first}; {second}; %9 = ADD(%1, %2)", tensors))) == 3


def test_an_equal_operator_that_makes_an_output_stays() -> None:
    assert len(lines(graph("%1 = TANH(%0); %9 = TANH(%0); %8 = LOGISTIC(%1)", {}, "%9, %8"))) == 3


def test_a_large_value_is_not_kept_for_a_duplicate() -> None:
    """Keeping %1 alive would cost more than computing it again: at %4 there are two large tensors already."""
    large = {str(i): "int8[1,4,4,200] scale=0.5 zero=-3" for i in (1, 3, 4, 6)} | {"7": "int32[1] = [3]"}
    first, second = "%1 = PAD(%0, %8); %2 = MEAN(%1, %7)", "%6 = PAD(%0, %8); %9 = ADD(%6, %5)"
    between = "%3 = PAD(%2, %8); %4 = TANH(%3); %5 = MEAN(%4, %7)"
    text = graph(f"{first}; {between}; {second}", {**large, "8": "int32[4,2] = zeros"})
    assert sum("PAD" in line for line in lines(text)) == 3
    assert sum("PAD" in line for line in lines(text.replace("%4 = TANH", "%4 = PAD").replace("(%3)", "(%0, %8)"))) == 2
