"""Concatenations read what earlier ones joined, where these are made for other readers, too."""

import pytest

from tests.support.road import every, model, request
from usmp_build.kernels.reference import Reference
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.search.replanner import Replanner

HEAD = """
%0 "x" int8[1,4,4,2] scale=0.5 zero=0
%1 "a" int8[1,4,4,2] scale=0.5 zero=0
%2 "b" int8[1,4,4,2] scale=0.5 zero=0
%3 "ab" int8[1,4,4,4] scale=0.5 zero=0
%4 "c" int8[1,4,4,4] scale=0.5 zero=0
%5 "abc" int8[1,4,4,8] scale=0.5 zero=0
%6 "y" int8[1,4,4,8] scale=0.5 zero=0
inputs %0
outputs %6
%1 = RELU(%0)
%2 = RELU6(%0)
"""
DENSE = f"""{HEAD}
%3 = CONCATENATION(%1, %2) axis=3
%4 = RELU(%3)
%5 = CONCATENATION(%3, %4) axis=-1
%6 = RELU(%5)
"""


def inputs(text: str) -> list[tuple[int | None, ...]] | None:
    """Return what concatenations read; None if nothing is flat that was not."""
    asked, read = request("m"), model(text)
    replanner = Replanner(asked, (read,), every(asked, Reference()), Auto())
    analysis = replanner.copy_flat(frozenset())
    if analysis is None:
        return None
    return [op.inputs for op in analysis.models[0].main.operators if op.kind == "CONCATENATION"]


def test_it_reads_the_parts() -> None:
    assert inputs(DENSE) == [(1, 2), (1, 2, 4)]


@pytest.mark.parametrize(
    "text",
    [
        DENSE.replace("axis=-1", "axis=2").replace("[1,4,4,8]", "[1,4,8,4]"),
        DENSE.replace("RELU(%3)", "RELU(%0)").replace('"c" int8[1,4,4,4]', '"c" int8[1,4,4,2]')
        .replace('"abc" int8[1,4,4,8]', '"abc" int8[1,4,4,6]').replace('"y" int8[1,4,4,8]', '"y" int8[1,4,4,6]'),
    ],
    ids=["along another axis", "made for the second one only"],
)  # fmt: skip
def test_others_stay(text: str) -> None:
    assert inputs(text) is None
