"""Stages in strips of columns: what each strip computes, and which stages are worth it."""

from fractions import Fraction

import pytest

from tests.support.large_nets import mobilenet_v2_of_msf_cnn
from tests.support.net import LINEAR, RELU6, Net
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Model
from usmp_build.ir.options import Padding
from usmp_build.ir.rewritten import Record, Rewritten, Stage
from usmp_build.operators.sums import Conv2D
from usmp_build.passes.assign import CALLER
from usmp_build.passes.rewrite import rewrite
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.work import macs
from usmp_build.passes.strips import divisions, in_strips


def model_of(data: bytes) -> Model:
    """Return a model after its rewrites."""
    return rewrite(import_tflite(data, "net", "net.tflite")).model


def small() -> Model:
    """Three convolutions over 6 x 10 pixels; the first two are the branches of a sum."""
    net = Net(1)
    x = net.conv(net.input(6, 10, 2), 4, (3, 3), RELU6)
    x = net.add(x, net.depthwise(x, (3, 3), RELU6, 1))
    return model_of(net.file(net.conv(x, 3, (3, 3), LINEAR, 2)))


def test_each_strip_has_the_columns_that_its_operators_need() -> None:
    """A column on each side for each 3 x 3 window; the sum takes from its other branch what it needs, by a SLICE."""
    model, record = in_strips(Rewritten(small(), Record()), [Stage(0, 4, 2)])
    widths = [(op.kind, model.main.tensors[op.outputs[0]].shape[2]) for op in model.main.operators]
    assert widths == [
        ("SLICE", 7), ("CONV_2D", 6), ("DEPTHWISE_CONV_2D", 5), ("SLICE", 5), ("ADD", 5), ("CONV_2D", 2),
        ("SLICE", 8), ("CONV_2D", 7), ("DEPTHWISE_CONV_2D", 6), ("SLICE", 6), ("ADD", 6), ("CONV_2D", 3),
        ("CONCATENATION", 5),
    ]  # fmt: skip
    options = model.main.operators[1].options
    assert isinstance(options, Conv2D)
    assert (options.padding, options.frame) == (Padding.VALID, (1, 1, 1, 0))
    assert record.stages == ((0, 3, 2),)
    assert [saving.rewrite for saving in record.savings] == ["strips"]
    assert record.savings[0].macs < 0


def test_operators_of_strips_have_numbers_of_their_own() -> None:
    model, record = in_strips(Rewritten(small(), Record()), [Stage(0, 4, 2)])
    positions = [op.position for op in model.main.operators]
    assert positions == [*range(4, 17)]
    assert sorted(record.strip_operators.values()) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {strip.whole for strip in record.strips.values()} <= {*range(len(small().main.tensors))}


def test_what_is_no_stage_stays_as_it_is() -> None:
    before = small()
    after, _ = in_strips(Rewritten(before, Record()), [Stage(3, 4, 2)])
    assert after.main.operators[:3] == before.main.operators[:3]
    assert in_strips(Rewritten(before, Record()), []).model is before


@pytest.mark.parametrize(("most", "bytes_"), [(4, 12_500), (13, 9_900), (30, 8_150)])
def test_fewer_bytes_for_more_work(most: int, bytes_: int) -> None:
    """Estimates for the net of msf-CNN, which takes 15,199 bytes at 38 % more work and 8,560 at 68 %."""
    model = model_of(mobilenet_v2_of_msf_cnn())
    graph = model.main
    in_arrays = Pins(tensors={(0, port): frozenset({CALLER}) for port in (*graph.inputs, *graph.outputs)})
    best = divisions(Rewritten(model, Record()), in_arrays, Fraction(most, 100))[-1]
    assert best.macs * 100 <= macs(graph) * (100 + most)
    assert best.peak <= bytes_


def test_an_output_within_a_stage_stays_whole() -> None:
    net = Net(1)
    x = net.conv(net.input(6, 10, 2), 4, (3, 3), RELU6)
    rewritten = Rewritten(model_of(net.file(x, net.conv(x, 3, (3, 3), LINEAR))), Record())
    stages = [stage for each in divisions(rewritten, NO_PINS, Fraction(1)) for stage in each.stages]
    assert all(stage.stop - stage.first == 1 for stage in stages)
