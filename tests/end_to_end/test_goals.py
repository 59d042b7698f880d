"""`goal = "balanced"`: no rewrite makes an operator do more; `goal = "ram"`: all channels go that nobody needs."""

from math import prod
from pathlib import Path

import pytest

from tests.support.cli import manifest, one_model, succeed
from tests.support.nets import NETS, three_of_four
from tests.support.tools import needs_c
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.interfaces.kernels import Kernel

OFF = "rewrites = { constant_channels = false }"


def written(folder: Path, model: bytes, words: str) -> Path:
    (folder / "m.tflite").write_bytes(model)
    return manifest(folder, one_model("m", words, path=(folder / "m.tflite").as_posix()))


def turns(folder: Path, model: bytes, words: str) -> dict[int, int]:
    """Return how many turns one row of each operator of the file takes."""
    path = written(folder, model, words)
    files = DiskFiles(folder)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    turns_of = {}
    for at, kernel in planned.analysis.kernels.items():
        assert isinstance(kernel, Kernel)
        declared = [call.accesses for call in kernel.calls if call.accesses is not None]
        turns = (
            prod(declaration.loops) * sum(prod(part.loops) for part in declaration.parts) for declaration in declared
        )
        graph = planned.analysis.models[at.model].subgraphs[at.subgraph]
        turns_of[graph.operators[at.operator].position] = sum(turns)
    return turns_of


@pytest.mark.long
def test_three_channels_take_more_turns_than_four(tmp_path: Path) -> None:
    as_filed, ram = turns(tmp_path, three_of_four(), OFF), turns(tmp_path, three_of_four(), "")
    assert [ram[position] for position in (1, 2, 3)] == [3 * as_filed[position] for position in (1, 2, 3)]
    assert turns(tmp_path, three_of_four(), 'goal = "balanced"') == as_filed


@pytest.mark.slow
def test_channels_go_from_a_balanced_plan_where_that_costs_nothing(tmp_path: Path) -> None:
    net = NETS["dead_channels"]()
    as_filed, balanced = turns(tmp_path, net, OFF), turns(tmp_path, net, 'goal = "balanced"')
    assert all(balanced[position] <= as_filed[position] for position in balanced)
    assert sum(balanced.values()) < sum(as_filed.values())


@pytest.mark.long
@needs_c
@pytest.mark.parametrize("goal", ["ram", "balanced"])
@pytest.mark.drawn("model")
@pytest.mark.parametrize("model", ["three_of_four", "dead_channels"])
def test_both_are_exact(tmp_path: Path, model: str, goal: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    make = three_of_four if model == "three_of_four" else NETS[model]
    succeed("selftest", written(tmp_path, make(), f'goal = "{goal}"'))
