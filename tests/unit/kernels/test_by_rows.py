"""Kernels that go by rows: the same bits as those that make an output at once, for the same bytes moved."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import FLOAT, INT8, Case, activation, case, constant
from tests.support.kernels.driver import Runner
from tests.support.kernels.pictures import PICTURES, WINDOWS, by_rows, gaps, lines, pictures
from tests.support.kernels.samples import COUNT, draw, kernel_of
from tests.support.tools import few, needs_gcc
from usmp_build.interfaces.call_traffic import call_traffic
from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Pieces, Reduce, Rows, Traffic
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import Operator
from usmp_build.ir.options import Padding, Parts
from usmp_build.ir.schedule import Direction
from usmp_build.operators.binary import Binary
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import DepthwiseConv2D
from usmp_build.passes.select.declared import check_declared

VALID = Padding.VALID


@needs_gcc
@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])
@pytest.mark.parametrize("kind", few(PICTURES, 16))
def test_rows_are_the_same_bits(kind: str, direction: Direction, runner: Runner) -> None:
    for number, example in enumerate([*pictures(kind, COUNT), *(gaps(kind, COUNT // 4) if kind in WINDOWS else ())]):
        kernel = by_rows(example)
        assert kernel is not None, f"case {number}"
        (at_once,) = runner.run(example.graph, kernel_of(example), example.inputs)
        (in_rows,) = runner.run(example.graph, kernel.towards(direction), example.inputs)
        assert in_rows.tobytes() == at_once.tobytes(), f"case {number}: {example.graph.operators[0]}"


@pytest.mark.parametrize("kind", PICTURES)
def test_one_call_has_a_piece_for_each_row(kind: str) -> None:
    for example in pictures(kind, COUNT):
        kernel = by_rows(example)
        assert kernel is not None
        assert kernel.backward is not None
        for variant in (kernel, kernel.backward):
            (call,) = variant.calls
            assert isinstance(call.form, Pieces | Reduce)
            output = example.graph.tensors[-1]
            if isinstance(call.form, Pieces):
                assert call.form.count == output.shape[1]
                assert call.streamed()[Output(0)] == output.elements // output.shape[1]
            else:
                assert call.form.images == 1
                assert call.form.rows == example.graph.tensors[0].shape[1]


@needs_gcc
@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])
@pytest.mark.parametrize("kind", few(sorted({*CASES} - {*PICTURES}), 16))
def test_slices_are_the_same_bits(kind: str, direction: Direction, runner: Runner) -> None:
    for number, example in enumerate([*draw(kind), *lines(kind, COUNT // 4)]):
        if (kernel := by_rows(example)) is not None:
            at_once = runner.run(example.graph, kernel_of(example), example.inputs)
            in_slices = runner.run(example.graph, kernel.towards(direction), example.inputs)
            for one, other in zip(in_slices, at_once, strict=True):
                assert one.tobytes() == other.tobytes(), f"case {number}: {example.graph.operators[0]}"


@pytest.mark.parametrize("kind", CASES)
def test_slices_are_all_of_each_operand(kind: str) -> None:
    for example in [*draw(kind), *lines(kind, COUNT // 4)]:
        if (kernel := by_rows(example)) is not None:
            jobs = row_jobs(kernel)
            assert jobs is not None
            (op,) = example.graph.operators
            for operand, (rows, elements) in jobs.shapes.items():
                tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
                assert tensor is not None
                assert rows * elements == example.graph.tensors[tensor].elements


@pytest.mark.parametrize("kind", PICTURES)
def test_declarations_are_possible(kind: str) -> None:
    for example in pictures(kind, COUNT):
        kernel = by_rows(example)
        assert kernel is not None
        assert all(call.accesses is not None for call in kernel.calls)
        check_declared(kernel, example.graph.operators[0], example.graph)


@pytest.mark.parametrize("kind", PICTURES)
def test_rows_move_the_same_bytes_of_tensors(kind: str) -> None:
    for example in pictures(kind, COUNT):
        kernel = by_rows(example)
        assert kernel is not None
        assert moved(example, kernel) == moved(example, kernel_of(example))


def moved(example: Case, kernel: Kernel) -> dict[Operand, Traffic]:
    """Return the bytes that the only call of a kernel moves of each tensor."""
    (call,) = kernel.calls
    (op,) = example.graph.operators
    traffic: dict[Operand, Traffic] = {}
    for operand, stated in zip(call.operands, call_traffic(call), strict=True):
        if isinstance(operand, Input):
            whole = Traffic(example.graph.tensors[op.inputs[operand.position] or 0].size)
        elif isinstance(operand, Output):
            whole = Traffic(written=example.graph.tensors[op.outputs[operand.position]].size)
        else:
            continue
        traffic[operand] = stated or whole
    return traffic


def sum_of(shapes: tuple[Sequence[int], Sequence[int], Sequence[int]], *, is_constant: bool = False) -> Case:
    """Return an ADD of float32 tensors; the second one may be a constant."""
    first, second, output = (activation(name, shape, FLOAT) for name, shape in zip("aby", shapes, strict=True))
    if is_constant:
        second = constant("b", np.ones(second.shape, np.float32))
    return case(np.random.default_rng(1), "ADD", (first, second), output, Binary())


IMAGE = (1, 4, 3, 2)


@pytest.mark.parametrize(
    ("example", "pitches"),
    [
        (sum_of((IMAGE, IMAGE, IMAGE)), (6, 6, 6)),
        (sum_of((IMAGE, (2,), IMAGE), is_constant=True), (6, 0, 0, 6)),
        (sum_of((IMAGE, (1, 1, 3, 2), IMAGE)), (6, 0, 6)),
        (sum_of(((1, 4, 1, 1), IMAGE, IMAGE)), (1, 6, 0, 6)),
        (sum_of((IMAGE[1:], IMAGE[1:], IMAGE[1:])), (6, 6, 6)),
        (sum_of(((1, 1, 4, 3), (1, 1, 4, 3), (1, 1, 4, 3))), (3, 3, 3)),
        (sum_of(((4, *IMAGE[1:]), IMAGE, (4, *IMAGE[1:]))), (24, 0, 24)),
    ],
)
def test_an_operand_has_a_piece_for_each_slice_or_one_for_all(example: Case, pitches: tuple[int, ...]) -> None:
    """Slices are along the first axis that is longer than 1: rows, pixels of a row, images."""
    kernel = by_rows(example)
    assert kernel is not None
    assert [call.form for call in kernel.calls] == [Pieces(4, pitches)]


@pytest.mark.parametrize(
    "example",
    [
        sum_of((IMAGE, IMAGE, IMAGE), is_constant=True),
        sum_of((IMAGE, IMAGE[1:], IMAGE)),
        sum_of(((1, 1, 1, 3), (1, 1, 1, 3), (1, 1, 1, 3))),
    ],
    ids=["constant with rows", "three dimensions", "one pixel"],
)
def test_else_there_is_none(example: Case) -> None:
    assert by_rows(example) is None


@pytest.mark.parametrize("is_constant", [False, True])
def test_a_constant_has_no_slices_to_copy(is_constant: bool) -> None:
    """Constants are not in workspace, and so none of their pieces is."""
    first, second = activation("a", IMAGE, FLOAT), activation("b", IMAGE, FLOAT)
    if is_constant:
        second = constant("b", np.ones(IMAGE, np.float32))
    joined = activation("y", (*IMAGE[:-1], 4), FLOAT)
    example = case(np.random.default_rng(1), "CONCATENATION", (first, second), joined, Concatenation(3))
    assert (by_rows(example) is None) == is_constant


def pooled(kind: str, window: tuple[int, int], image: tuple[int, ...] = IMAGE, stride: int = 4) -> Case:
    """Return a pooling of float32; with this stride there is one window."""
    height, width = (-(-size // stride) for size in image[1:3])
    source, output = activation("x", image, FLOAT), activation("y", (image[0], height, width, image[3]), FLOAT)
    options = Pool2D(Padding.SAME, stride, stride, *window)
    return case(np.random.default_rng(1), kind, (source,), output, options)


def test_the_rows_of_a_whole_image_are_added_up() -> None:
    kernel = by_rows(pooled("AVERAGE_POOL_2D", (4, 3)))
    assert kernel is not None
    form = Reduce(1, rows=4, input_row_elements=6, output_row_elements=2, numbered=True)
    assert [call.form for call in kernel.calls] == [form]
    assert [(request.size, request.dtype) for request in kernel.scratch] == [(8, FLOAT)]


def test_so_are_the_pixels_of_a_single_row() -> None:
    kernel = by_rows(pooled("AVERAGE_POOL_2D", (1, 4), (1, 1, 4, 3)))
    assert kernel is not None
    form = Reduce(1, rows=4, input_row_elements=3, output_row_elements=3, numbered=True)
    assert [call.form for call in kernel.calls] == [form]


@pytest.mark.parametrize(
    "example",
    [
        pooled("MAX_POOL_2D", (4, 3)),
        pooled("AVERAGE_POOL_2D", (4, 3), stride=2),
        pooled("AVERAGE_POOL_2D", (4, 3), (2, *IMAGE[1:])),
    ],
    ids=["maximum", "several windows", "two images"],
)
def test_other_poolings_make_rows_from_rows(example: Case) -> None:
    assert isinstance(kernel_of(example).calls[0].form, Rows)
    assert by_rows(example) is None


def test_there_is_none_for_channels_of_another_tensor() -> None:
    graph = sum_of((IMAGE, IMAGE, IMAGE)).graph
    whole = replace(graph.tensors[-1], name="whole", shape=(*IMAGE[:-1], 4))
    join = Operator("JOIN", (2, 0), (3,), Parts((0, 8), pitch=16), 1)
    graph = replace(graph, tensors=(*graph.tensors, whole), operators=(*graph.operators, join))
    assert by_rows(Case(graph, ())) is None


def depthwise(rows: int, multiplier: int = 1) -> Case:
    """Return a DEPTHWISE_CONV_2D of int8 with a window over all rows of an image of three channels and two columns."""
    source = activation("x", (1, rows, 2, 3), INT8, 0.1, 0)
    output = activation("y", (1, 1, 2, 3 * multiplier), INT8, 0.1, 0)
    weights = constant("w", np.ones((1, rows, 1, 3 * multiplier), np.int8), (0.1,))
    bias = constant("b", np.zeros(3 * multiplier, np.int32), (0.01,))
    return case(
        np.random.default_rng(1),
        "DEPTHWISE_CONV_2D",
        (source, weights, bias),
        output,
        DepthwiseConv2D(VALID, depth_multiplier=multiplier),
    )


@pytest.mark.parametrize(
    ("rows", "multiplier", "is_less"), [(6, 1, True), (5, 1, False), (11, 2, True), (10, 2, False)]
)
def test_sums_a_row_and_the_output_take_less_than_the_image(rows: int, multiplier: int, is_less: bool) -> None:
    """For each channel of the output sums take 4 bytes, and it takes 1; a row of the input takes 1 for each channel."""
    assert (by_rows(depthwise(rows, multiplier)) is not None) == is_less
