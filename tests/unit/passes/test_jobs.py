"""The jobs of a model are the same in whichever order it is scheduled."""

import random
from pathlib import Path

import pytest

from tests.support.net import Net
from tests.support.road import model, request
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.ir.choices import Choices
from usmp_build.passes.order import least_bytes
from usmp_build.search.replanner import Replanner

_LEGAL: dict[int, set[int]] = {0: set(), 1: set(), 2: {1}, 3: {0, 2}, 4: {0}, 5: {3, 4}}
"""Operator → those before it."""

BRANCHES = """
    %0 "x" float32[1,8]
    %1 "a" float32[1,8]
    %2 "b" float32[1,32]
    %3 "c" float32[1,8]
    %4 "d" float32[1,16]
    %5 "e" float32[1,8]
    %6 "y" float32[1,8]
    inputs %0
    outputs %6
    %1 = UNIQUE(%0) @0
    %2 = UNIQUE(%0) @1
    %3 = UNIQUE(%2) @2
    %4 = UNIQUE(%1, %3) @3
    %5 = UNIQUE(%1) @4
    %6 = UNIQUE(%4, %5) @5
"""


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_all_orders_is_that_of_any_schedule(seed: int) -> None:
    replanner = Replanner.of(request("m"), (model(BRANCHES),))
    in_file_order = replanner.analyze()
    order: list[int] = []
    free = random.Random(seed)
    while len(order) < len(_LEGAL):
        order.append(free.choice([o for o, needs in _LEGAL.items() if o not in order and needs <= set(order)]))
    other = replanner.retime(in_file_order, Choices({0: tuple(order)}))
    bounds = [least_bytes(replanner.request, [(each, each.storage.workspace)]) for each in (in_file_order, other)]
    assert bounds[0] == bounds[1]


def test_the_bound_counts_the_rows_of_an_input(tmp_path: Path) -> None:
    """Row by row, too, an input in one piece is alive when a run begins."""
    net = Net(3)
    (tmp_path / "c.tflite").write_bytes(net.file(net.conv(net.conv(net.input(16, 16, 4), 16, (3, 3)), 4, (3, 3))))
    text = '[project]\nname = "p"\n[pools.a]\naccess = "rw"\n[pools.f]\naccess = "ro"\n'
    (tmp_path / "usmp.toml").write_text(f'{text}[models.c]\npath = "c.tflite"\n', encoding="utf-8")
    planned = pipeline.plan(pipeline.read("usmp.toml", DiskFiles(tmp_path)), DiskFiles(tmp_path))
    ways = planned.fitted.chosen.ways
    assert len(ways) == 3
    assert min(least_bytes(planned.request, [(way, way.storage.workspace)]) for way in ways) >= 16 * 16 * 4
