"""Which tensors share a buffer, and which buffers exist beside them."""

from dataclasses import replace

import pytest

from tests.support.road import PlanOnly, analyze, model
from tests.support.small_models import KERNEL, VIEWED, WEIGHTS
from usmp_build.errors import ModelError
from usmp_build.ir.graph import Model, Port
from usmp_build.ir.ports import port_names
from usmp_build.request import InputOutput


def test_a_view_has_the_buffer_of_its_source() -> None:
    storage = analyze(model(VIEWED)).storage
    assert [buffer.name for buffer in storage.buffers] == ["m.x", "m.a", "m.y"]
    assert {ref.tensor: index for ref, index in storage.tensors.items()} == {0: 0, 1: 1, 2: 1, 3: 2}


def test_kinds_and_reasons() -> None:
    buffers = analyze(model(VIEWED)).storage.buffers
    assert [(b.kind.value, b.reason) for b in buffers] == [
        ("input", "input"),
        ("intermediate", "written by TANH 0"),
        ("output", "written by TANH 2"),
    ]


def test_arrays_of_the_application_have_no_planned_bytes() -> None:
    storage = analyze(model(VIEWED), io=InputOutput.APPLICATION).storage
    assert [buffer.name for buffer in storage.buffers] == ["m.a"]
    assert {ref.tensor: port.tensor for ref, port in storage.arguments.items()} == {0: 0, 3: 3}


SHOWN = """
    %0 "x" int8[4]
    %1 "c" int8[4] = [1, 2, 3, 4]
    %2 "state" int8[4] variable
    %3 "y" int8[4]
    %4 "shown" int8[2,2]
    inputs %0
    outputs %0, %3, %3, %4, %1, %2
    %3 = TANH(%0)
    %4 = RESHAPE(%3)
"""


def test_outputs_in_arrays_of_the_application_share_no_bytes() -> None:
    """An input, an output twice, a constant and a variable are copied; RESHAPE copies by itself."""
    shared = {buffer.name for buffer in analyze(model(SHOWN)).storage.buffers}
    assert shared == {"m.x", "m.y", "m.shown", "m.c", "m.state"}
    analysis = analyze(model(SHOWN), io=InputOutput.APPLICATION)
    main = analysis.models[0].main
    assert main.outputs == (5, 3, 6, 4, 7, 8)
    copies = [(op.inputs[0], op.outputs[0]) for op in main.operators if op.kind == "COPY"]
    assert copies == [(0, 5), (3, 6), (1, 7), (2, 8)]
    arrays = {ref.tensor: port.tensor for ref, port in analysis.storage.arguments.items()}
    assert arrays == {port: port for port in (0, *main.outputs)}
    assert [buffer.kind.value for buffer in analysis.storage.buffers] == ["constant", "variable"]


def test_copied_outputs_keep_their_names() -> None:
    """The signature says two names for one tensor, and the same tensor is an input, too."""
    main = model(SHOWN).main
    twice = replace(main, outputs=(3, 3, 0))
    names = (Port("one", 3), Port("other", 3), Port("echo", 0))
    for io in InputOutput:
        signed = Model("m", (twice,), (Port("in", 0),), names)
        (after,) = analyze(signed, io=io).models
        assert port_names(after, {}, ()) == (("in",), ("one", "other", "echo"))


def test_a_kernel_brings_scratch_and_constants_and_says_which_inputs_it_reads() -> None:
    storage = analyze(model(WEIGHTS), library=PlanOnly({"TANH": KERNEL})).storage
    assert [(b.name, b.kind.value, b.size, b.alignment) for b in storage.buffers] == [
        ("m.x", "input", 4, 8),
        ("m.w", "constant", 8, 8),
        ("m.y", "output", 4, 8),
        ("m.y.sums", "scratch", 16, 8),
        ("m.y.table", "constant", 12, 4),
    ]


def test_scratch_lives_only_at_its_step() -> None:
    analysis = analyze(model(WEIGHTS), library=PlanOnly({"TANH": KERNEL}))
    assert analysis.lifetimes.intervals[3] == ((1, 2),)


def test_equal_constants_are_one_buffer_within_and_across_models() -> None:
    analysis = analyze(model(WEIGHTS, "a"), model(WEIGHTS, "b"), library=PlanOnly({"TANH": KERNEL}))
    constants = [b for b in analysis.storage.buffers if b.kind.value == "constant"]
    assert [(b.name, b.models) for b in constants] == [("a.w", (0, 1)), ("a.y.table", (0, 1))]


def test_a_tensor_whose_size_is_unknown_is_named() -> None:
    with pytest.raises(ModelError, match=r'error\[P303\].*"words" \(STRING\)'):
        analyze(
            model("""
            %0 "words" string[3]
            %1 "y" int8[3]
            inputs %0
            outputs %1
            %1 = "CUSTOM:Split"(%0)
        """)
        )


def test_names_do_not_depend_on_rewriting_and_are_unique() -> None:
    text = """
        %0 "net/a/x;other" int8[4]
        %1 "net/a/x" int8[4]
        %2 "" int8[4]
        inputs %0
        outputs %2
        %1 = TANH(%0)
        %2 = TANH(%1)
    """
    assert [b.name for b in analyze(model(text)).storage.buffers] == ["m.a/x", "m.a/x_2", "m.t2"]
