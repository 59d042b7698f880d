"""Tensors that are pinned out of the reach of whoever writes or reads them."""

import pytest

from tests.support.road import analyze_as, firmware, model
from tests.support.scopes import APART, CHAIN, NPU, operators, places
from usmp_build.errors import ManifestError
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.request import Copying, InputOutput, PlaceRequest


def pinned(name: str, *pools: int) -> PlaceRequest:
    return PlaceRequest(tensors=name, pools=pools)


def test_a_view_of_a_variable_cannot_be_elsewhere() -> None:
    text = """
        %0 "x" int8[4]
        %1 "state" int8[4] variable
        %2 "seen" int8[2,2]
        %3 "y" int8[4]
        inputs %0
        outputs %2, %3
        %2 = VIEW(%1)
        %3 = SVDF(%0, %1)
    """
    asked = firmware({"ram": "cpu", "local": "npu"}, places=(pinned("seen", 1),))
    with pytest.raises(ManifestError, match=r'(?s)P314.*"seen" must be in local \(place pins it\).*"state" must be'):
        analyze_as(asked, model(text))


def test_what_is_pinned_out_of_the_writers_reach_is_copied_there() -> None:
    """MUL can read "b" where it is pinned; ADD reads what it can reach: there is one copy, right before MUL."""
    text = CHAIN.replace("%3 = ADD(%1, %2)", "%3 = ADD(%0, %2)").replace("%4 = MUL(%3, %1)", "%4 = MUL(%3, %2)")
    on_npu = PlaceRequest(operators="ADD", target=1)
    asked = firmware(APART, places=(NPU, on_npu, pinned("b", 0)), copies=Copying.EXTERN)
    analysis = analyze_as(asked, model(text))
    assert operators(analysis) == [
        "%1 = TANH(%0) @0",
        "%6 = COPY(%1) @5",
        "%5 = CONV_2D(%6) @1",
        "%7 = COPY(%0) @6",
        "%3 = ADD(%7, %5) @2",
        "%2 = COPY(%5) @4",
        "%8 = COPY(%3) @7",
        "%4 = MUL(%8, %2) @3",
    ]
    assert places(analysis)["b"] == "r"
    assert places(analysis)["b.in_local"] == "l"
    assert analysis.scopes.reasons[TensorRef(0, 0, 2)] == "place pins it"
    assert analysis.scopes.targets[OperatorRef(0, 0, 5)] == 1


def test_what_only_its_writers_side_reads_is_where_it_is_pinned_meanwhile() -> None:
    """Both operators run on npu, and ram is where the tensor waits between them."""
    on_npu = PlaceRequest(operators="*", target=1)
    asked = firmware(APART, places=(on_npu, pinned("b", 0)), copies=Copying.EXTERN)
    lines = [line.partition(" @")[0] for line in operators(analyze_as(asked, model(CHAIN)))]
    assert lines[2:6] == ["%5 = CONV_2D(%1)", "%2 = COPY(%5)", "%7 = COPY(%2)", "%3 = ADD(%1, %7)"]


def test_a_pinned_output_that_target_0_copies_must_be_within_its_reach() -> None:
    reach = {"ram": "cpu", "window": "cpu npu", "local": "npu"}
    analysis = analyze_as(firmware(reach, places=(NPU, pinned("b", 0))), model(CHAIN))
    assert operators(analysis)[1:3] == ["%5 = CONV_2D(%1) @1", "%2 = COPY(%5) @4"]
    assert places(analysis)["b.in_window_local"] == "w"
    with pytest.raises(ManifestError) as caught:
        analyze_as(firmware(APART, places=(NPU, pinned("b", 0))), model(CHAIN))
    assert str(caught.value) == (
        'm.tflite: error[P315]: a rule of place pins tensor 2 "b" to ram, and operator 1 (CONV_2D) on target "npu" '
        'writes it in local: target "cpu" would have to copy it, but does not reach both\n'
        'help: write copies = "extern" for the target that writes or reads it, let "cpu" reach both (`targets` of a '
        "pool), or pin it elsewhere"
    )


def test_an_input_that_is_pinned_out_of_its_readers_reach_is_copied_to_him() -> None:
    asked = firmware({"ram": "cpu npu", "tcm": "cpu"}, places=(NPU, pinned("x", 1)))
    text = CHAIN.replace("CONV_2D(%1)", "CONV_2D(%0)")
    assert operators(analyze_as(asked, model(text)))[1:3] == ["%5 = COPY(%0) @4", "%2 = CONV_2D(%5) @1"]


@pytest.mark.parametrize("io", InputOutput)
def test_an_input_is_copied_to_where_it_is_pinned(io: InputOutput) -> None:
    """The application fills it in ram, or brings an array; TANH reads it in local memory."""
    tanh = PlaceRequest(operators="TANH", target=1)
    asked = firmware(APART, places=(NPU, tanh, pinned("x", 1)), copies=Copying.EXTERN, io=io)
    analysis = analyze_as(asked, model(CHAIN))
    assert operators(analysis)[:2] == ["%5 = COPY(%0) @4", "%1 = TANH(%5) @0"]
    assert {name: pools for name, pools in places(analysis).items() if name[0] == "x"} == {
        "x": "r" if io is InputOutput.POOL else "",
        "x.in_local": "l",
    }


def test_views_of_one_tensor_that_are_pinned_apart() -> None:
    """The first view decides where CONV_2D writes; the second is copied."""
    text = """
        %0 "x" int8[4]
        %1 "a" int8[4]
        %2 "b" int8[2,2]
        %3 "c" int8[1,4]
        %4 "y" int8[2,2]
        %5 "z" int8[1,4]
        inputs %0
        outputs %4, %5
        %1 = TANH(%0)
        %2 = VIEW(%1)
        %3 = VIEW(%1)
        %4 = TANH(%2)
        %5 = TANH(%3)
    """
    asked = firmware({"ram": "cpu", "tcm": "cpu"}, places=(pinned("b", 0), pinned("c", 1)))
    analysis = analyze_as(asked, model(text))
    assert operators(analysis)[2:5] == ["%6 = VIEW(%1) @2", "%4 = TANH(%2) @3", "%3 = COPY(%6) @5"]
    assert {name: places(analysis)[name] for name in "abc"} == {"a": "r", "b": "r", "c": "t"}
