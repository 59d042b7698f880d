"""Separations of other directions are those of a schedule in which operators go that way."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.support.road import request
from tests.support.row_nets import cut, drawn
from tests.support.tree import ROOT
from usmp_build.importers.tflite import import_tflite
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction
from usmp_build.passes import DirectedSeparations
from usmp_build.search.analyze import redirect
from usmp_build.search.replanner import Replanner

ASKED = request("m")
COUNT = int(os.environ.get("USMP_CASES", "60")) // 3
OURS = sorted((ROOT / "tests" / "data").glob("*.tflite"))


def ways(data: bytes, seed: int) -> Iterator[Analysis]:
    """Yield an analysis layer by layer, and one in which some operators run row by row, if there are such."""
    replanner = Replanner.of(ASKED, (import_tflite(data, "m", "m.tflite"),))
    analysis = replanner.analyze()
    yield analysis
    yield cut(replanner, analysis, seed)


def reversible(analysis: Analysis) -> list[OperatorRef]:
    """Return the operators that run as a whole, in either direction."""
    in_rows = analysis.choices.by_rows.jobs
    kernels = analysis.kernels.items()
    return [ref for ref, each in kernels if isinstance(each, Kernel) and each.backward and ref not in in_rows]


def check(data: bytes, seed: int) -> None:
    """Some operators go any way, and others stay as they are: backward, or undecided, too."""
    chance = Random(seed)
    for analysis in ways(data, seed):
        operators = reversible(analysis)
        begun = redirect(ASKED, analysis, turned(analysis, any_way(operators, chance)))
        some = [ref for ref in operators if chance.random() < 0.7]
        directed = DirectedSeparations(begun, some)
        for _ in range(4):
            directions = any_way([ref for ref in some if chance.random() < 0.8], chance)
            assert directed.towards(directions) == redirect(ASKED, begun, turned(begun, directions)).separations


def any_way(operators: list[OperatorRef], chance: Random) -> dict[OperatorRef, Direction]:
    return {ref: chance.choice(list(Direction)) for ref in operators}


def turned(analysis: Analysis, directions: dict[OperatorRef, Direction]) -> Choices:
    return replace(analysis.choices, directions={**analysis.choices.directions, **directions})


@pytest.mark.parametrize("seed", range(COUNT))
def test_of_drawn_nets(seed: int) -> None:
    check(drawn(seed), seed)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_of_our_models(path: Path) -> None:
    check(path.read_bytes(), 1)
