"""Kernels for the instructions of a target make what the portable ones make, over the same bytes."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from tests.support.kernels.drawing import pick, span
from tests.support.kernels.driver import Runner, build
from tests.support.kernels.faster import ISAS, LAYERS, faster, is_steep
from tests.support.kernels.overlap import separation
from tests.support.kernels.samples import COUNT, first_kernel
from tests.support.tools import needs_gcc
from usmp_build.interfaces.accesses import Touch
from usmp_build.interfaces.kernels import Input, Kernel, Output, Rows
from usmp_build.ir.graph import Subgraph
from usmp_build.ir.options import Padding
from usmp_build.ir.schedule import Direction
from usmp_build.kernels.reference import Reference
from usmp_build.operators.sums import Conv2D
from usmp_build.request import Isa

pytestmark = needs_gcc
KINDS = [(isa, kind) for isa, kinds in ISAS.items() for kind in kinds]
each_kind = pytest.mark.parametrize(("isa", "kind"), KINDS, ids=[f"{isa.value}-{kind}" for isa, kind in KINDS])


UNDEFINED = pytest.param("-O1 -g -fsanitize=undefined -fno-sanitize-recover=all", marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=["-O2", UNDEFINED])
def runner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    cases = [each for isa, kind in KINDS for each in faster(isa, kind, COUNT)]
    kernels = [each for case, kernel in cases for each in (kernel, first_kernel(case.graph))]
    names = {call.function for kernel in kernels for call in kernel.calls}
    return Runner(build(tmp_path_factory.mktemp("kernels"), *request.param.split(), names=names))


@each_kind
def test_outputs_are_those_of_portable_kernels(isa: Isa, kind: str, runner: Runner) -> None:
    cases = faster(isa, kind, COUNT)
    assert len(cases) == COUNT
    for number, (case, kernel) in enumerate(cases):
        (expected,) = runner.run(case.graph, first_kernel(case.graph), case.inputs)
        for direction in (Direction.FORWARD, Direction.BACKWARD):
            (output,) = runner.run(case.graph, kernel.towards(direction), case.inputs)
            np.testing.assert_array_equal(output, expected, f"case {number}: {case.graph.operators[0]}")


@pytest.mark.parametrize("kind", LAYERS)
def test_layers_that_scale_by_half_or_more_are_among_them(kind: str) -> None:
    assert {is_steep(case) for case, _ in faster(Isa.DSP, kind, COUNT)} == {False, True}


@each_kind
def test_outputs_may_lie_over_what_has_been_read(isa: Isa, kind: str, runner: Runner) -> None:
    for case, kernel in faster(isa, kind, COUNT):
        (expected,) = runner.run(case.graph, first_kernel(case.graph), case.inputs)
        if kind == "MUL" and case.inputs[0].shape != expected.shape:
            continue  # an input that is stretched is read until the end
        for direction in (Direction.FORWARD, Direction.BACKWARD):
            towards = kernel.towards(direction)
            distance = separation(case, towards, direction) if isinstance(towards.calls[0].form, Rows) else 0
            (output,) = runner.run(case.graph, towards, case.inputs, distance)
            np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(("isa", "kind"), [each for each in KINDS if "DEPTHWISE" in each[1]])
def test_turns_of_filters_for_one_channel_are_those_of_portable_kernels(isa: Isa, kind: str) -> None:
    """A turn of four outputs where the portable kernel has four turns would let buffers lie closer."""

    def touches(kernel: Kernel) -> list[list[Touch]]:
        (call,) = kernel.calls
        assert call.accesses is not None
        return [[replace(touch, operand=int(touch.writes)) for touch in part.touches] for part in call.accesses.parts]

    several = [
        (case, kernel)
        for case, kernel in faster(isa, kind, COUNT)
        if case.inputs[0].shape[3] == 1 < case.graph.tensors[-1].shape[3]
    ]
    assert several
    for case, kernel in several:
        assert touches(kernel) == touches(first_kernel(case.graph))


@pytest.mark.parametrize("isa", [Isa.DSP, Isa.SCALAR])
def test_taps_of_a_long_image_are_not_counted_one_by_one(isa: Isa) -> None:
    """A file of a few bytes can state an image of 2^27 pixels: every second one has two of three taps."""
    (graph,) = {case.graph for case, _ in faster(isa, "TRANSPOSE_CONV", 1)}
    form, weights, source, *_ = (graph.tensors[i or 0] for i in graph.operators[0].inputs)
    output, width = graph.tensors[graph.outputs[0]], 1 << 26
    shapes = {
        form.name: (4,),
        weights.name: (output.shape[3], 1, 3, 4),
        source.name: (1, 1, width, 4),
        output.name: (1, 1, 2 * width, output.shape[3]),
    }
    filters = bytes(output.shape[3] * 12)
    tensors = (replace(each, shape=shapes.get(each.name, each.shape)) for each in graph.tensors)
    resized = tuple(replace(each, data=filters) if each.name == weights.name else each for each in tensors)
    operator = replace(graph.operators[0], options=Conv2D(Padding.SAME, 1, 2))
    kernel = Reference(isa).kernel(operator, replace(graph, tensors=resized))
    assert isinstance(kernel, Kernel)
    assert not kernel.declined
    blocks = -(-output.shape[3] // 4)
    read = kernel.calls[0].traffic[1].read - (isa is Isa.DSP) * 36 * blocks * 2 * width
    assert read == blocks * 16 * (2 + 1) * width


@pytest.mark.parametrize("kind", ["CONV_2D_S16", "FULLY_CONNECTED_S16"])
def test_long_sums_of_int16_are_left_to_helium(kind: str) -> None:
    seen = set()
    for case, _ in faster(Isa.DSP, kind, COUNT):
        kernel = Reference(Isa.MVE).kernel(case.graph.operators[0], case.graph)
        assert isinstance(kernel, Kernel)
        _, *weights = case.graph.tensors[case.graph.operators[0].inputs[1] or 0].shape
        is_short = prod(weights) <= 160
        assert ("_dsp" in kernel.calls[0].function) == is_short, weights
        seen.add(is_short)
    assert seen == {False, True}


@pytest.mark.parametrize(("isa", "kind"), [each for each in KINDS if "CONV_2D" in each[1]])
def test_channels_of_wider_images_are_convolved_alike(
    isa: Isa, kind: str, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (case, _) in enumerate(faster(isa, kind, COUNT)):
        r, graph = np.random.default_rng(number), case.graph
        (image,) = case.inputs
        wider = {graph.inputs[0]: span(r, 1, 5), graph.outputs[0]: pick(r, [0, span(r, 1, 5)])}
        shapes = {i: (*graph.tensors[i].shape[:-1], graph.tensors[i].shape[-1] + wider[i]) for i in wider}
        with monkeypatch.context() as patched:
            patched.setattr(Subgraph, "pitches", {i: shape[-1] * image.itemsize for i, shape in shapes.items()})
            kernel = Reference(isa).kernel(graph.operators[0], replace(graph))  # a graph that knows no pitches yet
        assert isinstance(kernel, Kernel)
        assert kernel.pitched == {Input(0), Output(0)}
        around = np.full(shapes[graph.inputs[0]], 77, image.dtype)
        around[..., : image.shape[-1]] = image
        whole = tuple(replace(t, shape=shapes.get(i, t.shape)) for i, t in enumerate(graph.tensors))
        (expected,) = runner.run(graph, first_kernel(graph), case.inputs)
        for direction in (Direction.FORWARD, Direction.BACKWARD):
            (output,) = runner.run(replace(graph, tensors=whole), kernel.towards(direction), (around,))
            np.testing.assert_array_equal(output[..., : expected.shape[-1]], expected, f"case {number}")
