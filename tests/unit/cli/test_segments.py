"""Segments of a model compute what the whole model does, and what shares state stays in one of them."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.support import stateful
from tests.support.cli import DATA
from tests.support.drawn_flow import drawn_flow
from tests.support.drawn_nets import drawn
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.flatfile import flatfile
from tests.support.kernels import litert
from tests.support.kernels.drawing import constant, plain
from tests.support.tools import few, needs_oracle
from tests.support.tree import ROOT
from usmp_build.importers.tflite import read_tflite
from usmp_build.ir.graph import DType, Operator, Subgraph
from usmp_build.ir.options import While
from usmp_build.request import InputOutput, ModelRequest
from usmp_build.selftest.asking import Ours, Question, accepted, ask
from usmp_build.selftest.inputs import samples
from usmp_build.selftest.oracle_process import TFLM
from usmp_build.selftest.segments import File, Segment

REQUEST = ModelRequest("m", "m.tflite", "", (), (), InputOutput.POOL, {})
MODELS: dict[str, Callable[[], bytes]] = {
    "control": lambda: (DATA / "control.tflite").read_bytes(),
    "flow": lambda: flatfile(*drawn_flow(np.random.default_rng(3))),
    "kitchen": lambda: (DATA / "kitchen_b.tflite").read_bytes(),
    "net": lambda: drawn(5),
    "ring": lambda: stateful.ring(np.random.default_rng(1)),
    "sums": lambda: stateful.accumulators(np.random.default_rng(1)),
    "svdf": lambda: stateful.svdf(np.random.default_rng(1), layers=2),
    "transformer": lambda: (ROOT / "tests" / "models" / "transformer_int8.tflite").read_bytes(),
}


def softmax() -> bytes:
    """SOFTMAX of 512 numbers that are not negative."""
    shape = (1, 512)
    tensors = [tensor(name, shape, Quantization=quantization([1.0], [0])) for name in ("x", "r")]
    tensors.append(tensor("y", shape, Quantization=quantization([1 / 256], [-128])))
    operators = [operator("RELU", [0], [1]), operator("SOFTMAX", [1], [2], Node("SoftmaxOptions", Beta=1.0))]
    return write(model(subgraph(tensors, operators, [0], [2])))


def answers(data: bytes, segments: list[Segment]) -> list[dict[int, bytes]]:
    """Return what each run writes, of four runs."""
    read = read_tflite(data, "m")
    runs = [dict(zip(read.main.inputs, sample, strict=True)) for sample in samples(read, 4, 1)]
    replies = ask(Question(REQUEST, data, segments, runs))
    assert replies.aborted == []
    return [
        {int(name): value.tobytes() for part in run or [] for name, value in part.items() if name.isdecimal()}
        for run in replies.runs
    ]


@needs_oracle
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few(MODELS, 3))
def test_units_one_by_one_compute_what_the_whole_model_does(name: str) -> None:
    data = MODELS[name]()
    file = File(data)
    tensors = {t for op in file.main.operators for t in op.outputs if file.main.tensors[t].dtype is not DType.RESOURCE}
    whole = Segment(TFLM, (), [(tensor, None) for tensor in file.main.inputs], sorted(tensors))
    assert all(accepted(REQUEST, data, file.trials()))
    segments = file.segments([False] * len(file.units), TFLM, tensors)
    assert [index for segment in segments for index in segment.operators] == list(range(len(file.main.operators)))
    assert len(segments) == len(file.units) > (name not in {"ring", "sums"})
    assert answers(data, segments) == answers(data, [whole])


def test_what_shares_state_is_not_cut_apart() -> None:
    """The accumulators read and assign variables by name; two SVDF have one of their own each, or one together."""
    assert max(map(len, File(stateful.accumulators(np.random.default_rng(1))).units)) > 1
    assert max(map(len, File(stateful.svdf(np.random.default_rng(1), layers=2)).units)) == 1
    shared = File(stateful.shared_state(np.random.default_rng(1)))
    first, last = (i for i, op in enumerate(shared.main.operators) if op.kind == "SVDF")
    assert [*range(first, last + 1)] in shared.units


@needs_oracle
def test_refused_operators_in_called_subgraphs_count_too() -> None:
    """TensorFlow Lite Micro prepares all subgraphs: one that an operator does not call must not matter to it."""
    flag, x = plain("c", (1,), DType.BOOL), plain("x", (4,), DType.FLOAT32)
    times = constant("times", np.array([1], np.int32))
    test = Subgraph("test", (x, flag), (0,), (1,), (Operator("CUSTOM:Nobody", (0,), (1,), None, 0),))
    body = Subgraph("body", (x, x, times), (0,), (1,), (Operator("TILE", (0, 2), (1,), None, 0),))
    operators = (
        Operator("RELU", (0,), (1,), None, 0),
        Operator("WHILE", (1,), (2,), While(1, 2), 1),
        Operator("RELU", (2,), (3,), None, 2),
    )
    data = flatfile(Subgraph("main", (x, x, x, x), (0,), (3,), operators), test, body)
    assert accepted(REQUEST, data, File(data).trials()) == [True, False, True]


@needs_oracle
def test_segments_go_on_with_other_values_in_some_channels_or_all() -> None:
    q = quantization([1.0], [0])
    tensors = [tensor(name, (1, 4), Quantization=q) for name in ("x", "r", "y")]
    operators = [operator("RELU", [0], [1]), operator("RELU", [1], [2])]
    data = write(model(subgraph(tensors, operators, [0], [2])))
    ours = Ours([{1: np.array([[9, 8]], np.int8)}, {}], {1: (0, 2)})
    runs = [{0: np.array([[1, 2, 3, 4]], np.int8)}] * 2
    replies = ask(Question(REQUEST, data, File(data).segments([False, False], TFLM, [1, 2]), runs, ours))
    values = [[part[name].tolist() for part, name in zip(run or [], "12", strict=True)] for run in replies.runs]
    assert values == [[[[1, 2, 3, 4]], [[9, 2, 8, 4]]], [[[1, 2, 3, 4]]] * 2]


@needs_oracle
def test_what_is_refused_when_it_runs_is_refused_and_what_aborts_on_zeros_is_not() -> None:
    """REDUCE_MAX of int16 says so late; exponentials of 512 equal numbers add up to too much."""
    refused = litert.cases()[0].graph
    assert refused.operators[0].kind == "REDUCE_MAX"
    assert accepted(REQUEST, flatfile(refused), File(flatfile(refused)).trials()) == [False]
    assert accepted(REQUEST, softmax(), File(softmax()).trials()) == [True, True]


@needs_oracle
@pytest.mark.parametrize(("has_state", "aborted"), [(False, [1, 2]), (True, [1])])
def test_a_run_on_which_a_later_segment_aborts_is_not_answered(has_state: bool, aborted: list[int]) -> None:
    """Of 512 equal numbers, which runs 1 and 2 have, SOFTMAX aborts; the operator before it has answered then."""
    data = softmax()
    runs = [{0: sample[0]} for sample in samples(read_tflite(data, "m"), 5, 1)]
    segments = File(data).segments([False, False], TFLM, [1, 2])
    replies = ask(Question(REQUEST, data, segments, runs, has_state=has_state))
    assert replies.aborted == aborted
    without = set(range(1, 5)) if has_state else {1, 2}
    assert [number for number, run in enumerate(replies.runs) if run is None] == sorted(without)
