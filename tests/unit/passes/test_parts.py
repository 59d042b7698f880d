"""Concatenations and splits that become nothing, and those that must stay."""

from dataclasses import replace

import pytest

from tests.support import parts
from tests.support.road import PlanOnly, alive, analyze, analyze_as, model, request
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.kernels.reference import Reference
from usmp_build.passes.rewrite.work import work
from usmp_build.request import Goal, InputOutput, OperandRule, PlaceRequest, TargetRequest
from usmp_build.textual.text import write

LIKE = parts.LIKE


def kinds(text: str, io: InputOutput = InputOutput.POOL, library: PlanOnly | None = None) -> list[str]:
    return [op.kind for op in analyze(model(text), io=io, library=library).models[0].main.operators]


def offsets(text: str) -> dict[int, int]:
    storage = analyze(model(text)).storage
    return {ref.tensor: offset for ref, offset in storage.offsets.items()}


def test_inputs_of_a_concatenation_are_parts_of_its_output() -> None:
    analysis = analyze(model(parts.ROWS))
    assert [op.kind for op in analysis.models[0].main.operators] == [
        "MAX_POOL_2D",
        "MAX_POOL_2D",
        "JOIN",
        "AVERAGE_POOL_2D",
    ]
    assert [analysis.storage.tensors[TensorRef(0, 0, tensor)] for tensor in (1, 2, 3)] == [1, 1, 1]
    assert analysis.storage.offsets == {TensorRef(0, 0, 2): 192}


def test_the_whole_is_alive_from_its_first_part_on() -> None:
    assert alive(analyze(model(parts.ROWS)))["m.joined"] == [(1, 4)]


def test_outputs_of_a_split_are_parts_of_its_input() -> None:
    assert kinds(parts.SPLIT) == ["MAX_POOL_2D", "CUT", "MAX_POOL_2D", "AVERAGE_POOL_2D", "JOIN", "ADD"]
    assert offsets(parts.SPLIT) == {4: 96, 6: 96}


@pytest.mark.parametrize(
    "split", ["%4 = SPLIT_V(%1, %6, %2)", "%4 = UNPACK(%1) axis=1"], ids=["in sizes", "without their axis"]
)
def test_so_are_those_of_its_kin(split: str) -> None:
    shape = "int8[1,8,4]" if "UNPACK" in split else "int8[1,1,8,4]"
    text = f"""
    %0 "x" int8[1,2,8,4] {LIKE}
    %1 "a" int8[1,2,8,4] {LIKE}
    %2 "axis" int32[] = [-3]
    %3 "upper" {shape} {LIKE}
    %4 "lower" {shape} {LIKE}
    %5 "y" {shape} {LIKE}
    %6 "sizes" int32[2] = [1, 1]
    inputs %0
    outputs %5
    %1 = MAX_POOL_2D(%0) filter_h=3 filter_w=3
    %3, {split}
    %5 = ADD(%3, %4)
    """
    assert kinds(text) == ["MAX_POOL_2D", "CUT", "ADD"]
    assert offsets(text) == {4: 32}


def test_parts_of_parts_and_views_of_them() -> None:
    assert kinds(parts.NESTED) == ["ADD", "MUL", "JOIN", "VIEW", "VIEW", "CUT", "SUB", "JOIN", "ADD"]
    assert offsets(parts.NESTED) == {2: 20, 3: 40, 12: 10}


def test_packs_and_elements_of_several_bytes() -> None:
    assert offsets(parts.PACKED) == {2: 24}
    assert offsets(parts.FLOATS) == {3: 24, 5: 24}


def test_a_mask_hides_the_begin_of_an_axis_that_shrinks() -> None:
    text = """
    %0 "x" int8[3,8]
    %1 "begin" int32[2] = [1, 0]
    %2 "end" int32[2] = [2, 8]
    %3 "step" int32[2] = [1, 1]
    %4 "row" int8[8]
    %5 "y" int8[8]
    inputs %0
    outputs %5
    %4 = STRIDED_SLICE(%0, %1, %2, %3) shrink_axis_mask=1
    %5 = ABS(%4)
    """
    assert offsets(text) == {4: 8}
    hidden = text.replace("shrink", "begin_mask=1 shrink")
    assert kinds(hidden) == ["CUT", "ABS"]
    assert offsets(hidden) == {}  # the first row: as in TensorFlow Lite Micro


def test_savings_lie_between_the_model_and_what_is_planned() -> None:
    """Those of parts, too."""
    before = model(parts.NESTED)
    analysis = analyze(before)
    saved = [each.operators for each in analysis.rewrites[0].savings]
    assert sum(saved) == work(before).operators - work(analysis.models[0]).operators > 0


def test_the_text_of_a_model_with_parts() -> None:
    text = write(analyze(model(parts.SPLIT)).models[0])
    assert "%3, %4 = CUT(%1) offsets=[0, 96]" in text
    assert "%7 = JOIN(%5, %6) offsets=[0, 96]" in text


JOIN = f"""
    %0 "x" int8[1,4] {LIKE}
    %1 "a" int8[1,4] {LIKE}
    %2 "b" int8[1,4] {LIKE}
    %3 "joined" int8[1,8] {LIKE}
    %4 "y" int8[1,8] {LIKE}
    inputs %0
    outputs %4
    %1 = TANH(%0)
    %2 = RELU(%0)
    %3 = CONCATENATION(%1, %2) axis=1
    %4 = TANH(%3)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("CONCATENATION(%1, %2)", "CONCATENATION(%1, %1)", id="one part twice"),
        pytest.param("CONCATENATION(%1, %2)", "CONCATENATION(%1, %0)", id="an input of the model"),
        pytest.param("outputs %4", "outputs %4, %1", id="an output of the model"),
        pytest.param(f'"a" int8[1,4] {LIKE}', f'"a" int8[1,4] {LIKE} variable', id="a variable"),
        pytest.param(f'"a" int8[1,4] {LIKE}', '"a" int8[1,4] scale=0.2 zero=3', id="another quantization"),
        pytest.param("axis=1", "axis=1 activation=RELU", id="an activation"),
    ],
)
def test_what_stays_a_concatenation(old: str, new: str) -> None:
    assert kinds(JOIN)[2] == "JOIN"
    assert old in JOIN
    assert "CONCATENATION" in kinds(JOIN.replace(old, new))


def test_what_nobody_reads_has_no_parts() -> None:
    text = JOIN.replace('"y" int8[1,8]', '"y" int8[1,4]').replace("%4 = TANH(%3)", "%4 = RELU(%1)")
    asked = request("m")
    kept = replace(asked.models[0], rewrites_off=frozenset({"dead"}))
    after = analyze_as(replace(asked, models=(kept,)), model(text)).models[0].main
    assert [op.kind for op in after.operators] == ["TANH", "RELU", "CONCATENATION", "RELU"]


def test_a_constant_is_copied() -> None:
    text = JOIN.replace(f'"a" int8[1,4] {LIKE}', f'"a" int8[1,4] {LIKE} = [1,2,3,4]').replace("%1 = TANH(%0)\n", "")
    assert kinds(text) == ["RELU", "CONCATENATION", "TANH"]


def test_channels_that_others_touch_than_windows_are_copied() -> None:
    text = JOIN.replace("int8[1,4]", "int8[2,4]").replace("int8[1,8]", "int8[2,8]")
    assert kinds(text)[2] == "CONCATENATION"


def channels(old: str = "", new: str = "", goal: Goal = Goal.RAM) -> list[str]:
    """Return the kinds of the operators of a net of convolutions, changed."""
    text = parts.convolutions("int8")
    assert old in text
    asked = request("m")
    asked = replace(asked, models=(replace(asked.models[0], goal=goal),))
    graph = analyze_as(asked, model(text.replace(old, new)), library=Reference()).models[0].main
    return [op.kind for op in graph.operators]


def test_channels_are_written_and_read_where_they_lie() -> None:
    text = write(analyze_as(request("m"), model(parts.convolutions("int8")), library=Reference()).models[0])
    assert "%10 = JOIN(%3, %6, %9) offsets=[0, 5, 10] pitch=14" in text
    assert "%12, %13 = CUT(%10) offsets=[0, 7] pitch=14" in text


def test_storage_knows_pitches_and_where_parts_begin() -> None:
    storage = analyze_as(request("m"), model(parts.convolutions("float32")), library=Reference()).storage
    assert storage.pitches == {TensorRef(0, 0, t): 56 for t in (3, 6, 9, 12, 13)} | {
        TensorRef(0, 0, t): 124 for t in (16, 19)
    }
    assert {ref.tensor: offset for ref, offset in storage.offsets.items()} == {6: 20, 9: 40, 13: 28, 19: 12}


def test_kernels_pass_over_other_channels() -> None:
    kernels = analyze_as(request("m"), model(parts.convolutions("int8")), library=Reference()).kernels
    forms = [kernels[OperatorRef(0, 0, index)].calls[0].form for index in (0, 1)]
    assert [(form.input_row_elements, form.output_row_elements) for form in forms] == [(14, 7 * 14), (7 * 14, 7 * 14)]


def nested(text: str) -> tuple[list[str], dict[int, int], dict[int, int]]:
    """Return the kinds of operators, the pitches and the offsets, of plans with all parts that there may be."""
    analysis = analyze_as(request("m"), model(text), library=Reference())
    offsets = {ref.tensor: offset for ref, offset in analysis.storage.offsets.items()}
    graph = analysis.models[0].main
    return [op.kind for op in graph.operators], graph.pitches, offsets


def test_parts_of_parts_have_the_pitch_of_the_outermost() -> None:
    """Both halves of what is split are parts, so all of it is; others may copy from them."""
    kinds, pitches, offsets = nested(parts.GROWN)
    assert [kind for kind in kinds if "POOL" not in kind] == ["JOIN", "CUT", "ADD", "JOIN", "CONCATENATION", "SPLIT"]
    assert pitches == dict.fromkeys((1, 2, 3, 5, 6, 7, 8), 15)
    assert offsets == {2: 3, 5: 6, 6: 6, 7: 9, 8: 12}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("%1, %2, %6, %7, %8)", "%1, %2, %7, %6, %8)", id="halves that change places"),
        pytest.param("%1, %2, %6, %7, %8)", "%1, %2, %6, %8, %7)", id="something between the halves"),
    ],
)
def test_who_is_no_part_of_the_outermost(old: str, new: str) -> None:
    assert old in parts.GROWN
    kinds = nested(parts.GROWN.replace(old, new))[0]
    assert kinds.count("JOIN") == 1


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_elementwise_operators_go_pixel_by_pixel(dtype: str) -> None:
    kinds, _, offsets = nested(parts.elements(dtype))
    width = 1 if dtype == "int8" else 4
    balanced = replace(request("m").models[0], goal=Goal.BALANCED)
    after = analyze_as(replace(request("m"), models=(balanced,)), model(parts.elements(dtype)), library=Reference())
    assert "JOIN" not in {op.kind for op in after.models[0].main.operators}
    assert kinds.count("JOIN") == 2
    assert offsets == {3: 5 * width, 5: 10 * width, 7: 15 * width, 8: 20 * width, 11: 5 * width}


def test_who_cannot_pass_over_other_channels() -> None:
    assert channels().count("JOIN") == 2
    assert channels("outputs %20", "outputs %20, %6").count("JOIN") == 1
    reader = """
        %21 "r" int8[1,210] scale=0.1 zero=3
        inputs %0
        outputs %20, %21"""
    text = parts.convolutions("int8").replace("inputs %0\n    outputs %20", reader) + "    %21 = RESHAPE(%6)\n"
    after = analyze_as(request("m"), model(text), library=Reference()).models[0].main
    assert [op.kind for op in after.operators].count("JOIN") == 1


def test_a_goal_may_forbid_shorter_runs() -> None:
    assert channels(goal=Goal.RAM)[3] == "JOIN"
    assert channels(goal=Goal.BALANCED)[3:5] == ["CONCATENATION", "CUT"]


def test_operators_that_are_named_get_no_pitches() -> None:
    asked = request("m")
    named = replace(asked.models[0], places=(PlaceRequest(operators="CONV_2D", target=0),))
    after = analyze_as(replace(asked, models=(named,)), model(parts.convolutions("int8")), library=Reference())
    assert {"JOIN", "CUT"}.isdisjoint(op.kind for op in after.models[0].main.operators)


def test_another_library_knows_no_pitches() -> None:
    assert {"JOIN", "CUT"}.isdisjoint(kinds(parts.CHANNELS))


def test_a_tensor_is_part_of_one_other_only() -> None:
    text = JOIN.replace("outputs %4", f'%5 "other" int8[1,8] {LIKE}\noutputs %4, %5').replace(
        "%4 = TANH(%3)", "%5 = CONCATENATION(%2, %1) axis=1\n%4 = TANH(%3)"
    )
    assert kinds(text) == ["TANH", "RELU", "JOIN", "CONCATENATION", "TANH"]


def test_an_output_may_be_a_whole_but_not_in_the_callers_array() -> None:
    text = JOIN.replace("outputs %4", "outputs %3").replace("%4 = TANH(%3)", "")
    assert kinds(text) == ["TANH", "RELU", "JOIN"]
    assert kinds(text, io=InputOutput.APPLICATION) == ["TANH", "RELU", "CONCATENATION"]


def test_an_output_of_the_model_is_no_part_of_a_split_tensor() -> None:
    text = parts.SPLIT.replace("outputs %8", "outputs %8, %4")
    assert kinds(text)[1] == "SPLIT"


def test_parts_have_the_alignment_that_kernels_demand() -> None:
    for alignment, expected in ((4, "JOIN"), (8, "CONCATENATION")):
        library = PlanOnly({"RELU": Kernel((), alignment=alignment)})
        assert kinds(JOIN, library=library)[2] == expected


def test_parts_have_the_alignment_that_rules_demand() -> None:
    for alignment, expected in ((4, "JOIN"), (8, "CONCATENATION")):
        rule = OperandRule("RELU", ("output 0",), alignment=alignment)
        asked = replace(request("m"), targets=(TargetRequest("cpu", "reference", rules=(rule,)),))
        after = analyze_as(asked, model(JOIN)).models[0].main
        assert after.operators[2].kind == expected


def test_a_named_operator_stays() -> None:
    asked = request("m")
    named = replace(asked.models[0], places=(PlaceRequest(operators="CONCATENATION", target=0),))
    after = analyze_as(replace(asked, models=(named,)), model(JOIN)).models[0].main
    assert after.operators[2].kind == "CONCATENATION"


def test_tensors_that_are_pinned_apart_stay_apart() -> None:
    asked = request("m", limits=(None, None))
    pinned = replace(asked.models[0], places=(PlaceRequest(tensors="a", pools=(1,)),))
    after = analyze_as(replace(asked, models=(pinned,)), model(JOIN)).models[0].main
    assert after.operators[2].kind == "CONCATENATION"


APART = f"""
    %0 "x" int8[1,8] {LIKE}
    %1 "a" int8[1,8] {LIKE}
    %2 "axis" int32[] = [1]
    %3 "u" int8[1,4] {LIKE}
    %4 "v" int8[1,4] {LIKE}
    %5 "p" int8[1,4] {LIKE}
    %6 "q" int8[1,4] {LIKE}
    %7 "y" int8[1,4] {LIKE}
    inputs %0
    outputs %7
    %1 = RELU(%0)
    %3, %4 = SPLIT(%2, %1)
    %5 = RELU(%3)
    %6 = RELU(%4)
    %7 = ADD(%5, %6)
"""


def test_separations_count_from_where_buffers_begin() -> None:
    """The second part is read for the last time where `q` is written: `q` may lie over it, not over the first byte."""
    problem = analyze_as(request("m"), model(APART), library=Reference()).problem
    number = {buffer.name: index for index, buffer in enumerate(problem.buffers)}
    a, q, p, y = (number[f"m.{name}"] for name in "aqpy")
    assert problem.separations[y, p] == 0
    assert problem.separations[q, a] == -4
    assert (a, q) not in problem.separations
    assert (p, a) not in problem.separations
