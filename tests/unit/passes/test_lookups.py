"""Operators on single elements become a look-up: which ones do, what the table says, and what must stay."""

from collections.abc import Mapping

import pytest

from tests.support.road import model
from usmp_build.ir.graph import Operator
from usmp_build.operators.unary import Lookup
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

LARGE, SMALL = "[1,8,8,4]", "[1,4,4,2]"
HALF = {"2": "int8[1] scale=0.5 zero=0 = [1]", "3": "int8[1] scale=0.5 zero=0 = [6]"}
SILU = "%1 = LOGISTIC(%0); %9 = MUL(%0, %1)"


def graph(operators: str, tensors: Mapping[str, str], shape: str = LARGE, outputs: str = "%9") -> str:
    """Tensors 0 (the input) to 9; those that are not given are like the input, but LOGISTIC's."""
    like = f"int8{shape} scale=0.05 zero=-3"
    logistic = {name: f"int8{shape} scale=0.00390625 zero=-128" for name in "145678" if f"%{name} = LOGI" in operators}
    declared = [f'%{i} "t{i}" {({**logistic, **tensors}).get(str(i), like)}' for i in range(10)]
    return "\n".join([*declared, "inputs %0", f"outputs {outputs}", *operators.split("; ")])


def left(text: str, pins: Pins = NO_PINS) -> list[Operator]:
    return list(rewrite(model(text), pins).model.main.operators)


def kinds(text: str, pins: Pins = NO_PINS) -> list[tuple[str, tuple[int | None, ...]]]:
    return [(op.kind, op.inputs) for op in left(text, pins)]


@pytest.mark.parametrize("shape", [LARGE, SMALL])
@pytest.mark.parametrize(
    "operators",
    [
        SILU,
        "%1 = LOGISTIC(%0); %9 = MUL(%1, %0)",
        "%1 = LOGISTIC(%0); %9 = QUANTIZE(%1)",
        "%1 = QUANTIZE(%0); %9 = TANH(%1)",
        "%1 = TANH(%0); %4 = RELU(%1); %9 = RELU6(%4)",
        "%1 = LOGISTIC(%0); %4 = MUL(%0, %1); %5 = LOGISTIC(%4); %9 = MUL(%4, %5)",
        "%1 = ADD(%0, %3) activation=RELU6; %4 = MUL(%1, %2); %5 = MUL(%0, %4); %9 = TANH(%5)",
        "%1 = TANH(%0); %4 = RESHAPE(%1); %9 = TANH(%4)",
    ],
)
def test_operators_on_single_elements_are_one(operators: str, shape: str) -> None:
    tensors = {**HALF, **({"1": f"int8{shape} scale=0.1 zero=0"} if "%1 = QUANTIZE" in operators else {})}
    if "RESHAPE" in operators:
        tensors["4"] = "int8[1,256] scale=0.05 zero=0" if shape == LARGE else "int8[32] scale=0.05 zero=0"
    assert kinds(graph(operators, tensors, shape)) == [("LOOKUP", (0,))]


def test_what_has_no_other_kernel_is_a_table_even_alone() -> None:
    bound = {"2": "int8[] scale=0.05 zero=-3 = [7]"}
    assert kinds(graph("%9 = RELU_N1_TO_1(%0)", {}, SMALL)) == [("LOOKUP", (0,))]
    assert kinds(graph("%9 = MAXIMUM(%0, %2)", bound, LARGE)) == [("MAXIMUM", (0, 2))]


@pytest.mark.parametrize("shape", [LARGE, SMALL])
def test_a_quantize_behind_a_dequantize_is_a_table(shape: str) -> None:
    tensors = {"1": f"float32{shape}", "9": f"int8{shape} scale=0.07 zero=5"}
    pair = "%1 = DEQUANTIZE(%0); %9 = QUANTIZE(%1)"
    assert kinds(graph(pair, tensors, shape)) == [("LOOKUP", (0,))]
    assert kinds(graph(f"{pair}; %8 = TANH(%1)", {**tensors, "8": tensors["1"]}, shape, "%9, %8"))[1:] == [
        ("LOOKUP", (0,)),
        ("TANH", (1,)),
    ]
    for pins in (Pins(named=frozenset({(0, 0)})), Pins(targets={(0, 1): 1}), Pins(foreign=frozenset({(0, 1)}))):
        assert [kind for kind, _ in kinds(graph(pair, tensors, shape), pins)] == ["DEQUANTIZE", "QUANTIZE"]


@pytest.mark.parametrize("operators", ["%1 = RELU(%0); %9 = RELU6(%1)", "%1 = MUL(%0, %2); %9 = SUB(%1, %3)"])
def test_a_table_needs_as_many_elements_as_it_has(operators: str) -> None:
    tensors = {**HALF, "1": f"int8{SMALL} scale=0.07 zero=-3"}
    assert len(left(graph(operators, tensors, SMALL))) == 2
    tensors["1"] = f"int8{LARGE} scale=0.07 zero=-3"
    assert kinds(graph(operators, tensors)) == [("LOOKUP", (0,))]


def test_the_table_is_what_the_operators_make_of_each_value() -> None:
    """With a scale of 1, RELU keeps what is above the zero point, and QUANTIZE doubles the steps."""
    one, two = "scale=1 zero=0", "scale=0.5 zero=-128"
    tensors = {"0": f"int8{LARGE} {one}", "1": f"int8{LARGE} scale=1 zero=-28", "9": f"int8{LARGE} {two}"}
    (op,) = left(graph("%1 = RELU(%0); %9 = QUANTIZE(%1)", tensors))
    assert op.options == Lookup((*[-128] * 129, *[-128 + 2 * value for value in range(1, 128)]))


def test_there_and_back_is_nothing() -> None:
    """A finer scale holds what the coarser one has, where it is large enough."""
    tensors = {str(i): f"int8{LARGE} scale={scale} zero=-128" for i, scale in ((1, 0.1), (4, 0.0625), (5, 0.1))}
    tensors["2"] = "int8[4] scale=0.5 zero=0 = [1, 2, 3, 4]"
    operators = "%1 = ADD(%0, %2) activation=RELU6; %4 = QUANTIZE(%1); %5 = QUANTIZE(%4); %9 = TANH(%5)"
    assert kinds(graph(operators, tensors))[1:] == [("VIEW", (1,)), ("TANH", (5,))]
    unlimited = operators.replace(" activation=RELU6", "")
    assert kinds(graph(unlimited, tensors))[1:] == [("LOOKUP", (1,))]


@pytest.mark.parametrize(
    ("operators", "tensors", "outputs"),
    [
        (SILU, {}, "%9, %1"),
        ("%1 = LOGISTIC(%0); %9 = MUL(%0, %1); %8 = TANH(%1)", {}, "%9, %8"),
        ("%1 = LOGISTIC(%0); %4 = TANH(%0); %9 = MUL(%4, %8)", {"8": f"int8{LARGE} scale=0.05 zero=0 variable"}, "%9"),
        ("%1 = LOGISTIC(%8); _ = ASSIGN_VARIABLE(%8, %0); %9 = MUL(%8, %1)",
         {"8": f"int8{LARGE} scale=0.05 zero=0 variable"}, "%9"),
        ("%1 = LOGISTIC(%0); %9 = MUL(%1, %2)", {"2": "int8[2,1,1,1] scale=0.5 zero=0 = [1, 2]",
                                               "9": "int8[2,8,8,4] scale=0.5 zero=0"}, "%9"),
        ("%1 = LOGISTIC(%0); %9 = MUL(%1, %2)", {"2": "int8[4] scale=0.5 zero=0 = [1, 2, 3, 4]"}, "%9"),
        ("%1 = LOGISTIC(%0); %9 = MUL(%1, %2)", {"2": "int8[1] scale=0.5 zero=0"}, "%9"),
        ("%1 = QUANTIZE(%0); %9 = TANH(%1)", {"1": f"int16{LARGE} scale=0.001 zero=0"}, "%9"),
        ("%1 = MEAN(%0, %2); %9 = TANH(%1)", {"2": "int32[1] = [0]"}, "%9"),
    ],
)  # fmt: skip
def test_operators_stay(operators: str, tensors: dict[str, str], outputs: str) -> None:
    """Others read what is between, it is a variable, constants differ from element to element, or types are others."""
    assert "LOOKUP" not in [kind for kind, _ in kinds(graph(operators, tensors, outputs=outputs))]


@pytest.mark.parametrize("position", [0, 1])
def test_pins_are_kept(position: int) -> None:
    for pins in (
        Pins(named=frozenset({(0, position)})),
        Pins(foreign=frozenset({(0, position)})),
        Pins(targets={(0, position): 1}),
        Pins(tensors={(0, 1): frozenset({0})}),
    ):
        assert len(left(graph(SILU, {}), pins)) == 2


def test_a_constant_of_which_a_rule_speaks_is_read() -> None:
    text = graph("%1 = LOGISTIC(%0); %9 = MUL(%1, %2)", HALF)
    assert len(left(text)) == 1
    assert len(left(text, Pins(tensors={(0, 2): frozenset({0})}))) == 2


def test_a_long_chain_is_one() -> None:
    """Longer than what is joined at once."""
    count = 40
    declared = [f'%{i} "t{i}" int8{LARGE} scale=0.05 zero=-3' for i in range(count + 1)]
    operators = [f"%{i + 1} = TANH(%{i})" for i in range(count)]
    assert kinds("\n".join([*declared, "inputs %0", f"outputs %{count}", *operators])) == [("LOOKUP", (0,))]
