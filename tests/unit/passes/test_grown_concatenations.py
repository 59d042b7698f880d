"""Concatenations that begin with all that an earlier one puts together."""

import pytest

from tests.support.rewriting import graph, lines

WIDE = {
    "3": "int8[1,4,4,4] scale=0.5 zero=-3",
    "4": "int8[1,4,4,6] scale=0.5 zero=-3",
    "9": "int8[1,4,4,8] scale=0.5 zero=-3",
}
GROWN = (
    "%1 = TANH(%0); %2 = LOGISTIC(%0); %3 = CONCATENATION(%1, %2) axis=3; %5 = MEAN(%3, %7); "
    "%4 = CONCATENATION(%1, %2, %0) axis=3; %6 = MEAN(%4, %7); %8 = ABS(%0); %9 = CONCATENATION(%1, %2, %0, %8) axis=3"
)
AXES = {"5": "int8[1,1,1,4] scale=0.5 zero=-3", "6": "int8[1,1,1,6] scale=0.5 zero=-3", "7": "int32[2] = [1, 2]"}


def test_a_concatenation_that_grows_begins_with_the_one_before() -> None:
    left = lines(graph(GROWN, WIDE | AXES, "%5, %6, %9"))
    assert [line for line in left if "CONCATENATION" in line] == [
        "%3 = CONCATENATION(%1, %2) axis=3",
        "%4 = CONCATENATION(%3, %0) axis=3",
        "%9 = CONCATENATION(%4, %8) axis=3",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("(%1, %2) axis=3", "(%1, %2) axis=3 activation=RELU", id="an activation"),
        pytest.param("(%1, %2) axis=3", "(%2, %1) axis=3", id="another order"),
        pytest.param("(%1, %2) axis=3", "(%2, %0) axis=3", id="not what it begins with"),
    ],
)
def test_what_does_not_begin_with_another_concatenation_stays(old: str, new: str) -> None:
    left = lines(graph(GROWN.replace(old, new), WIDE | AXES, "%5, %6, %9"))
    assert "%4 = CONCATENATION(%1, %2, %0) axis=3" in left


def test_a_concatenation_of_another_quantization_is_not_read() -> None:
    other = WIDE | AXES | {"3": WIDE["3"].replace("-3", "5")}
    assert "%4 = CONCATENATION(%1, %2, %0) axis=3" in lines(graph(GROWN, other, "%5, %6, %9"))


def test_a_concatenation_is_not_kept_for_another_one() -> None:
    """What %3 puts together is read later, too, so it would be alive beside %3 where the largest tensors are."""
    late = GROWN.partition("; %4")[0] + "; %6 = PAD(%0, %8); %4 = CONCATENATION(%1, %2, %0) axis=3"
    large = {"6": "int8[1,4,4,200] scale=0.5 zero=-3", "8": "int32[4,2] = zeros", "9": WIDE["3"]}
    for more, inputs in (("", "%3, %0"), ("; %9 = CONCATENATION(%2, %1) axis=3", "%1, %2, %0")):
        left = lines(graph(late + more, WIDE | AXES | large, "%4, %5, %6" + (", %9" if more else "")))
        assert f"%4 = CONCATENATION({inputs}) axis=3" in left
