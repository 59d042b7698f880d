"""Identities, duplicates, paddings, activations and dead operators: what becomes of them, and what must stay."""

from dataclasses import replace

import pytest

from tests.support.rewriting import graph, lines
from tests.support.road import firmware, model
from usmp_build.interfaces.kernels import KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.request import PlaceRequest
from usmp_build.search.analyze import analyze
from usmp_build.textual.text import write

EQUAL = "QUANTIZE(%0)"
CHAIN = "%1 = TANH(%0); %2 = QUANTIZE(%1); %9 = TANH(%2)"


def test_what_nobody_needs_goes() -> None:
    text = graph("%1 = TANH(%0); %2 = TANH(%1); %3, %4 = SPLIT(%5, %2); %9 = TANH(%0)", {"5": "int32[] = [3]"})
    assert lines(text, off=frozenset({"duplicates"})) == ["%9 = TANH(%0)"]


THREE = {str(i): "int8[1,4,4,2] scale=0.5 zero=-3" for i in (3, 4, 9)} | {"0": "int8[1,12,4,2] scale=0.5 zero=-3"}


@pytest.mark.parametrize(
    ("split", "sizes", "begin", "end"),
    [
        ("%9, %3, %4 = SPLIT(%5, %0)", "", 0, 4),
        ("%3, %4, %9 = SPLIT(%5, %0)", "", 8, 12),
        ("%3, %9, %4 = SPLIT_V(%0, %6, %5)", "[4, 4, 4]", 4, 8),
        ("%3, %9 = SPLIT_V(%0, %6, %5)", "[8, -1]", 8, 12),
    ],
)
@pytest.mark.parametrize("axis", [1, -3])
def test_a_split_with_one_part_read_becomes_a_slice(split: str, sizes: str, begin: int, end: int, axis: int) -> None:
    tensors = {**THREE, "5": f"int32[] = [{axis}]", "6": f"int32[{sizes.count(',') + 1}] = {sizes or '[0]'}"}
    if "-1" in sizes:
        tensors["3"] = "int8[1,8,4,2] scale=0.5 zero=-3"
    rewritten = rewrite(model(graph(split, tensors))).model.main
    (op,) = rewritten.operators
    assert (op.kind, op.inputs[0], op.outputs) == ("STRIDED_SLICE", 0, (9,))
    bounds = [rewritten.tensors[index or 0].as_array().tolist() for index in op.inputs[1:]]
    assert bounds == [[0, begin, 0, 0], [1, end, 4, 2], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("operators", "tensors", "outputs"),
    [
        ("%9, %3, %4 = SPLIT(%5, %0)", {}, "%9, %3"),
        ("%9, %3, %4 = SPLIT(%5, %0); %8 = TANH(%4)", {"8": THREE["4"]}, "%9, %8"),
        ("%9, %3, %4 = SPLIT(%5, %0)", {"5": "int32[] = [9]"}, "%9"),
        ("%9, %3, %4 = SPLIT(%5, %0)", {"5": "int32[]"}, "%9"),
        ("%9, %3, %4 = SPLIT(%5, %0)", {"4": "int8[1,2,4,2] scale=0.5 zero=-3"}, "%9"),
        ("%9, %3, %4 = SPLIT(%5, %0)", {"4": "int8[1,4,4,1] scale=0.5 zero=-3"}, "%9"),
        ("%9, %3, %4 = SPLIT_V(%0, %6, %5)", {"6": "int32[3] = [4, 2, 6]"}, "%9"),
        ("%9, %3, %4 = SPLIT_V(%0, %6, %5)", {"6": "int32[2] = [4, 8]"}, "%9"),
    ],
)
def test_a_split_stays(operators: str, tensors: dict[str, str], outputs: str) -> None:
    """Two of its parts are needed, or its operands do not make them."""
    text = graph(operators, {**THREE, "5": "int32[] = [1]", **tensors}, outputs)
    assert "SPLIT" in lines(text)[0]
    named = graph("%9, %3, %4 = SPLIT(%5, %0)", {**THREE, "5": "int32[] = [1]"})
    assert "SPLIT" in lines(named, Pins(named=frozenset({(0, 0)})))[0]
    assert "SPLIT" in lines(named, Pins(foreign=frozenset({(0, 0)})))[0]


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
        ("RELU_N1_TO_1", -3, "activation=RELU_N1_TO_1"),
        ("RELU_N1_TO_1", 10, "activation=RELU_N1_TO_1"),
    ],
)
def test_a_clamp_goes_into_the_operator_before(clamp: str, zero: int, options: str) -> None:
    tensors = {"9": f"int8[1,4,4,2] scale=0.5 zero={zero}"}
    assert lines(graph(f"{ADD}; %9 = {clamp}(%1)", tensors)) == [f"%9 = ADD(%0, %0) {options}"]


def test_bounds_go_into_the_operator_before() -> None:
    bounds = {name: f"int8[1] scale=0.5 zero=-3 = [{value}]" for name, value in (("3", 9), ("4", -20), ("5", -3))}
    clipped = f"{ADD}; %2 = MINIMUM(%1, %3); %9 = MAXIMUM(%4, %2)"
    assert lines(graph(clipped, bounds)) == ["%9 = ADD(%0, %0) limits=[-20, 9]"]
    assert lines(graph(f"{ADD}; %9 = MAXIMUM(%1, %5)", bounds)) == ["%9 = ADD(%0, %0) limits=[-3, 127]"]
    bounds["4"] = "int8[1] scale=0.5 zero=-4 = [-20]"  # integers are compared as they are
    assert lines(graph(clipped, bounds)) == ["%9 = ADD(%0, %0) limits=[-20, 9]"]


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
    left = lines(graph(operators, {"9": output}, outputs))
    assert len(left) == len(operators.split(";"))
    assert "limits" not in "".join(left)


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
