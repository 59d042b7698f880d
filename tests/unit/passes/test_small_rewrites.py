"""Identities, duplicates, paddings, activations and dead operators: what becomes of them, and what must stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.support.road import firmware, model
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.text import write
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.pipeline import analyze
from usmp_build.request import PlaceRequest


def lines(text: str, pins: Pins = NO_PINS, off: frozenset[str] = frozenset()) -> list[str]:
    """The operators after rewriting, without positions."""
    made = write(rewrite(model(text), pins, off).model)
    return [line.strip().partition(" @")[0] for line in made.splitlines() if " = " in line and "(" in line]


def graph(operators: str, tensors: Mapping[str, str], outputs: str = "%9") -> str:
    """Tensors 0 (the input) to 9; those that are not given are like the input."""
    declared = [f'%{i} "t{i}" {tensors.get(str(i), "int8[1,4,4,2] scale=0.5 zero=-3")}' for i in range(10)]
    return "\n".join([*declared, "inputs %0", f"outputs {outputs}", *operators.split("; ")])


EQUAL = "QUANTIZE(%0)"
CHAIN = "%1 = TANH(%0); %2 = QUANTIZE(%1); %9 = TANH(%2)"
OTHER = {"2": "int8[1,4,4,2] scale=0.5 zero=4"}


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
    made = lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors))
    assert [line.split()[2].partition("(")[0] for line in made] == ["TANH", middle.split()[2].partition("(")[0], "TANH"]


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
        ("%2 = QUANTIZE(%1)", {"2": "int8[1,2,8,2] scale=0.5 zero=-3"}),
    ],
)
def test_an_operator_stays_whose_output_is_not_what_its_operands_make(middle: str, tensors: dict[str, str]) -> None:
    """The output is declared like the input, which is wrong: whoever looks for a kernel says so."""
    made = lines(graph(f"%1 = TANH(%0); {middle}; %9 = TANH(%2)", tensors), off=frozenset({"parts"}))
    assert made[1] == middle


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
    assert lines(graph(operators, {})) == operators.split("; ")


@pytest.mark.parametrize("operator", ["%9 = RELU6(%0)", "%9 = MAX_POOL_2D(%0) activation=RELU6"])
def test_a_limit_of_more_steps_than_float32_counts_is_told(operator: str) -> None:
    tiny = "int8[1,4,4,2] scale=1e-38 zero=0"
    with pytest.raises(KernelError, match=r"K403.*more than 2\^31"):
        analyze(firmware({"ram": "cpu", "flash": "cpu"}), (model(graph(operator, {"0": tiny, "9": tiny})),))


def test_a_wrong_padding_is_told_and_not_removed() -> None:
    text = graph("%1 = TANH(%0); %2 = PAD(%1, %3)", {"3": "int32[4,2] = [0, 0, -1, 1, 0, 0, 0, 0]"}, "%2")
    with pytest.raises(KernelError, match=r"K408.*has a padding below 0"):
        analyze(firmware({"ram": "cpu", "flash": "cpu"}), (model(text),))


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


def test_equal_operators_are_one() -> None:
    text = graph("%1 = TANH(%0); %2 = TANH(%0); %3 = TANH(%2); %4 = TANH(%1); %9 = ADD(%3, %4)", {})
    assert lines(text) == ["%1 = TANH(%0)", "%3 = TANH(%1)", "%9 = ADD(%3, %3)"]


@pytest.mark.parametrize(
    ("second", "tensors"),
    [
        ("%2 = TANH(%1)", {}),
        ("%2 = TANH(%0)", OTHER),
        ("%2 = LEAKY_RELU(%0)", {}),
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


def test_what_nobody_needs_goes() -> None:
    text = graph("%1 = TANH(%0); %2 = TANH(%1); %3, %4 = SPLIT(%5, %2); %9 = TANH(%0)", {"5": "int32[] = [3]"})
    assert lines(text, off=frozenset({"duplicates"})) == ["%9 = TANH(%0)"]


@pytest.mark.parametrize("operator", ['%1 = "CUSTOM:beep"(%0)', "%1 = RANDOM_UNIFORM(%0)", "%1 = BUILTIN_999(%0)"])
def test_what_may_have_an_effect_stays(operator: str) -> None:
    assert len(lines(graph(f"{operator}; %9 = TANH(%0)", {}))) == 2


def test_what_touches_state_stays() -> None:
    variable = {"1": "int8[1,4,4,2] scale=0.5 zero=-3 variable"}
    assert len(lines(graph("%2 = SVDF(%0, %1); %3 = READ_VARIABLE(%1); %9 = TANH(%0)", variable))) == 2


CONV = {
    "0": "int8[1,4,4,2] scale=0.5 zero=-3",
    "1": "int8[1,6,6,2] scale=0.5 zero=-3",
    "2": "int8[1,3,3,2] scale=0.25 zero=1",
    "3": "int8[2,3,3,2] scale=0.5 zero=0 = [1*36]",
    "4": "int32[2] = [1, 2]",
    "5": "int32[4,2] = [0, 0, 1, 1, 1, 1, 0, 0]",
    "6": "int8[1] scale=0.5 zero=-3 = [-3]",
    "7": "int8[1] scale=0.5 zero=-3 = [5]",
    "8": "int8[1,3,3,2] scale=0.25 zero=1",
    "9": "int8[1,3,3,2] scale=0.25 zero=1",
}
STRIDED = "CONV_2D(%1, %3, %4) padding=SAME stride_h=2 stride_w=2"


def test_a_padding_becomes_a_frame_together_with_that_of_the_convolution() -> None:
    """SAME over six pixels with stride 2 pads none before and one behind."""
    assert lines(graph(f"%1 = PAD(%0, %5); %9 = {STRIDED}", CONV)) == [
        "%9 = CONV_2D(%0, %3, %4) padding=VALID stride_h=2 stride_w=2 frame=[1, 2, 1, 2]"
    ]
    assert len(lines(graph(f"%1 = PADV2(%0, %5, %6); %9 = {STRIDED}", CONV))) == 1


@pytest.mark.parametrize(
    "operators",
    [
        f"%1 = PADV2(%0, %5, %7); %9 = {STRIDED}",
        f"%1 = PAD(%0, %5); %9 = {STRIDED}; %2 = MEAN(%1, %4)",
        f"%1 = MIRROR_PAD(%0, %5); %9 = {STRIDED}",
        "%1 = PAD(%0, %5); %9 = AVERAGE_POOL_2D(%1) padding=SAME stride_h=2 stride_w=2 filter_h=3 filter_w=3",
        "%1 = PAD(%0, %5); %9 = MAX_POOL_2D(%1) padding=SAME stride_h=2 stride_w=2 filter_h=3 filter_w=3",
        "%1 = PAD(%0, %5); %9 = MAX_POOL_2D(%1) padding=VALID stride_h=2 stride_w=2 filter_h=1 filter_w=1",
    ],
)
def test_a_padding_stays_that_nobody_can_take(operators: str) -> None:
    same = {
        name: text.replace("0.25 zero=1", "0.5 zero=-3") if "POOL" in operators else text for name, text in CONV.items()
    }
    text = graph(operators, same, "%9, %2" if "MEAN" in operators else "%9")
    assert "PAD" in lines(text)[0]


def test_a_padding_that_makes_an_output_stays() -> None:
    assert len(lines(graph(f"%1 = PAD(%0, %5); %9 = {STRIDED}", CONV, "%9, %1"))) == 2


ADD = "%1 = ADD(%0, %0)"


@pytest.mark.parametrize(
    ("clamp", "zero", "options"),
    [
        ("RELU", -3, "activation=RELU"),
        ("RELU6", -3, "activation=RELU6"),
        ("RELU", 10, "activation=RELU"),
        ("QUANTIZE", 10, "limits=[-115, 127]"),
        ("QUANTIZE", -128, "limits=[-128, 2]"),
    ],
)
def test_a_clamp_goes_into_the_operator_before(clamp: str, zero: int, options: str) -> None:
    tensors = {"9": f"int8[1,4,4,2] scale=0.5 zero={zero}"}
    assert lines(graph(f"{ADD}; %9 = {clamp}(%1)", tensors)) == [f"%9 = ADD(%0, %0) {options}"]


@pytest.mark.parametrize(
    ("operators", "output", "outputs"),
    [
        (f"{ADD}; %9 = QUANTIZE(%1)", "int8[1,4,4,2] scale=0.25 zero=-3", "%9"),
        (f"{ADD}; %9 = RELU6(%1)", "int8[1,4,4,2] scale=0.5 zero=4", "%9"),
        (f"{ADD}; %9 = RELU(%1)", "int8[1,4,4,2] scale=0.5 zero=-3", "%9, %1"),
        (f"{ADD}; %9 = RELU(%1); %8 = TANH(%1)", "int8[1,4,4,2] scale=0.5 zero=-3", "%9, %8"),
        ("%1 = TANH(%0); %9 = RELU(%1)", "int8[1,4,4,2] scale=0.5 zero=-3", "%9"),
        ("%1 = MAX_POOL_2D(%0) filter_h=2; %9 = QUANTIZE(%1)", "int8[1,4,4,2] scale=0.5 zero=4", "%9"),
    ],
)
def test_a_clamp_stays_where_it_cannot_be_joined(operators: str, output: str, outputs: str) -> None:
    made = lines(graph(operators, {"9": output}, outputs))
    assert len(made) == len(operators.split(";"))
    assert "limits" not in "".join(made)


CHANGING = [
    CHAIN,
    "%1 = TANH(%0); %2 = TANH(%0); %9 = ADD(%1, %2)",
    f"{ADD}; %9 = RELU(%1)",
    "%1 = TANH(%0); %9 = TANH(%0)",
]


@pytest.mark.parametrize("operators", [*CHANGING, f"%1 = PAD(%0, %5); %9 = {STRIDED}"])
@pytest.mark.parametrize("named", [False, True])
def test_operators_of_other_libraries_and_named_ones_stay(operators: str, named: bool) -> None:
    """All of them, or one of two that would become one."""
    text = graph(operators, CONV if "PAD" in operators else {})
    before = [op.position for op in model(text).main.operators]
    assert len(lines(text)) < len(before)
    for some in ([*before], before[-2:]):
        spots = frozenset((0, position) for position in some)
        pins = Pins(named=spots) if named else Pins(foreign=spots)
        assert len(lines(text, pins)) == len(before)


@pytest.mark.parametrize("operators", [f"{ADD}; %9 = RELU(%1)", f"%1 = PAD(%0, %5); %9 = {STRIDED}"])
def test_operators_of_two_targets_and_pinned_tensors_stay_apart(operators: str) -> None:
    text = graph(operators, CONV if "PAD" in operators else {})
    assert len(lines(text, Pins(targets={(0, 1): 1}))) == 2
    assert len(lines(text, Pins(targets={(0, 0): 1, (0, 1): 1}))) == 1
    assert len(lines(text, Pins(tensors={(0, 1): frozenset({0})}))) == 2
    assert len(lines(text, Pins(separated=frozenset({(0, 1)})))) == 2


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("identities", CHAIN),
        ("duplicates", "%1 = TANH(%0); %2 = TANH(%0); %9 = ADD(%1, %2)"),
        ("activations", f"{ADD}; %9 = RELU(%1)"),
        ("dead", "%1 = TANH(%0); %9 = LOGISTIC(%0)"),
        ("pads", f"%1 = PAD(%0, %5); %9 = {STRIDED}"),
    ],
)
def test_each_has_a_switch(name: str, operators: str) -> None:
    text = graph(operators, CONV if name == "pads" else {})
    count = len(operators.split(";"))
    assert len(lines(text)) < count
    assert len(lines(text, off=frozenset({name}))) == count


def test_rewriting_twice_changes_nothing_more() -> None:
    for operators in CHANGING:
        once = rewrite(model(graph(operators, {}))).model
        assert write(rewrite(once).model) == write(once)


class Listening:
    """A kernel library that remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Operator] = []

    def kernel(self, operator: Operator, graph: Subgraph, /) -> NoKernel:
        self.asked.append(operator)
        return NoKernel("it listens")

    def sources(self, functions: object, prefix: str, /) -> KernelSources:
        return KernelSources("", "")


@pytest.mark.parametrize("how", ["target", "rule"])
def test_another_library_is_never_given_options_that_tflite_does_not_have(how: str) -> None:
    clamped = graph("%1 = ADD(%0, %0); %9 = QUANTIZE(%1)", {"9": "int8[1,4,4,2] scale=0.5 zero=10"})
    for text in (clamped, graph(f"%1 = PAD(%0, %5); %9 = {STRIDED}", CONV)):
        assert [op.options for op in asked(text, "reference", how)] != [op.options for op in asked(text, "mine", how)]
        for op in asked(text, "mine", how):
            assert not any(getattr(op.options, name, None) for name in ("frame", "limits", "outside")), op


def asked(text: str, name: str, how: str) -> list[Operator]:
    """What a library is asked for that a target, or a rule for single operators, has."""
    before, listening = model(text), Listening()
    rules = (PlaceRequest(positions=(0, 1), kernels=name),) if how == "rule" and name != "reference" else ()
    request = firmware({"ram": "cpu", "flash": "cpu"}, places=rules)
    if how == "target":
        request = replace(request, targets=(replace(request.targets[0], kernels=name), *request.targets[1:]))
    analyze(request, (before,), {(t, each): listening for t in (0, 1) for each in ("reference", "mine")})
    return listening.asked
