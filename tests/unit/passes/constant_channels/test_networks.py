"""Networks drawn by script: every tensor that is kept is what TensorFlow Lite Micro made of it before."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.dead_channels import Network
from tests.support.flatfile import flatfile
from tests.support.kernels import oracle
from tests.support.tools import needs_oracle
from usmp_build.arithmetic.vectors import Booleans
from usmp_build.ir.graph import Model, Subgraph
from usmp_build.operators.values.interval import Interval
from usmp_build.passes.rewrite.constant_channels import constant_channels
from usmp_build.passes.rewrite.constant_channels.forward import facts, read_role
from usmp_build.passes.rewrite.constant_channels.sums import Sum

COUNT = int(os.environ.get("USMP_CASES", "60"))
GRAPHS = [Network(np.random.default_rng(seed)).draw() for seed in range(COUNT)]

Values: TypeAlias = Mapping[int, NDArray[Any]]


def samples(graph: Subgraph) -> list[NDArray[Any]]:
    shape = graph.tensors[0].shape
    r = np.random.default_rng(1)
    ends = (np.full(shape, end, np.int8) for end in (-128, 127))
    return [*ends, *(r.integers(-128, 128, shape).astype(np.int8) for _ in range(3))]


def all_values(graphs: list[Subgraph]) -> list[list[Values]]:
    """For each network and each of its samples, every tensor that is computed."""
    shown = [replace(graph, outputs=tuple(op.outputs[0] for op in graph.operators)) for graph in graphs]
    cases = [(flatfile(graph), [sample]) for graph in shown for sample in samples(graph)]
    answers = iter(oracle.outputs(cases))
    results = []
    for graph in shown:
        runs = [next(answers) for _ in samples(graph)]
        assert not any(isinstance(run, str) for run in runs), runs
        results.append([dict(zip(graph.outputs, run, strict=True)) for run in runs])
    return results


@pytest.fixture(scope="module")
def before() -> list[list[Values]]:
    return all_values(GRAPHS)


def differing(before: list[list[Values]], graphs: list[Subgraph]) -> list[str]:
    """Rewrite all networks; name the tensors that are not what they were, on the channels that are left."""
    rewritten = [constant_channels(Model("m", (graph,))) for graph in graphs]
    after = all_values([model.main for model, *_ in rewritten])
    wrong = []
    for number, (_, channels, _) in enumerate(rewritten):
        for old, new in zip(before[number], after[number], strict=True):
            for tensor, value in new.items():
                left = channels.get((0, tensor))
                expected = old[tensor] if left is None else old[tensor][..., list(left)]
                if not np.array_equal(value, expected):
                    wrong.append(f"network {number}, tensor {tensor}")
    return wrong


@needs_oracle
@pytest.mark.long
def test_what_is_kept_is_what_it_was(before: list[list[Values]]) -> None:
    assert differing(before, GRAPHS) == []


@needs_oracle
def test_every_value_lies_in_its_interval(before: list[list[Values]]) -> None:
    for graph, runs in zip(GRAPHS, before, strict=True):
        known = facts(graph, [read_role(op, graph) for op in graph.operators])
        for tensor, value in (item for run in runs for item in run.items()):
            x = known.intervals[tensor]
            assert ((value >= x.low) & (value <= x.high)).all(), graph.tensors[tensor].name


def test_the_networks_have_much_to_remove_and_all_kinds_are_understood() -> None:
    removed = 0
    kinds = set()
    for graph in GRAPHS:
        _, channels, *_ = constant_channels(Model("m", (graph,)))
        removed += sum(graph.tensors[t].shape[-1] - len(left) for (_, t), left in channels.items())
        kinds |= {op.kind for op in graph.operators if {(0, op.inputs[0]), (0, op.outputs[0])} & channels.keys()}
        assert all(read_role(op, graph) for op in graph.operators)
    assert removed > 3 * COUNT
    assert kinds == {op.kind for graph in GRAPHS for op in graph.operators}


def test_shapes_fit_behind_the_rewrite_and_again() -> None:
    for graph in GRAPHS:
        once, _, *_ = constant_channels(Model("m", (graph,)))
        assert all(t.data is None or len(t.data) == t.size for t in once.main.tensors)
        assert min(t.elements for t in once.main.tensors) > 0
        assert len(once.main.operators) == len(graph.operators)


def anything_constant(self: Sum, x: Interval) -> Booleans:
    return x.is_constant


@needs_oracle
def test_folding_a_constant_under_padding_changes_results(
    before: list[list[Values]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sum, "is_foldable", anything_constant)
    assert differing(before, GRAPHS)


@needs_oracle
def test_ignoring_padding_in_the_analysis_changes_results(
    before: list[list[Values]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Sum.accumulated

    def without_padding(self: Sum, x: Interval) -> Interval:
        return read(replace(self, outside=np.zeros_like(self.outside)), x)

    monkeypatch.setattr(Sum, "accumulated", without_padding)
    assert differing(before, GRAPHS)
