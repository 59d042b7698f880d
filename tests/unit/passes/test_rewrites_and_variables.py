"""Operators that read or write a variable stay as they are: what it holds depends on when they run."""

import pytest

from tests.support.road import model
from usmp_build.passes import rewrite
from usmp_build.textual.text import write

IMAGE = "int8[1,4,4,2] scale=0.5 zero=-128"


def lines(operators: str, *, also: str = "", kind: str = IMAGE) -> list[str]:
    """The operators after rewriting, without positions; %0 is the input, %9 the output, and %5 a variable."""
    tensors = (f'%{i} "t{i}" {kind}{" variable" if i == 5 else ""}' for i in range(10))
    text = "\n".join([*tensors, also, "inputs %0", "outputs %9", *operators.split("; ")])
    rewritten = write(rewrite(model(text)).model)
    return [line.strip().partition(" @")[0] for line in rewritten.splitlines() if "(" in line and " = " in line]


PADDINGS = '%10 "p" int32[4,2] = [0, 0, 1, 1, 1, 1, 0, 0]\n%11 "w" int8[1,6,6,2] scale=0.5 zero=-128'


@pytest.mark.parametrize(
    ("operators", "also"),
    [
        ("%9 = TANH(%5); %1 = TANH(%0); %5 = RESHAPE(%1)", ""),
        ("%1 = TANH(%0); %9 = TANH(%5); %5 = QUANTIZE(%1)", ""),
        ("%1 = ADD(%0, %0); %9 = TANH(%5); %5 = RELU(%1)", ""),
        ("%11 = PAD(%5, %10); %5 = TANH(%0); %9 = MAX_POOL_2D(%11) padding=VALID filter_h=3 filter_w=3", PADDINGS),
        ("%1 = TANH(%5); %5 = TANH(%0); %2 = TANH(%5); %9 = ADD(%1, %2)", ""),
        ("%10 = DEQUANTIZE(%5); %5 = TANH(%0); %9 = QUANTIZE(%10)", '%10 "f" float32[1,4,4,2]'),
    ],
)
def test_what_touches_a_variable_stays(operators: str, also: str) -> None:
    assert lines(operators, also=also) == operators.split("; ")


def test_what_is_written_to_a_variable_tells_nothing_of_what_it_held_before() -> None:
    operators = "%1 = MAX_POOL_2D(%5); %2 = RELU(%1); %9 = SOFTMAX(%2); %5 = RELU(%0)"
    assert lines(operators, kind=IMAGE.replace("-128", "0")) == operators.split("; ")


def test_what_is_assigned_to_a_variable_is_not_what_an_operator_wrote_to_it() -> None:
    """%5 is constant where CONV_2D has written it, and the input where it is read."""
    also = """
        %10 "w" int8[2,1,1,2] scale=1 zero=0 = zeros
        %11 "b" int32[2] = [50, 70]
        %12 "u" int8[2,1,1,2] scale=1 zero=0 = [1, 2, 3, 4]
    """
    operators = "%5 = CONV_2D(%0, %10, %11); _ = ASSIGN_VARIABLE(%5, %0); %1 = CONV_2D(%5, %12, %11)"
    operators += "; %9 = CONV_2D(%1, %12, %11)"
    assert lines(operators, also=also) == operators.split("; ")


def test_a_shape_is_not_folded_into_a_variable() -> None:
    kept = lines("%5 = SHAPE(%0); %9 = SHAPE(%5)", kind="int32[1]")
    assert kept == ["%5 = SHAPE(%0)", "%9 = SHAPE(%5)"]


def test_a_variable_with_a_name_and_one_without_may_be_in_one_model() -> None:
    also = '%10 "h" resource[]'
    operators = ["%9 = READ_VARIABLE(%5)", "_ = ASSIGN_VARIABLE(%5, %0)", "_ = ASSIGN_VARIABLE(%10, %0)"]
    assert lines("; ".join(['%10 = VAR_HANDLE() shared_name="a"', *operators]), also=also) == operators
