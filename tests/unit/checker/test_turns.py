"""How close the checker lets the input and the output of an operator come: what is read last before it is written."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

from checker.definitions import Definition
from checker.model import Model
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Shape = tuple[int, ...]
POOL = {"Padding": 1, "StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": 2}
CONV = {"Padding": 1, "StrideH": 1, "StrideW": 1}


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def lanes(channels: int, groups: int = 1) -> Callable[[int], int]:
    """Return the turn of an element where up to four channels of a group are computed at once."""

    def turn(e: int) -> int:
        pixel, channel = divmod(e, channels)
        group, lane = divmod(channel, channels // groups)
        return 1000 * pixel + 100 * group + lane // 4

    return turn


def blocks(size: int) -> Callable[[int], int]:
    return lambda e: e // size


CASES: dict[str, tuple[str, list[Any], Shape, fb.Node | None, Callable[[int], int]]] = {
    "an element at a time": ("TANH", [(2, 5)], (2, 5), None, blocks(1)),
    "what is broadcast": ("ADD", [(2, 1), np.ones((2, 3), np.int8)], (2, 3), None, blocks(1)),
    "rows": ("SOFTMAX", [(2, 3)], (2, 3), None, blocks(1)),
    "a pool": ("MAX_POOL_2D", [(1, 1, 6, 2)], (1, 1, 5, 2), fb.Node("Pool2DOptions", **POOL), blocks(1)),
    "four channels": (
        "CONV_2D", [(1, 1, 3, 2), np.ones((6, 1, 2, 2), np.int8)], (1, 1, 2, 6),
        fb.Node("Conv2DOptions", **CONV), lanes(6),
    ),
    "groups of channels": (
        "CONV_2D", [(1, 1, 2, 4), np.ones((12, 1, 1, 2), np.int8)], (1, 1, 2, 12),
        fb.Node("Conv2DOptions", **CONV), lanes(12, 2),
    ),
    "four rows of weights": ("FULLY_CONNECTED", [(3, 2), np.ones((6, 2), np.int8)], (3, 6), None, lanes(6)),
    "channels one by one": (
        "DEPTHWISE_CONV_2D", [(1, 1, 3, 2), np.ones((1, 1, 2, 6), np.int8)], (1, 1, 2, 6),
        fb.Node("DepthwiseConv2DOptions", **CONV, DepthMultiplier=3), blocks(1),
    ),
    "channels four by four": (
        "DEPTHWISE_CONV_2D", [(1, 1, 3, 2), np.ones((1, 1, 2, 8), np.int8)], (1, 1, 2, 8),
        fb.Node("DepthwiseConv2DOptions", **CONV, DepthMultiplier=4), blocks(4),
    ),
    "channels of one filter each": (
        "DEPTHWISE_CONV_2D", [(1, 1, 3, 6), np.ones((1, 1, 2, 6), np.int8)], (1, 1, 2, 6),
        fb.Node("DepthwiseConv2DOptions", **CONV, DepthMultiplier=1), lanes(6),
    ),
    "the parts of one": ("SPLIT", [ints(1), (2, 6)], (2, 3), fb.Node("SplitOptions", NumSplits=2), blocks(3)),
    "an end that is cut off": ("UNPACK", [(3, 2)], (3,), fb.Node("UnpackOptions", Num=2, Axis=1), blocks(1)),
    "channels of one pixel": (
        "DEPTHWISE_CONV_2D", [(1, 1, 2, 4), np.ones((1, 1, 2, 4), np.int8)], (1, 1, 1, 4),
        fb.Node("DepthwiseConv2DOptions", **CONV, DepthMultiplier=1), lanes(4),
    ),
    "channels two by two": (
        "DEPTHWISE_CONV_2D", [(1, 1, 2, 3), np.ones((1, 1, 2, 6), np.int8)], (1, 1, 1, 6),
        fb.Node("DepthwiseConv2DOptions", **CONV, DepthMultiplier=2), blocks(1),
    ),
    "everything at once": ("RESHAPE", [(2, 3)], (3, 2), None, blocks(6)),
    "no padding at all": ("PAD", [(3, 3), ints([0, 0], [0, 0])], (3, 3), None, blocks(9)),
    "lines with padding at their ends": ("PAD", [(2, 3, 2), ints([0, 0], [1, 2], [0, 0])], (2, 6, 2), None, blocks(12)),
    "lines within": ("PAD", [(2, 2, 2), ints([1, 0], [0, 0], [0, 0])], (3, 2, 2), None, blocks(12)),
    "lines of the last axis": ("PADV2", [(2, 3), ints([0, 0], [1, 0])], (2, 4), None, blocks(4)),
}  # fmt: skip


def file(kind: str, operands: list[Any], out: Shape, options: fb.Node | None, width: str, outs: int) -> bytes:
    """Return a model of one operator whose first operand that is no array is its input."""
    tensors, data = [], []
    for number, operand in enumerate(operands):
        if isinstance(operand, np.ndarray):
            data.append(operand.tobytes())
            tensors.append(fb.tensor(f"t{number}", operand.shape, str(operand.dtype).upper(), Buffer=len(data)))
        else:
            tensors.append(fb.tensor("x", operand, width))
    results = [*range(len(tensors), len(tensors) + outs)]
    given = [number for number, operand in enumerate(operands) if not isinstance(operand, np.ndarray)]
    tensors += [fb.tensor(f"y{number}", out, width) for number in results]
    node = fb.operator(kind, [*range(len(operands))], results, options)
    return fb.write(fb.model(fb.subgraph(tensors, [node], given, results), data=data))


def needs(kind: str, operands: list[Any], data: bytes, k: int) -> list[set[int]]:
    """Return for each element of the output those of the input that it needs, which other tests compare with numpy."""
    model = Model(data)
    of = Definition(model, model.operators[0], k)
    (given,) = (number for number, operand in enumerate(operands) if not isinstance(operand, np.ndarray))
    if kind == "SOFTMAX":
        return [{e} for e in range(of.out.elements)]
    return [set(of.last_reads({e: 0})[given]) for e in range(of.out.elements)]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("width", ["INT8", "INT16"])
@pytest.mark.parametrize("name", CASES)
def test_input_and_output_at_every_distance(name: str, width: str, backward: bool) -> None:
    kind, operands, out, options, turn = CASES[name]
    outs, bytes_ = (2 if kind in ("SPLIT", "UNPACK") else 1), (1 if width == "INT8" else 2)
    data = file(kind, operands, out, options, width, outs)
    (given,) = (number for number, operand in enumerate(operands) if not isinstance(operand, np.ndarray))
    size, count = prod(operands[given]), prod(out)
    needed = [needs(kind, operands, data, k) for k in range(outs)]
    order = [(k, e) for k in range(outs) for e in range(count)]
    time = {(k, e): (-1 if backward else 1) * (k * count + turn(e)) for k, e in order}
    last = {at: max(time[k, e] for k, e in order if at in needed[k][e]) for k, e in order for at in needed[k][e]}
    base = 2 * outs * count * bytes_
    results = [len(operands) + k for k in range(outs)]
    for distance in range(-count * bytes_ * outs - 2, (size + 2) * bytes_, bytes_):
        buffers = [draft.buffer("x", base, size * bytes_, (0, 2), kind="input", alignment=bytes_)]
        tensors = [draft.tensor(given, "x")]
        for k, t in enumerate(results):
            place = base + distance + k * count * bytes_
            buffers.append(draft.buffer(f"y{k}", place, count * bytes_, (1, 3), kind="output", alignment=bytes_))
            tensors.append(draft.tensor(t, f"y{k}"))
        is_right = all(
            last[at] <= time[k, e]
            for k, e in order
            for at in last
            if base + at * bytes_ < base + distance + (k * count + e + 1) * bytes_
            and base + distance + (k * count + e) * bytes_ < base + (at + 1) * bytes_
        )
        ways = {"backward": [0] if backward else []}
        document = draft.plan(
            ["enter", f"{kind} 0", "leave"],
            [draft.model([draft.operator(0, [given], results)], tensors, **ways)],
            buffers,
        )
        verdict_text = draft.verdict(document, data)
        assert (verdict_text == "") == is_right, (distance, verdict_text)
        assert not verdict_text or "before it has read it for the last time" in verdict_text


def test_parts_that_are_cut_off_are_written_one_after_the_other() -> None:
    """Two rows of each: the second row of the first part would be where the second part is yet to be read."""
    data = file("SPLIT", [ints(1), (2, 6)], (2, 3), fb.Node("SplitOptions", NumSplits=2), "INT8", 2)
    places = [draft.tensor(1, "x"), draft.tensor(2, "y"), draft.tensor(3, "z")]
    for backward, y, z, verdict_text in (
        (False, 0, 16, "overwrites element 3"), (False, 16, 0, ""), (False, 16, 6, ""), (True, 0, 16, ""),
        (True, 16, 6, "overwrites element 6"), (False, 16, 17, "writes two elements to one place"),
    ):  # fmt: skip
        sizes = (("x", 0, 12), ("y", y, 6), ("z", z, 6))
        buffers = [draft.buffer(name, at, size, (0, 3)) for name, at, size in sizes]
        model = draft.model([draft.operator(0, [1], [2, 3])], places, backward=[0] * backward)
        verdict = draft.verdict(draft.plan(["enter", "SPLIT 0", "leave"], [model], buffers), data)
        assert verdict_text in verdict, (backward, y, z)
        assert bool(verdict_text) == bool(verdict), (verdict, backward, y, z)


def joined(axis: int, sizes: list[int], distance: int, backward: bool) -> str:
    """Join parts that lie one behind the other, the result `distance` bytes from them."""
    shapes = [(2, size) if axis else (size, 2) for size in sizes]
    out = (2, sum(sizes)) if axis else (sum(sizes), 2)
    tensors = [fb.tensor(f"x{i}", shape) for i, shape in enumerate(shapes)]
    count = len(sizes)
    node = fb.operator("CONCATENATION", [*range(count)], [count], fb.Node("ConcatenationOptions", Axis=axis))
    data = fb.write(fb.model(fb.subgraph([*tensors, fb.tensor("y", out)], [node], range(count), [count])))
    places = np.cumsum([64, *(2 * size for size in sizes)]).tolist()
    buffers = [draft.buffer(f"x{i}", places[i], 2 * size, (0, 2), kind="input") for i, size in enumerate(sizes)]
    buffers.append(draft.buffer("y", 64 + distance, 2 * sum(sizes), (1, 3), kind="output"))
    places_of = [draft.tensor(i, f"x{i}") for i in range(count)] + [draft.tensor(count, "y")]
    ways = {"backward": [0] if backward else [], "inputs": [f"x{i}" for i in range(count)]}
    operator = draft.operator(0, range(count), [count])
    document = draft.plan(["enter", "CONCATENATION 0", "leave"], [draft.model([operator], places_of, **ways)], buffers)
    return draft.verdict(document, data)


@pytest.mark.parametrize("backward", [False, True])
def test_parts_are_joined_one_after_the_other(backward: bool) -> None:
    """Along axis 0 each part moves at once; along axis 1 its rows do, and the next part only after its last."""
    for distance in range(-12, 13):
        rows_of = [range(64, 66), range(66, 70), range(70, 72)]
        starts = {0: [[0], [2], [6]], 1: [[0, 4], [1, 5], [3, 7]]}
        for axis, sizes in ((0, [1, 2, 1]), (1, [1, 2, 1])):
            moves = []
            for part, rows in enumerate(rows_of):
                length = len(rows) // len(starts[axis][part])
                for number, to in enumerate(starts[axis][part]):
                    read = range(rows.start + number * length, rows.start + (number + 1) * length)
                    moves.append((read, range(64 + distance + to, 64 + distance + to + length)))
            moves = moves[::-1] if backward else moves
            is_right = not any(
                {*written} & {*read} for i, (_, written) in enumerate(moves) for read, _ in moves[i + 1 :]
            )
            verdict_text = joined(axis, sizes, distance, backward)
            assert (verdict_text == "") == is_right, (axis, distance, verdict_text)
