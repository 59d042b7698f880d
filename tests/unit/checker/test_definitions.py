"""What the checker says that elements of operators need, against numpy and plain loops."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest

from checker.definitions import WEIGHTS, Definition
from checker.model import Model, NotCovered, Wrong
from tests.support.flatbuffer import Node, model, operator, subgraph, tensor, write

Shape = tuple[int, ...]
Needs = list[set[tuple[int, int]]]
"""For each element of an output: (position of an operand, element of it)."""


def definition(kind: str, operands: Sequence[Any], outs: Sequence[Shape], options: Any = None, k: int = 0) -> Any:
    """Return the definition of an operator; operands are shapes, constants (arrays), or missing."""
    tensors, data, inputs = [], [], []
    for operand in operands:
        inputs.append(-1 if operand is None else len(tensors))
        if isinstance(operand, np.ndarray):
            data.append(operand.tobytes())
            dtype = str(operand.dtype).upper()
            tensors.append(tensor(f"t{len(tensors)}", operand.shape, dtype, Buffer=len(data)))
        elif operand is not None:
            tensors.append(tensor(f"t{len(tensors)}", operand))
    results = range(len(tensors), len(tensors) + len(outs))
    tensors += [tensor(f"t{number}", shape) for number, shape in zip(results, outs, strict=True)]
    node = operator(kind, inputs, list(results), options)
    file = Model(write(model(subgraph(tensors, [node], inputs[:1], list(results)), data=data)))
    return Definition(file, file.operators[0], k)


def needs(of: Any) -> Needs:
    """Ask for each element by itself: what it needs, but for weights, is read in its turn."""
    reads = [of.last_reads({element: 7}) for element in range(of.out.elements)]
    assert {turn for each in reads for last in each for turn in last.values()} <= {7}
    streamed = {*range(len(of.op.inputs))} - {*WEIGHTS.get(of.op.kind, ())}
    return [{(i, at) for i in streamed for at in each[i]} for each in reads]


def moved(places: np.ndarray, position: int = 0) -> Needs:
    """Expect each element to be the one whose number is there; -1: none."""
    return [{(position, int(at))} if at >= 0 else set() for at in places.reshape(-1)]


def numbers(*shape: int) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def options(name: str, **fields: Any) -> Node:
    return Node(f"{name}Options", **fields)


X = numbers(2, 3, 4)
MOVES: dict[str, tuple[str, list[Any], np.ndarray, Node | None]] = {
    "reshape": ("RESHAPE", [X.shape], X.reshape(4, 6), None),
    "squeeze": ("SQUEEZE", [(1, 3, 1)], numbers(3), None),
    "expand_dims": ("EXPAND_DIMS", [(3,)], numbers(1, 3), None),
    "row by row": ("SOFTMAX", [X.shape], X, None),
    "transpose": ("TRANSPOSE", [X.shape, ints(2, 0, 1)], X.transpose(2, 0, 1), None),
    "pad": (
        "PAD", [X.shape, ints([0, 1], [2, 0], [1, 3])],
        np.pad(X, ((0, 1), (2, 0), (1, 3)), constant_values=-1), None,
    ),
    "padv2": ("PADV2", [(3,), ints([1, 2])], np.pad(numbers(3), (1, 2), constant_values=-1), None),
    "slice": ("SLICE", [X.shape, ints(1, 0, 2), ints(1, 2, 2)], X[1:, :2, 2:], None),
    "tile": ("TILE", [X.shape, ints(2, 1, 3)], np.tile(X, (2, 1, 3)), None),
    "broadcast": ("BROADCAST_TO", [(3, 1), ints(2, 3, 4)], np.broadcast_to(numbers(3, 1), (2, 3, 4)), None),
    "reverse": ("REVERSE_V2", [X.shape, ints(-1, 0)], X[::-1, :, ::-1], None),
    "unlike 64 bits": ("TRANSPOSE", [X.shape, np.array([1, 2, 0], np.int64)], X.transpose(1, 2, 0), None),
    "gather": ("GATHER", [X.shape, ints([2, 0], [1, 1])], X[:, [[2, 0], [1, 1]]], options("Gather", Axis=1)),
    "gather the last": ("GATHER", [X.shape, ints(3, 0)], X[:, :, [3, 0]], options("Gather", Axis=-1)),
    "gather by default": ("GATHER", [X.shape, ints(1)], X[[1]], None),
    "space to depth": (
        "SPACE_TO_DEPTH", [(2, 4, 6, 3)],
        numbers(2, 4, 6, 3).reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12),
        options("SpaceToDepth", BlockSize=2),
    ),
    "depth to space": (
        "DEPTH_TO_SPACE", [(2, 2, 3, 12)],
        numbers(2, 2, 3, 12).reshape(2, 2, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3),
        options("DepthToSpace", BlockSize=2),
    ),
    "strided slice": (
        "STRIDED_SLICE", [(5, 6, 7), ints(1, 4, 0), ints(5, 0, 7), ints(2, -1, 3)],
        numbers(5, 6, 7)[1:5:2, 4:0:-1, 0:7:3], options("StridedSlice"),
    ),
    "strided slice from behind": (
        "STRIDED_SLICE", [(5, 6), ints(-4, -9), ints(5, 6), ints(1, 2)],
        numbers(5, 6)[-4:, ::2], options("StridedSlice"),
    ),
    "strided slice beyond": (
        "STRIDED_SLICE", [(5, 6), ints(9, 9), ints(-9, 0), ints(-1, -2)],
        numbers(5, 6)[::-1, 5:0:-2], options("StridedSlice"),
    ),
    "strided slice with masks": (
        "STRIDED_SLICE", [(5, 6, 4), ints(2, 3, 1), ints(4, 0, 2), ints(1, -2, 1)],
        numbers(5, 6, 4)[:4, ::-2, 1], options("StridedSlice", BeginMask=3, EndMask=2, ShrinkAxisMask=4),
    ),
    "strided slice that shrinks from behind": (
        "STRIDED_SLICE", [(5, 6), ints(-2, 1), ints(-1, 5), ints(1, 1)],
        numbers(5, 6)[-2, 1:5], options("StridedSlice", ShrinkAxisMask=1),
    ),
    "strided slice of few axes": (
        "STRIDED_SLICE", [(5, 6), ints(1), ints(3), ints(1)], numbers(5, 6)[1:3], options("StridedSlice"),
    ),
    "strided slice of one element": (
        "STRIDED_SLICE", [(5, 6), ints(2, 3), ints(3, 4), ints(1, 1)],
        numbers(5, 6)[2, 3].reshape(()), options("StridedSlice", ShrinkAxisMask=3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_operators_that_move_elements(name: str) -> None:
    kind, operands, expected, given = MOVES[name]
    assert needs(definition(kind, operands, [expected.shape], given)) == moved(expected)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("STRIDED_SLICE", options("StridedSlice", EllipsisMask=1)),
        ("STRIDED_SLICE", options("StridedSlice", NewAxisMask=1)),
        ("STRIDED_SLICE", options("StridedSlice", Offset=True)),
        ("GATHER", options("Gather", BatchDims=1)),
    ],
)
def test_what_is_not_known_is_not_covered(kind: str, given: Node) -> None:
    of = definition(kind, [(4,), ints(0), ints(4), ints(1)], [(4,)], given)
    with pytest.raises(NotCovered):
        of.needs(0)


def test_operands_that_are_computed_are_not_covered() -> None:
    with pytest.raises(NotCovered, match="operand 1 computed"):
        definition("TRANSPOSE", [(2, 3), (2,)], [(3, 2)]).needs(0)
    with pytest.raises(NotCovered, match="operand 1 computed"):
        definition("TRANSPOSE", [(2, 3), None], [(3, 2)]).needs(0)


def test_a_concatenation_larger_than_its_parts_is_wrong() -> None:
    with pytest.raises(Wrong):
        definition("CONCATENATION", [(2,), (3,)], [(6,)]).needs(5)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_joined_and_cut_tensors(axis: int) -> None:
    """Each element of a whole is one of a part: (part, element)."""
    shapes = [tuple(n if at != axis % 3 else size for at, n in enumerate((2, 3, 4))) for size in (1, 3, 2)]
    parts = [numbers(*shape) for shape in shapes]
    joined = np.concatenate([1000 * i + part for i, part in enumerate(parts)], axis)
    expected: Needs = [{divmod(int(at), 1000)} for at in joined.reshape(-1)]
    assert needs(definition("CONCATENATION", shapes, [joined.shape], options("Concatenation", Axis=axis))) == expected
    whole = numbers(*joined.shape)
    for k, cut in enumerate(np.split(whole, [1, 4], axis)):
        assert needs(definition("SPLIT_V", [whole.shape, ints(1, 3, 2), ints(axis)], shapes, k=k)) == moved(cut)
    equal = numbers(6, 6, 6)
    for k, cut in enumerate(np.split(equal, 3, axis)):
        of = definition("SPLIT", [ints(axis), equal.shape], [cut.shape] * 3, options("Split", NumSplits=3), k)
        assert needs(of) == moved(cut, 1)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_packed_and_unpacked_tensors(axis: int) -> None:
    packed = np.stack([1000 * i + numbers(2, 3) for i in range(4)], axis)
    expected: Needs = [{divmod(int(at), 1000)} for at in packed.reshape(-1)]
    of = definition("PACK", [(2, 3)] * 4, [packed.shape], options("Pack", ValuesCount=4, Axis=axis))
    assert needs(of) == expected
    whole = numbers(*packed.shape)
    for k in range(4):
        of = definition("UNPACK", [whole.shape], [(2, 3)] * 4, options("Unpack", Num=4, Axis=axis), k)
        assert needs(of) == moved(whole.take(k, axis))


def test_elements_of_what_is_broadcast() -> None:
    out = (2, 3, 4)
    of = definition("SELECT_V2", [(3, 1), out, (4,)], [out])
    sources = [np.broadcast_to(numbers(*shape), out).reshape(-1) for shape in ((3, 1), out, (4,))]
    assert needs(of) == [{(i, int(source[e])) for i, source in enumerate(sources)} for e in range(24)]
    of = definition("ADD", [out, None, (1, 1, 1, 1)[:3]], [out])
    assert needs(of) == [{(0, e), (2, 0)} for e in range(24)]


def padded(size: int, out: int, taps: int, stride: int, dilation: int, padding: int) -> int:
    return 0 if padding else max(0, (out - 1) * stride + (taps - 1) * dilation + 1 - size) // 2


Taps = Callable[[int, int], list[tuple[int, int]]]


def taps(image: Shape, out: Shape, size: Shape, strides: Shape, dilations: Shape, padding: int) -> Taps:
    """Return, for a pixel of the output, those of the image."""
    before = [padded(*each, padding) for each in zip(image, out, size, strides, dilations, strict=True)]

    def reach(y: int, x: int) -> list[tuple[int, int]]:
        at = [
            (y * strides[0] + i * dilations[0] - before[0], x * strides[1] + j * dilations[1] - before[1])
            for i, j in product(range(size[0]), range(size[1]))
        ]
        return [(row, column) for row, column in at if 0 <= row < image[0] and 0 <= column < image[1]]

    return reach


WINDOWS = [
    # image, output, taps, strides, dilations, padding: 0 for SAME
    ((5, 7), (5, 7), (3, 2), (1, 1), (1, 1), 0),
    ((5, 8), (3, 3), (3, 4), (2, 3), (1, 1), 0),
    ((7, 8), (3, 3), (3, 2), (1, 2), (2, 3), 1),
    ((6, 5), (6, 5), (3, 3), (1, 1), (2, 1), 0),
    ((6, 5), (2, 5), (1, 3), (3, 1), (1, 2), 0),
    ((3, 3), (1, 1), (3, 3), (1, 1), (1, 1), 1),
]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("sections", [1, 2])
def test_convolutions(window: tuple[Any, ...], sections: int) -> None:
    """Two images; a group of channels of the output needs the channels of its section, at each tap."""
    image, out, size, strides, dilations, padding = window
    given = options(
        "Conv2D", Padding=padding, StrideH=strides[0], StrideW=strides[1],
        DilationHFactor=dilations[0], DilationWFactor=dilations[1],
    )  # fmt: skip
    shapes = (2, *image, 3 * sections), (2, *out, 4 * sections)
    of = definition("CONV_2D", [shapes[0], (4 * sections, *size, 3), (4 * sections,)], shapes[1:], given)
    source, reach = numbers(*shapes[0]), taps(*window)
    assert needs(of) == [
        {(0, int(source[n, row, column, c // 4 * 3 + i])) for row, column in reach(y, x) for i in range(3)}
        for n, y, x, c in np.ndindex(*shapes[1])
    ]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_depthwise_convolutions_and_pools(window: tuple[Any, ...]) -> None:
    image, out, size, strides, dilations, padding = window
    given = options(
        "DepthwiseConv2D", Padding=padding, StrideH=strides[0], StrideW=strides[1],
        DilationHFactor=dilations[0], DilationWFactor=dilations[1], DepthMultiplier=2,
    )  # fmt: skip
    source, reach = numbers(2, *image, 3), taps(*window)
    of = definition("DEPTHWISE_CONV_2D", [source.shape, (1, *size, 6), (6,)], [(2, *out, 6)], given)
    assert needs(of) == [
        {(0, int(source[n, row, column, c // 2])) for row, column in reach(y, x)}
        for n, y, x, c in np.ndindex(2, *out, 6)
    ]
    if dilations != (1, 1):
        return
    pool = {"Padding": padding, "StrideH": strides[0], "StrideW": strides[1], "FilterHeight": size[0]}
    for kind in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"):
        of = definition(kind, [source.shape], [(2, *out, 3)], options("Pool2D", **pool, FilterWidth=size[1]))
        assert needs(of) == [
            {(0, int(source[n, row, column, c])) for row, column in reach(y, x)}
            for n, y, x, c in np.ndindex(2, *out, 3)
        ]


@pytest.mark.parametrize(
    ("image", "out", "size", "strides", "padding"),
    [
        ((3, 4), (6, 12), (3, 4), (2, 3), 0),
        ((3, 4), (7, 12), (3, 3), (2, 3), 1),
        ((4, 3), (4, 3), (3, 2), (1, 1), 0),
        ((2, 3), (4, 6), (5, 4), (2, 2), 0),
    ],
)
def test_transposed_convolutions(image: Shape, out: Shape, size: Shape, strides: Shape, padding: int) -> None:
    """A pixel of the image adds to all pixels of the output under its window: what a convolution back would read."""
    given = options("TransposeConv", Padding=padding, StrideH=strides[0], StrideW=strides[1])
    shape = ints(2, *out, 2)
    of = definition("TRANSPOSE_CONV", [shape, (2, *size, 3), (2, *image, 3)], [(2, *out, 2)], given)
    back, source = taps(out, image, size, strides, (1, 1), padding), numbers(2, *image, 3)
    assert needs(of) == [
        {
            (2, int(at))
            for row, column in np.ndindex(*image)
            if (y, x) in back(row, column)
            for at in source[n, row, column]
        }
        for n, y, x, _ in np.ndindex(2, *out, 2)
    ]


@pytest.mark.parametrize(("flip_a", "flip_b"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("batch_a", "batch_b"), [((2, 3), (2, 3)), ((), (2, 3)), ((2, 1), (3,)), ((2, 3), (1, 1))])
def test_products_of_matrices(batch_a: Shape, batch_b: Shape, flip_a: bool, flip_b: bool) -> None:
    a, b = numbers(*batch_a, 4, 5), numbers(*batch_b, 5, 2)
    shapes = [m.swapaxes(-1, -2).shape if flip else m.shape for m, flip in ((a, flip_a), (b, flip_b))]
    a, b = (
        numbers(*shape).swapaxes(-1, -2) if flip else numbers(*shape)
        for shape, flip in zip(shapes, (flip_a, flip_b), strict=True)
    )
    outer = np.broadcast_shapes(batch_a, batch_b)
    of = definition("BATCH_MATMUL", shapes, [(*outer, 4, 2)], options("BatchMatMul", AdjX=flip_a, AdjY=flip_b))
    a, b = np.broadcast_to(a, (*outer, 4, 5)), np.broadcast_to(b, (*outer, 5, 2))
    assert needs(of) == [
        {(0, int(at)) for at in a[(*place[:-2], place[-2])]}
        | {(1, int(at)) for at in b[(*place[:-2], slice(None), place[-1])]}
        for place in np.ndindex(*outer, 4, 2)
    ]


def test_fully_connected_rows() -> None:
    of = definition("FULLY_CONNECTED", [(3, 4), (5, 4), (5,)], [(3, 5)])
    assert needs(of) == [{(0, 4 * (e // 5) + i) for i in range(4)} for e in range(15)]


@pytest.mark.parametrize("kind", ["MEAN", "SUM", "REDUCE_MAX"])
@pytest.mark.parametrize("axes", [(1,), (0, -1), (1, 2), (0, 1, 2)])
def test_reductions(kind: str, axes: Shape) -> None:
    kept = np.moveaxis(X, axes, range(len(axes))).reshape(
        -1, *(n for at, n in enumerate(X.shape) if at not in {a % 3 for a in axes})
    )
    expected: Needs = [{(0, int(at)) for at in kept[(slice(None), *place)]} for place in np.ndindex(*kept.shape[1:])]
    assert needs(definition(kind, [X.shape, ints(*axes)], [kept.shape[1:]])) == expected


SIZES = [((4, 3), (8, 3)), ((10, 49), (6, 7)), ((4, 3), (8, 5)), ((5, 7), (3, 4)), ((4, 6), (1, 3))]


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(("size", "out"), SIZES)
def test_resized_images(size: Shape, out: Shape, corners: bool, half: bool) -> None:
    """Nearest: the place in floats of 32 bits, rounded; bilinear: the two places around it."""
    source, flags = numbers(2, *size, 2), {"AlignCorners": corners, "HalfPixelCenters": half}

    def near(at: int, axis: int, spread: bool) -> set[int]:
        less, center = int(corners and out[axis] > 1), Fraction(int(half), 2)
        if spread:
            place = floor((at + center) * Fraction(size[axis] - less, out[axis] - less) - center)
            return {int(np.clip(each, 0, size[axis] - 1)) for each in (place, place + 1)}
        scale = np.float32(size[axis] - less) / np.float32(out[axis] - less)
        exact = float(np.float32(at + float(center)) * scale)
        return {min(floor(exact + 0.5 * corners), size[axis] - 1)}

    for code, name in (("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor"), ("RESIZE_BILINEAR", "ResizeBilinear")):
        rows, columns = ([near(at, k, "BI" in code) for at in range(n)] for k, n in enumerate(out))
        assert needs(definition(code, [source.shape, ints(*out)], [(2, *out, 2)], options(name, **flags))) == [
            {(0, int(source[n, row, column, c])) for row in rows[y] for column in columns[x]}
            for n, y, x, c in np.ndindex(2, *out, 2)
        ]


def test_an_operator_that_is_not_known_needs_everything() -> None:
    of = definition("CUMSUM", [(2, 3), None, (4,)], [(5,)])
    assert needs(of) == [{(0, e) for e in range(6)} | {(2, e) for e in range(4)}] * 5
    assert definition("CUMSUM", [(2,)], [(0,)]).group == 1


WEIGHTED = {
    "CONV_2D": ([(1, 1, 2, 3), (4, 1, 1, 3), (4,)], (1, 1, 2, 4), (1, 2)),
    "DEPTHWISE_CONV_2D": ([(1, 1, 2, 3), (1, 1, 1, 3), (3,)], (1, 1, 2, 3), (1, 2)),
    "FULLY_CONNECTED": ([(2, 3), (4, 3), (4,)], (2, 4), (1, 2)),
    "TRANSPOSE_CONV": ([ints(1, 1, 2, 4), (4, 1, 1, 3), (1, 1, 2, 3), (4,)], (1, 1, 2, 4), (1, 3)),
    "PADV2": ([(2,), ints([0, 0]), (1,)], (2,), (2,)),
}


@pytest.mark.parametrize("kind", WEIGHTED)
def test_weights_that_are_computed_are_read_until_the_last_turn(kind: str) -> None:
    """All of them, and biases; those that are constant, or missing, are read from nowhere."""
    operands, out, weights = WEIGHTED[kind]

    def reads(operands: Sequence[Any], turns: dict[int, int]) -> Any:
        return definition(kind, operands, [out], options("Conv2D", StrideH=1, StrideW=1)).last_reads(turns)

    whole, last = reads(operands, {0: 5, 1: 9}), weights[-1]
    assert all(whole[i] == dict.fromkeys(range(np.prod(operands[i])), 9) for i in weights)
    constant = [np.ones(shape, np.int8) if i in weights else shape for i, shape in enumerate(operands)]
    assert not any([reads(operands, {})[i], reads(constant, {0: 1})[i]] != [{}, {}] for i in weights)
    assert reads([*operands[:last], None], {0: 1})[last] == {}
    assert len(reads(operands[:last], {0: 1})) == last


def test_the_last_of_several_turns_counts() -> None:
    """A unit is computed when its last element is, and what two units need is read last by the later one."""
    of = definition("FULLY_CONNECTED", [(2, 2), (3, 2)], [(2, 3)])
    assert of.last_reads({0: 5, 1: 9, 2: 7, 3: 1})[0] == {0: 9, 1: 9, 2: 1, 3: 1}
    assert definition("SUM", [(2, 2), ints(0)], [(2,)]).last_reads({0: 4, 1: -2})[0] == {0: 4, 2: 4, 1: -2, 3: -2}
    window = options("Pool2D", Padding=1, StrideH=1, StrideW=1, FilterHeight=1, FilterWidth=2)
    pool = definition("MAX_POOL_2D", [(1, 1, 3, 1)], [(1, 1, 2, 1)], window)
    assert pool.last_reads({0: 3, 1: 8})[0] == {0: 3, 1: 8, 2: 8}
    assert pool.last_reads({0: 8, 1: 3})[0] == {0: 8, 1: 8, 2: 3}
