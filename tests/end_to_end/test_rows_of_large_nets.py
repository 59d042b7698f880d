"""What nets with the layers of published ones take row by row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from tests.support.large_nets import dense_block, mobilenet_v2, resnet_18, u_net
from tests.support.road import request
from tests.support.tools import few
from usmp_build import pipeline, plugins


def planned(data: bytes, rows: bool) -> tuple[int, int]:
    """Return the bytes of workspace, and the number of jobs of operators that run row by row."""
    model = plugins.importer("net.tflite", "")(data, "net", "net")
    plan = pipeline.plan_models(replace(request("net"), rows=rows), (model,))
    return plan.summary.workspace.achieved, sum(plan.analysis.choices.by_rows.jobs.values())


@dataclass(frozen=True)
class Expected:
    """A net, its bytes of workspace layer by layer, and at most so many bytes and jobs row by row."""

    make: Callable[[], bytes]
    layers: int
    rows: int
    jobs: int


NETS = {
    "U-Net": Expected(u_net, 98_828, 64_089, 920),
    "dense block": Expected(dense_block, 90_380, 26_598, 672),
    "ResNet-18": Expected(resnet_18, 16_968, 13_256, 48),
    "MobileNetV2 0.35, 144": Expected(partial(mobilenet_v2, 144, 0.35), 248_836, 64_533, 1_047),
    "MobileNetV2, 224": Expected(partial(mobilenet_v2, 224), 1_204_236, 184_812, 1_617),
}


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few(NETS, 4))
@pytest.mark.long
def test_bytes_and_jobs(name: str) -> None:
    """A net that gains nothing goes layer by layer."""
    expected = NETS[name]
    net = expected.make()
    assert planned(net, rows=False) == (expected.layers, 0)
    least, needed = planned(net, rows=True)
    assert least <= expected.rows
    assert needed <= expected.jobs


@pytest.mark.long
def test_mobilenet_v2_as_its_file(real_models: Path) -> None:
    """Its picture has channels first: TRANSPOSE makes a row from a row of each of the three planes."""
    net = (real_models / "more" / "mobilenet_v2_224.tflite").read_bytes()
    assert planned(net, rows=True)[0] <= 216_832
