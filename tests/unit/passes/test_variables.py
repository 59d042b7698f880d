"""Variables with a name: handles become the variable, CALL_ONCE its first value, and all of one name share a buffer."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support import stateful
from tests.support.road import alive, analyze, analyze_as, firmware, model
from usmp_build.errors import ManifestError
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.check import check
from usmp_build.ir.graph import DType, Model, Quantization, Tensor
from usmp_build.ir.storage import Kind
from usmp_build.passes.rewrite import rewrite
from usmp_build.passes.rewrite.variables import variables
from usmp_build.textual.text import read, write

SUM = """
    subgraph 0 "main"
    %0 "x" int8[4] scale=0.5 zero=1
    %1 "sum" resource[]
    %2 "before" int8[4] scale=0.5 zero=2
    %3 "after" int8[4] scale=0.5 zero=3
    inputs %0
    outputs %3
    _ = CALL_ONCE() subgraph=1
    %1 = VAR_HANDLE() shared_name="sum"
    %2 = READ_VARIABLE(%1)
    %3 = ADD(%2, %0)
    _ = ASSIGN_VARIABLE(%1, %3)
    subgraph 1 "once"
    %0 "" resource[]
    %1 "first" int8[4] = [1, 2, 3, 4]
    inputs
    outputs
    %0 = VAR_HANDLE() shared_name="sum"
    _ = ASSIGN_VARIABLE(%0, %1)
"""


def test_a_handle_becomes_its_variable() -> None:
    graph = variables(model(SUM)).main
    assert [op.kind for op in graph.operators] == ["READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"]
    variable = graph.tensors[1]
    assert (variable.name, variable.shape, variable.dtype) == ("sum", (4,), DType.INT8)
    assert (variable.is_variable, variable.resource, variable.initial) == (True, "/sum", bytes([1, 2, 3, 4]))


def test_it_has_the_quantization_of_what_is_assigned_first() -> None:
    """So TensorFlow Lite Micro finds the value that a variable has when nobody gives it one."""
    text = SUM.replace("_ = CALL_ONCE() subgraph=1\n", "").replace('shared_name="sum"\n    _ =', "\n    _ =")
    variable = variables(model(text)).main.tensors[1]
    assert (variable.initial, variable.initial_byte) == (None, 3)


def test_a_handle_that_is_marked_as_a_variable_is_a_handle() -> None:
    marked = SUM.replace('%0 "" resource[]', '%0 "" float32[] variable').replace(
        '"sum" resource[]', '"sum" int8[] variable'
    )
    rewritten = rewrite(model(marked)).model
    assert [op.kind for op in rewritten.main.operators] == ["READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"]
    assert rewritten.main.tensors[1].initial == bytes([1, 2, 3, 4])


def test_call_once_stays_where_it_does_something_else() -> None:
    computing = SUM.replace("_ = ASSIGN_VARIABLE(%0, %1)", "%2 = RELU(%1)\n_ = ASSIGN_VARIABLE(%0, %2)").replace(
        '"first" int8[4] = [1, 2, 3, 4]', '"first" int8[4] = [1, 2, 3, 4]\n%2 "relu" int8[4]'
    )
    assert "CALL_ONCE" in [op.kind for op in variables(model(computing)).main.operators]
    late = SUM.replace("_ = CALL_ONCE() subgraph=1\n", "").replace(
        "%3 = ADD(%2, %0)", "%3 = ADD(%2, %0)\n    _ = CALL_ONCE() subgraph=1"
    )
    rewritten = variables(model(late)).main
    assert "CALL_ONCE" in [op.kind for op in rewritten.operators]
    assert rewritten.tensors[1].initial is None


BRANCHES = """
    subgraph 0 "main"
    %0 "x" int8[4]
    %1 "which" bool[]
    %2 "y" int8[4]
    inputs %0, %1
    outputs %2
    %2 = IF(%1, %0) then_subgraph=1 else_subgraph=2
    subgraph 1 "keep"
    %0 "in" int8[4]
    %1 "handle" resource[]
    inputs %0
    outputs %0
    %1 = VAR_HANDLE() shared_name="kept"
    _ = ASSIGN_VARIABLE(%1, %0)
    subgraph 2 "recall"
    %0 "unused" int8[4]
    %1 "handle" resource[]
    %2 "out" int8[4]
    inputs %0
    outputs %2
    %1 = VAR_HANDLE() shared_name="kept"
    %2 = READ_VARIABLE(%1)
"""


def test_all_of_one_name_are_one_buffer_in_whichever_subgraph() -> None:
    analysis = analyze(model(BRANCHES))
    kept = [b for b in analysis.storage.buffers if b.kind is Kind.VARIABLE]
    assert [(b.name, b.size, b.reason) for b in kept] == [("m.handle", 4, "kept between runs")]
    assert alive(analysis)["m.handle"] == [(0, analysis.schedule.length)]


def test_models_do_not_share_variables_of_one_name() -> None:
    buffers = analyze(model(SUM, "a"), model(SUM, "b")).storage.buffers
    assert [b.name for b in buffers if b.kind is Kind.VARIABLE] == ["a.sum", "b.sum"]


def test_several_handles_of_one_subgraph_are_one_tensor() -> None:
    text = SUM.replace(
        "_ = ASSIGN_VARIABLE(%1, %3)", '%4 = VAR_HANDLE() shared_name="sum"\n_ = ASSIGN_VARIABLE(%4, %3)'
    ).replace("inputs %0\n", '%4 "again" resource[]\n    inputs %0\n', 1)
    assert variables(model(text)).main.operators[-1].inputs == (1, 3)


def test_the_result_is_a_model_that_changes_no_more() -> None:
    for seed in range(20):
        imported = import_tflite(stateful.accumulators(np.random.default_rng(seed)), "m", "m.tflite")
        once = rewrite(imported).model
        assert check(once) is None
        assert rewrite(once).model == once == replace(read(write(once), "m", "m.txt"), name="m")


def test_first_values_are_constants_unless_all_bytes_are_alike() -> None:
    first = [b.data for b in analyze(model(SUM)).storage.buffers if b.name == "m.sum.initial"]
    assert first == [bytes([1, 2, 3, 4])]
    alike = analyze(model(SUM.replace("[1, 2, 3, 4]", "[7, 7, 7, 7]"))).storage
    assert [b.name for b in alike.buffers if b.kind is Kind.CONSTANT] == []
    assert alike.initial == {}


def test_a_first_value_needs_a_pool_that_target_0_reads() -> None:
    with pytest.raises(ManifestError, match=r'P381.*variable "sum" of model "m" has no pool.*"cpu"'):
        analyze_as(firmware({"ram": "cpu npu", "flash": "npu"}), model(SUM))


@pytest.mark.parametrize(
    ("tensor", "byte"),
    [
        (Tensor("", (2,), DType.INT8, Quantization((0.5,), (-3,))), 0xFD),
        (Tensor("", (2,), DType.INT16, Quantization((0.5,), (3,))), 0),
        (Tensor("", (2,), DType.INT16, Quantization((0.5,), (3,)), resource="/a"), 3),
        (Tensor("", (2,), DType.FLOAT32), 0),
    ],
)
def test_what_a_variable_holds_at_first_as_in_tflm(tensor: Tensor, byte: int) -> None:
    assert tensor.initial_byte == byte


BUFFERS = """
    %0 "x" int8[1,1,1,4] scale=0.5 zero=-3
    %1 "kept" int8[1,3,1,4] scale=0.5 zero=-3 variable
    %2 "valid" bool[1]
    %3 "plain" int8[1,5,1,4]
    inputs %0
    outputs %1, %2, %3
    %1, %2 = "CUSTOM:CIRCULAR_BUFFER"(%0) cycles_max=2
    %3 = "CUSTOM:CIRCULAR_BUFFER"(%0)
"""


def test_a_circular_buffer_updates_its_output_if_that_is_a_variable() -> None:
    graph = variables(model(BUFFERS)).main
    assert [(op.inputs, op.outputs) for op in graph.operators] == [((0, 1, 4), (2,)), ((0,), (3,))]
    kept, runs = graph.tensors[1], graph.tensors[4]
    assert (kept.is_variable, kept.initial_byte) == (True, 0x100 - 3)
    assert (runs.shape, runs.dtype, runs.is_variable) == ((1,), DType.INT32, True)


def test_tensors_of_one_name_must_be_of_one_size() -> None:
    tensors = [Tensor("", (size,), DType.INT8, is_variable=True, resource="/a") for size in (2, 3)]
    graph = replace(model('%0 "x" int8[1]\ninputs\noutputs').main, tensors=tuple(tensors))
    fault = check(Model("m", (graph,)))
    assert fault is not None
    assert fault.code == "T267"


def test_a_variable_holds_no_strings() -> None:
    fault = check(model('%0 "v" string[1] variable resource="/a"\ninputs\noutputs'))
    assert fault is not None
    assert fault.message.endswith('"v" is STRING, but values of the variable "/a" need a fixed size')


def test_a_first_value_must_fill_its_variable() -> None:
    fault = check(model('%0 "v" int8[3] variable = [1, 2]\ninputs\noutputs %0'))
    assert fault is not None
    assert fault.code == "T224"
