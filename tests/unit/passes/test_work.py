"""What rewrites removed is counted, not claimed."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.road import model
from usmp_build import plugins
from usmp_build.ir.rewritten import Saving
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.work import macs, saving

AUTOENCODER = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640]

TWO_LAYERS = """
    %0 "x" int8[1,4,4,3]
    %1 "filters" int8[{channels},3,3,3] = [0*{filter_bytes}]
    %2 "a" int8[1,4,4,{channels}]
    %3 "window" int8[1,3,3,{channels}] = [0*{window_bytes}]
    %4 "y" int8[1,4,4,{channels}]
    inputs %0
    outputs %4
    %2 = CONV_2D(%0, %1, _)
    %4 = DEPTHWISE_CONV_2D(%2, %3, _)
"""


def two_layers(channels: int) -> str:
    return TWO_LAYERS.format(channels=channels, filter_bytes=27 * channels, window_bytes=9 * channels)


@pytest.mark.parametrize(("name", "count"), [("kws", 2_656_768), ("vww", 7_489_664), ("ic", 12_501_632)])
def test_multiplications_of_real_models_are_the_published_ones(real_models: Path, name: str, count: int) -> None:
    path = f"{name}.tflite"
    assert macs(plugins.importer(path, "")((real_models / path).read_bytes(), name, path).main) == count


def test_multiplications_of_an_autoencoder() -> None:
    tensors = ['%0 "x" int8[1,640]']
    operators = []
    for layer, (inputs, outputs) in enumerate(pairwise(AUTOENCODER)):
        weights, output = 2 * layer + 1, 2 * layer + 2
        tensors += [f'%{weights} "w" int8[{outputs},{inputs}] = [0*{inputs * outputs}]']
        tensors += [f'%{output} "a{layer}" int8[1,{outputs}]']
        operators += [f"%{output} = FULLY_CONNECTED(%{output - 2}, %{weights}, _)"]
    text = "\n".join([*tensors, "inputs %0", "outputs %20", *operators])
    assert macs(model(text).main) == 264_192


def test_what_is_gone_is_the_difference() -> None:
    saved = saving("example", model(two_layers(5)), model(two_layers(3)))
    a_pixel = 27 + 9
    assert saved == Saving("example", 0, channels=4, weights=2 * a_pixel, macs=2 * 16 * a_pixel, constant_bytes=72)


def test_a_constant_of_two_operators_counts_once_and_views_do_not_run() -> None:
    before = model("""
        %0 "x" int8[4]
        %1 "one" int8[4] = [1, 1, 1, 1]
        %2 "a" int8[4]
        %3 "b" int8[4]
        inputs %0
        outputs %3
        %2 = ADD(%0, %1)
        %3 = ADD(%2, %1)
    """)
    first = replace(before.main, operators=before.main.operators[:1], outputs=(2,))
    assert saving("one", before, replace(before, subgraphs=(first,))) == Saving("one", operators=1)
    views = model("""
        %0 "x" int8[4]
        %1 "shape" int32[2] = [2, 2]
        %2 "a" int8[2,2]
        %3 "y" int8[2,2]
        inputs %0
        outputs %3
        %2 = RESHAPE(%0, %1)
        %3 = TANH(%2)
    """)
    assert rewrite(views).record.savings == (Saving("views", operators=1, constant_bytes=8),)
    assert rewrite(views, off=frozenset({"views"})).model == views


def test_what_rewrites_added_is_less_than_nothing() -> None:
    assert saving("back", model(two_layers(3)), model(two_layers(5))).channels == -4
