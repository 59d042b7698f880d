"""Connections: names on both sides, what cannot be one buffer, and what becomes one."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.road import alive, analyze_as, model, request
from usmp_build.errors import UsmpError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.request import ConnectionRequest, InputOutput, Inputs, Outputs, Request

FROM = """
    %0 "x" int8[1,4]
    %1 "boxes:0" int8[1,8] scale=0.5 zero=3
    %2 "half" int8[1,4]
    inputs %0
    outputs %1, %2
    %2 = TANH(%0)
    %1 = CONCATENATION(%2, %0)
"""
TO = """
    %0 "image" int8[8,1] scale=0.5 zero=3
    %1 "which" int8[2]
    %2 "class" int8[2]
    inputs %0, %1
    outputs %2
    %2 = ADD(%0, %1)
"""
OTHER = """
    %0 "x" int8[16]
    %1 "h" int8[16]
    %2 "y" int8[16]
    inputs %0
    outputs %2
    %1 = TANH(%0)
    %2 = TANH(%1)
"""
EDGE = ConnectionRequest(0, "boxes", 2, "image")


def analysis(source: str = FROM, target: str = TO, asked: Request | None = None, **changes: Any) -> Analysis:
    """detector (0) feeds judge (2) while other (1) comes between them."""
    asked = asked or request("detector", "other", "judge")
    asked = replace(asked, **{"connections": (EDGE,), **changes})
    return analyze_as(asked, model(source, "detector"), model(OTHER, "other"), model(target, "judge"))


def words(model_: int, **changes: Any) -> Request:
    asked = request("detector", "other", "judge")
    models = list(asked.models)
    models[model_] = replace(models[model_], **changes)
    return replace(asked, models=tuple(models))


def refusal(caught: pytest.ExceptionInfo[UsmpError]) -> str:
    return str(caught.value)


def test_both_sides_are_one_buffer() -> None:
    connected = analysis()
    (buffer,) = [b for b in connected.storage.buffers if b.kind is Kind.CONNECTION]
    assert (buffer.name, buffer.models, buffer.size) == ("detector.boxes:0", (0, 2), 8)
    assert buffer.reason == "feeds judge.image"
    assert "judge.image" not in [b.name for b in connected.storage.buffers]


def test_it_lives_from_its_writing_until_it_is_read_for_the_last_time() -> None:
    intervals = alive(analysis())
    assert intervals["detector.boxes:0"] == [
        (2, 10)
    ]  # 0 enter, 1 and 2 operators, 3 leave; other is 4 to 7; judge 8 to 10
    assert intervals["judge.class"] == [(9, 11)]


@pytest.mark.parametrize("word", [Inputs.PRESERVED, Inputs.RESERVED])
def test_a_consumer_that_preserves_its_inputs_may_run_again(word: Inputs) -> None:
    assert alive(analysis(asked=words(2, inputs=word)))["detector.boxes:0"][-1][1] == 11


def test_a_reserved_connection_is_nobody_elses() -> None:
    assert alive(analysis(asked=words(2, inputs=Inputs.RESERVED)))["detector.boxes:0"] == [(0, 11)]


def test_the_order_of_the_names_does_not_matter() -> None:
    """The consumer stands before the producer on the timeline."""
    asked = replace(request("a", "z"), connections=(ConnectionRequest(1, "boxes", 0, "image"),))
    intervals = alive(analyze_as(asked, model(TO, "a"), model(FROM, "z")))
    assert intervals["z.boxes:0"] == [(0, 2), (5, 7)]


def test_reserved_outputs_survive_others_and_the_filling_of_inputs() -> None:
    intervals = alive(analysis(asked=words(1, outputs=Outputs.RESERVED)))
    assert intervals["other.y"] == [(0, 5), (6, 11)]


def test_what_the_application_does_not_fill_costs_nothing_to_fill() -> None:
    asked = replace(request("detector", "other", "judge", limits=(None, None)), connections=(EDGE,))
    connected = analysis(asked=asked)
    (index,) = [i for i, b in enumerate(connected.storage.buffers) if b.kind is Kind.CONNECTION]
    # written by CONCATENATION, read by the application at the end, read by ADD
    assert connected.problem.buffers[index].costs == (0, 8 + 8 + 8)


def test_alignments_of_both_sides_hold() -> None:
    wide = FROM.replace("int8", "int32")
    connected = analysis(wide, TO.replace("int8", "int32"))
    (buffer,) = [b for b in connected.storage.buffers if b.kind is Kind.CONNECTION]
    assert buffer.alignment == 4


def test_concurrent_models_conflict_with_what_is_between_runs() -> None:
    connected = analysis(concurrent=frozenset({(1, 2)}))
    names = [b.name for b in connected.storage.buffers]
    of_other = [i for i, b in enumerate(connected.storage.buffers) if b.models == (1,)]
    conflicts = connected.problem.conflicts[names.index("detector.boxes:0")]
    assert set(of_other) <= set(conflicts)
    assert set(of_other) <= set(connected.problem.conflicts[names.index("judge.class")])
    assert not set(of_other) & set(connected.problem.conflicts[names.index("detector.half")])


def test_names_are_those_in_c_or_in_the_model() -> None:
    for edge in (EDGE, replace(EDGE, output="boxes:0")):
        assert analysis(connections=(edge,)).connections[0].producer_name == "detector.boxes"
    with pytest.raises(UsmpError, match=r'P341.*"detector" has no output called "bxes"') as caught:
        analysis(connections=(replace(EDGE, output="bxes"),))
    assert 'did you mean "boxes"? Outputs: boxes, half' in refusal(caught)
    with pytest.raises(UsmpError, match=r'P341.*"judge" has no input called "class"'):
        analysis(connections=(replace(EDGE, input="class"),))


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (TO.replace('"image" int8[8,1]', '"image" int8[4]'), r"int8\[1,8\].*int8\[4\]"),
        (TO.replace('"image" int8[8,1]', '"image" uint8[8,1]'), r"int8\[1,8\].*uint8\[8,1\]"),
        (TO.replace("zero=3", "zero=4"), r"real = 0.5 \* \(q - 3\).*real = 0.5 \* \(q - 4\)"),
        (TO.replace(" scale=0.5 zero=3", ""), r"real = 0.5 \* \(q - 3\).*not quantized"),
    ],
)
def test_both_sides_must_mean_the_same(target: str, shown: str) -> None:
    with pytest.raises(UsmpError, match=r'P342.*"detector.boxes" .*"judge.image".*') as caught:
        analysis(target=target)
    assert caught.match(shown)


def test_an_input_has_one_source() -> None:
    asked = request("a", "b", "c")
    edges = (ConnectionRequest(0, "boxes", 2, "image"), ConnectionRequest(1, "boxes", 2, "image"))
    with pytest.raises(UsmpError, match=r'P343.*"a.boxes" and "b.boxes" both feed "c.image"'):
        analyze_as(replace(asked, connections=edges), model(FROM, "a"), model(FROM, "b"), model(TO, "c"))


def test_an_output_may_feed_several_inputs() -> None:
    asked = request("a", "b", "c")
    edges = (ConnectionRequest(0, "boxes", 1, "image"), ConnectionRequest(0, "boxes", 2, "image"))
    analysis = analyze_as(replace(asked, connections=edges), model(FROM, "a"), model(TO, "b"), model(TO, "c"))
    assert alive(analysis)["a.boxes:0"] == [(2, 10)]  # b and c run in any order
    assert [b.models for b in analysis.storage.buffers if b.kind is Kind.CONNECTION] == [(0, 1, 2)]


def test_a_model_does_not_feed_itself() -> None:
    with pytest.raises(UsmpError, match=r'P344.*"detector" feeds itself'):
        analysis(connections=(ConnectionRequest(0, "half", 0, "x"),))


@pytest.mark.parametrize("side", [0, 2])
def test_arrays_of_the_caller_are_not_connected(side: int) -> None:
    with pytest.raises(UsmpError, match=r"P345.*in arrays of the caller") as caught:
        analysis(asked=words(side, io=InputOutput.APPLICATION))
    assert 'pass the same array to "detector" and "judge"' in refusal(caught)


def test_what_nothing_computes_feeds_nobody() -> None:
    through = """
        %0 "boxes" int8[8] scale=0.5 zero=3
        %1 "half" int8[8]
        inputs %0
        outputs %0, %1
        %1 = TANH(%0)
    """
    with pytest.raises(UsmpError, match=r'P346.*"detector.boxes.*" cannot feed "judge.image": it is an input'):
        analysis(through, connections=(replace(EDGE, output="boxes"),))


def test_models_at_one_time_do_not_feed_each_other() -> None:
    with pytest.raises(UsmpError, match=r'P347.*"detector" feeds "judge", and `concurrent` lets both run') as caught:
        analysis(concurrent=frozenset({(0, 2)}))
    assert 'take "detector" or "judge" out of the group' in refusal(caught)


def test_a_pool_is_common_to_both_sides() -> None:
    asked = request("detector", "other", "judge", limits=(None, None, None))
    models = (
        replace(asked.models[0], workspace_pools=(2, 0, 1)),
        asked.models[1],
        replace(asked.models[2], workspace_pools=(1, 2)),
    )
    connected = analysis(asked=replace(asked, models=models))
    (buffer,) = [b for b in connected.storage.buffers if b.kind is Kind.CONNECTION]
    assert buffer.pools == (2, 1)
    apart = (replace(models[0], workspace_pools=(0,)), *models[1:])
    with pytest.raises(UsmpError, match=r"P348.*no pool in common: one may be in pool0, the other in pool1 or pool2"):
        analysis(asked=replace(asked, models=apart))


def test_a_cycle_of_two_models_has_two_buffers() -> None:
    """Each model reads what the other one wrote last."""
    text = """
        %0 "in" int8[4]
        %1 "h" int8[4]
        %2 "out" int8[4]
        inputs %0
        outputs %2
        %1 = TANH(%0)
        %2 = TANH(%1)
    """
    edges = (ConnectionRequest(0, "out", 1, "in"), ConnectionRequest(1, "out", 0, "in"))
    intervals = alive(analyze_as(replace(request("a", "b"), connections=edges), model(text, "a"), model(text, "b")))
    assert intervals["a.out"] == [(2, 6)]
    assert intervals["b.out"] == [(0, 2), (6, 8)]


def test_an_output_that_is_a_view_is_what_it_shows() -> None:
    view = """
        %0 "x" int8[1,4]
        %1 "wide" int8[2,4] scale=0.5 zero=3
        %2 "boxes" int8[8] scale=0.5 zero=3
        inputs %0
        outputs %2
        %1 = CONCATENATION(%0, %0) axis=0
        %2 = RESHAPE(%1)
    """
    connected = analysis(view)
    assert [b.name for b in connected.storage.buffers if b.kind is Kind.CONNECTION] == ["detector.wide"]


def test_one_tensor_may_be_two_outputs() -> None:
    twice = FROM.replace("outputs %1, %2", "outputs %1, %1, %2")
    for name in ("boxes", "boxes_2"):
        connected = analysis(twice, connections=(replace(EDGE, output=name),))
        assert connected.connections[0].producer_name == f"detector.{name}"


def test_a_connected_input_comes_before_its_views() -> None:
    """A model names a buffer in C after the first of its tensors: the input, even if only a view of it is touched."""
    viewed = """
        %0 "image" int8[8,1] scale=0.5 zero=3
        %1 "which" int8[2]
        %2 "flat" int8[8] scale=0.5 zero=3
        %3 "class" int8[2]
        inputs %0, %1
        outputs %3
        %2 = RESHAPE(%0)
        %3 = ADD(%2, %1)
    """
    connected = analysis(target=viewed)
    (buffer,) = [number for number, b in enumerate(connected.storage.buffers) if b.kind is Kind.CONNECTION]
    mine = [ref.tensor for ref, number in connected.storage.tensors.items() if ref.model == 2 and number == buffer]
    assert mine == [0, 2]
