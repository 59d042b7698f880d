"""Scratch: as many bytes as operators need by their definitions, and no name that another library's kernels have."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from checker.model import Model
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft
from tests.support.lstms import lstm

CONV = fb.Node("Conv2DOptions", StrideH=1, StrideW=1)
DEPTHWISE = fb.Node("DepthwiseConv2DOptions", StrideH=1, StrideW=1)
TRANSPOSED = fb.Node("TransposeConvOptions", StrideH=1, StrideW=1)
Shape = Sequence[int]


def needed(data: bytes, reads: Sequence[int], writes: Sequence[int], sizes: Sequence[int], **more: Any) -> str:
    """Check a plan of one operator, all of whose tensors and scratch buffers lie apart."""
    file = Model(data)
    names = [f"s{number}" for number in range(len(sizes))]
    steps = more.get("steps", ["OP 0"])
    life, at, buffers = (0, len(steps) + 2), 0, []
    for t in (*reads, *writes):
        kind = "variable" if t in file.variables else "intermediate"
        size = file.tensors[t].elements * file.tensors[t].width
        buffers.append(draft.buffer(f"b{t}", at, size, life, kind=kind, alignment=8))
        at += size + -size % 16
    for name, size in zip(names, sizes, strict=True):
        buffers.append(draft.buffer(name, at, size, life, kind="scratch", alignment=8) | more.get(name, {}))
        at += size + -size % 16
    tensors = [draft.tensor(t, f"b{t}") for t in (*reads, *writes)]
    model = draft.model([draft.operator(0, reads, writes, *names)], tensors)
    plan = draft.plan(["enter", *steps, "leave"], [model], buffers, pools=[draft.pool(at + 64)])
    return draft.verdict(plan | {"targets": more.get("targets", [draft.OURS])}, data)


def says(step: str, *sizes: tuple[int, int]) -> str:
    wanted = " and ".join(f"{size} bytes at a multiple of {unit}" for size, unit in sizes) or "no bytes"
    return f'wrong: step 1, "m: {step}", needs scratch of {wanted}'


QUANTIZED: dict[str, tuple[str, list[tuple[Shape, str]], Shape, fb.Node | None, int]] = {
    "an image": ("CONV_2D", [([2, 3, 1, 4], "FLOAT32"), ([5, 1, 1, 4], "INT8")], [2, 3, 1, 5], CONV, 12),
    "an image for each channel": (
        "DEPTHWISE_CONV_2D", [([2, 3, 1, 4], "FLOAT32"), ([1, 1, 1, 4], "INT8")], [2, 3, 1, 4], DEPTHWISE, 12,
    ),
    "a row": ("FULLY_CONNECTED", [([3, 7], "FLOAT32"), ([2, 7], "INT8")], [3, 2], None, 7),
    "an image that is spread": (
        "TRANSPOSE_CONV", [([4], "INT32"), ([5, 1, 1, 4], "INT8"), ([2, 3, 1, 4], "FLOAT32")], [2, 3, 1, 5],
        TRANSPOSED, 12,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUANTIZED)
def test_floats_are_quantized_to_as_many_bytes(name: str) -> None:
    kind, operands, out, options, size = QUANTIZED[name]
    streamed = next(t for t, (_, dtype) in enumerate(operands) if dtype == "FLOAT32")
    data, tensors = [], []
    for t, (shape, dtype) in enumerate(operands):
        buffer = 0
        if t != streamed:
            data.append(np.ones(prod(shape), np.int8 if dtype == "INT8" else np.int32))
            buffer = len(data)
        tensors.append(fb.tensor(f"t{t}", shape, dtype, Buffer=buffer))
    y = len(tensors)
    tensors.append(fb.tensor("y", out, "FLOAT32"))
    file = draft.file(tensors, [fb.operator(kind, [*range(y)], [y], options)], [streamed], [y], *data)
    assert needed(file, [streamed], [y], [size]) == needed(file, [streamed], [y], [size + 3]) == ""
    verdict_text = says("OP 0", (size, 1))
    for sizes in ([size - 1], [1], [], [size, size]):
        assert needed(file, [streamed], [y], sizes) == verdict_text
    other = [draft.OURS | {"kernels": "cmsis-nn"}]
    assert needed(file, [streamed], [y], [size], targets=other) == ""
    believed = "not checked: m: scratch of operator 0, which may be of another library"
    assert needed(file, [streamed], [y], [size - 1], targets=[draft.OURS, *other]) == believed


@pytest.mark.parametrize(("kind", "dtype", "unit"), [
    ("AVERAGE_POOL_2D", "INT8", 4), ("AVERAGE_POOL_2D", "INT16", 4), ("CONV_2D", "INT8", 4), ("CONV_2D", "INT16", 8),
    ("DEPTHWISE_CONV_2D", "INT16", 8),
])  # fmt: skip
def test_sums_are_as_wide_as_they_are_added_up(kind: str, dtype: str, unit: int) -> None:
    """Of int16 with weights, sums have 64 bits."""
    tensors = [fb.tensor("x", [1, 3, 1, 2], dtype), fb.tensor("y", [1, 1, 1, 2], dtype)]
    shapes = {"CONV_2D": [2, 3, 1, 2], "DEPTHWISE_CONV_2D": [1, 3, 1, 2]}
    options: dict[str, tuple[str, dict[str, int]]] = {
        "CONV_2D": ("Conv2DOptions", {}),
        "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", {}),
    }
    name, more = options.get(kind, ("Pool2DOptions", {"FilterHeight": 3, "FilterWidth": 1}))
    node = fb.operator(
        kind, [0, 2][: 1 + (kind in shapes)], [1], fb.Node(name, Padding=1, StrideH=1, StrideW=1, **more)
    )
    data = []
    if kind in shapes:
        tensors.append(fb.tensor("w", shapes[kind], "INT8", Buffer=1))
        data.append(np.ones(prod(shapes[kind]), np.int8))
    file = draft.file(tensors, [node], [0], [1], *data)
    steps = [f"{kind} 0, row {row}" for row in range(3)]
    assert needed(file, [0], [1], [2 * unit], steps=steps) == ""
    assert needed(file, [0], [1], [2 * unit - 1], steps=steps) == says(steps[0], (2 * unit, unit))
    assert needed(file, [0], [1], [2 * unit], steps=steps, s0={"alignment": unit // 2}) == says(
        steps[0], (2 * unit, unit)
    )


def test_of_another_library_no_scratch_is_known_to_be_sums() -> None:
    """So an output in its place is not covered: that of two bytes from 16 on."""
    options = fb.Node("Pool2DOptions", Padding=1, StrideW=1, StrideH=1, FilterHeight=3, FilterWidth=1)
    tensors = [fb.tensor("x", [1, 3, 1, 2]), fb.tensor("y", [1, 1, 1, 2])]
    file = draft.file(tensors, [fb.operator("AVERAGE_POOL_2D", [0], [1], options)], [0], [1])
    steps = [f"AVERAGE_POOL_2D 0, row {row}" for row in range(3)]
    other: dict[str, Any] = {"steps": steps, "targets": [draft.OURS | {"kernels": "cmsis-nn"}]}
    over = f'not covered: step 3, "m: {steps[2]}", whose output overlaps its scratch'
    believed = "not checked: m: scratch of operator 0, which may be of another library"
    for offset, verdict_text in ((9, believed), (10, over), (17, over), (18, believed)):
        assert needed(file, [0], [1], [7], **other, s0={"offset": offset, "alignment": 1}) == verdict_text


@pytest.mark.parametrize(("kind", "axes", "size"), [
    ("MEAN", [1, 2], 8), ("SUM", [1, 2], 8), ("MEAN", [0, 1, 2], 8), ("MEAN", [-2, 1], 8), ("MEAN", [3], 0),
    ("MEAN", [0], 8), ("MEAN", [], 8), ("MEAN", [1, 3], 0), ("SUM", [-3, -1], 0), ("REDUCE_MAX", [1, 2], 0),
])  # fmt: skip
def test_axes_side_by_side_are_added_up(kind: str, axes: list[int], size: int) -> None:
    """Row by row, in sums for all channels; others element by element, as along the channels."""
    shape = [1, 3, 4, 2]
    kept = [n for axis, n in enumerate(shape) if axis not in axes and axis - 4 not in axes]
    tensors = [fb.tensor("x", shape), fb.tensor("axes", [len(axes)], "INT32", Buffer=1), fb.tensor("y", kept)]
    file = draft.file(
        tensors, [fb.operator(kind, [0, 1], [2])], [0], [2], np.array(axes or [0], np.int32)[: len(axes) or 1]
    )
    if axes:
        sizes = [size] * (size > 0)
        assert needed(file, [0], [2], sizes) == ""
        verdict_text = says("OP 0", *[(size, 4)] * (size > 0))
        assert needed(file, [0], [2], [4] if not size else [size - 1]) == verdict_text


def test_detection_keeps_boxes_and_their_scores() -> None:
    """For six boxes their corners, their best scores, and whether each is still a candidate."""
    tensors = [fb.tensor(name, shape, "FLOAT32") for name, shape in (("boxes", [1, 6, 4]), ("scores", [1, 6, 3]))]
    tensors.append(fb.tensor("anchors", [6, 4], "FLOAT32", Buffer=1))
    tensors += [fb.tensor(f"y{i}", shape, "FLOAT32") for i, shape in enumerate(([1, 2, 4], [1, 2], [1, 2], [1]))]
    node = fb.operator("CUSTOM:TFLite_Detection_PostProcess", [0, 1, 2], [3, 4, 5, 6])
    graph = fb.subgraph(tensors, [node], [0, 1], [3, 4, 5, 6])
    file = fb.write(fb.model(graph, data=[np.ones(24, np.float32).tobytes()]))
    outs = [3, 4, 5, 6]
    assert needed(file, [0, 1], outs, [96, 24, 6]) == ""
    verdict_text = says("OP 0", (96, 4), (24, 4), (6, 1))
    for sizes in ([95, 24, 6], [96, 23, 6], [96, 24, 5], [96], []):
        assert needed(file, [0, 1], outs, sizes) == verdict_text
    by_class = "not checked: m: that operator 0 picks boxes of each class by itself"
    assert needed(file, [0, 1], outs, [96, 6]) == by_class
    verdict_text = says("OP 0", (96, 4), (6, 1))
    assert needed(file, [0, 1], outs, [96, 5]) == needed(file, [0, 1], outs, [95, 6]) == verdict_text


@pytest.mark.parametrize("dtype", ["INT8", "INT16", "FLOAT32", "dynamic"])
def test_an_lstm_quantizes_what_it_reads(dtype: str) -> None:
    """Of floats with weights of integers, a step's input and what the step before left."""
    data = lstm(np.random.default_rng(3), dtype if dtype != "dynamic" else "FLOAT32", dtype == "dynamic")
    file = Model(data)
    op = file.operators[0]
    reads = [op.inputs[0], op.inputs[18], op.inputs[19]]
    size = file.tensors[op.inputs[0]].shape[-1] + file.tensors[op.outputs[0]].shape[-1]
    if dtype == "dynamic":
        assert needed(data, reads, op.outputs, [size]) == ""
        for sizes in ([size - 1], []):
            assert needed(data, reads, op.outputs, sizes) == says("OP 0", (size, 1))
    else:
        assert needed(data, reads, op.outputs, []) == ""
        assert needed(data, reads, op.outputs, [size]) == says("OP 0")


def recurrent(kind: str, dtype: str, is_dynamic: bool = False) -> bytes:
    """Return a layer of two units that takes three inputs, for each of two steps of an LSTM or batches of an SVDF."""
    shape: list[int] = [2, 3] if kind == "SVDF" else [1, 2, 3]
    tensors = [fb.tensor("x", shape, dtype), fb.tensor("y", [*shape[:-1], 2], dtype)]
    tensors += [fb.tensor(name, [2, 4], dtype, IsVariable=True) for name in ("hidden", "cell")]
    tensors.append(fb.tensor("w", [2, 3], "INT8" if is_dynamic else dtype, Buffer=1))
    inputs = [0, 4, 4, -1, 2] if kind == "SVDF" else [0, *[4] * 8, *[-1] * 9, 2, 3]
    return draft.file(tensors, [fb.operator(kind, inputs, [1])], [0], [1], np.ones(24, np.int8))


@pytest.mark.parametrize(("kind", "dtype", "is_dynamic"), [
    ("UNIDIRECTIONAL_SEQUENCE_LSTM", "INT8", False), ("UNIDIRECTIONAL_SEQUENCE_LSTM", "INT16", False),
    ("UNIDIRECTIONAL_SEQUENCE_LSTM", "FLOAT32", True), ("SVDF", "INT8", False),
])  # fmt: skip
def test_layers_with_states_read_an_input_for_each_step(kind: str, dtype: str, is_dynamic: bool) -> None:
    """An LSTM reads it for each unit, unless it is quantized; an SVDF first, of each batch."""
    data = recurrent(kind, dtype, is_dynamic)
    width = {"INT8": 1, "INT16": 2, "FLOAT32": 4}[dtype]
    states = [2] if kind == "SVDF" else [2, 3]

    def verdict(y: int, backward: bool = False, scratch: int = 5) -> str:
        names = ["q"] * is_dynamic
        tensors = [draft.tensor(t, name) for t, name in enumerate("xy")]
        tensors += [draft.tensor(t, f"s{t}") for t in states]
        model = draft.model([draft.operator(0, [0, *states], [1], *names)], tensors, backward=[0] * backward)
        buffers = [draft.buffer("x", 16 * width, 6 * width, (0, 2), alignment=width)]
        buffers.append(draft.buffer("y", y * width, 4 * width, (1, 3), alignment=width))
        buffers += [
            draft.buffer(f"s{t}", 32 * t * width, 8 * width, (0, 3), kind="variable", alignment=width) for t in states
        ]
        buffers += [draft.buffer("q", 200 * width, scratch, (1, 2), kind="scratch")] * is_dynamic
        plan = draft.plan(["enter", f"{kind} 0", "leave"], [model], buffers, pools=[draft.pool(256 * width)])
        return draft.verdict(plan, data)

    is_early = is_dynamic or kind == "SVDF"
    for y in range(10, 24):
        written = {y + e: e // 2 if is_early else e for e in range(4)}
        last = {16 + e: e // 3 if is_early else e // 3 * 2 + 1 for e in range(6)}
        is_wrong = any(at in last and turn < last[at] for at, turn in written.items())
        verdict_text = verdict(y)
        assert ("overwrites element" in verdict_text) == bool(verdict_text) == is_wrong, y
    for t in states:
        assert "overwrites element" in verdict(32 * t)
    if kind != "SVDF":
        assert verdict(40, backward=True) == f'wrong: step 1, "m: {kind} 0", runs its steps backward'


@pytest.mark.parametrize(("dtype", "backward"), [("INT8", False), ("INT16", False), ("INT16", True)])
def test_outputs_take_the_place_of_sums_that_have_been_read(dtype: str, backward: bool) -> None:
    """Of a convolution of three rows, whose eight sums become outputs one by one."""
    width, unit = (1, 4) if dtype == "INT8" else (2, 8)
    tensors = [fb.tensor("x", [1, 3, 1, 1], dtype), fb.tensor("y", [1, 1, 1, 8], dtype)]
    tensors.append(fb.tensor("w", [8, 3, 1, 1], Buffer=1))
    options = fb.Node("Conv2DOptions", Padding=1, StrideH=1, StrideW=1)
    data = draft.file(tensors, [fb.operator("CONV_2D", [0, 2], [1], options)], [0], [1], np.ones(24, np.int8))
    steps = ["enter", *(f"CONV_2D 0, row {row}" for row in range(3)), "leave"]
    places = [draft.tensor(0, "x"), draft.tensor(1, "y")]
    model = draft.model([draft.operator(0, [0], [1], "sums")], places, backward=[0] * backward)
    for y in range(24, 130, width):
        buffers = [
            draft.buffer("x", 0, 3 * width, (0, 4), alignment=width),
            draft.buffer("y", y, 8 * width, (3, 5), alignment=width),
            draft.buffer("sums", 32, 8 * unit, (0, 4), kind="scratch", alignment=8),
        ]  # fmt: skip
        written = {y + at: at // width for at in range(8 * width)}
        over = [((at - 32) // unit, e) for at, e in written.items() if 32 <= at < 32 + 8 * unit]
        is_wrong = any(e > k if backward else e < k for k, e in over)
        verdict_text = draft.verdict(draft.plan(steps, [model], buffers), data)
        assert ("overwrites sum" in verdict_text) == bool(verdict_text) == is_wrong, y
