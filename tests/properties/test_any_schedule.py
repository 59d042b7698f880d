"""What a plan says of all orders and directions, against all of them: small nets with branches, each solved exactly."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.net import Net
from tests.support.road import request
from usmp_build import pipeline, plugins
from usmp_build.errors import DoesNotFit
from usmp_build.files import DictFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction
from usmp_build.ir.storage import Kind
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import peaks
from usmp_build.request import PlaceRequest, Request
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.replanner import Replanner

WAYS = (Direction.FORWARD, Direction.BACKWARD)


@st.composite
def nets(draw: st.DrawFn) -> bytes:
    """Two branches from one input, of one or two convolutions, that an addition or a concatenation joins."""
    net = Net(draw(st.integers(0, 9)))
    image = net.input(draw(st.integers(2, 6)), 4, draw(st.integers(1, 6)))
    adds = draw(st.booleans())
    last = draw(st.integers(1, 6))
    ends = []
    for _ in range(2):
        x = image
        if draw(st.booleans()):
            x = net.conv(x, draw(st.integers(1, 9)), draw(st.sampled_from([(1, 1), (3, 3)])))
        ends.append(net.conv(x, last if adds else draw(st.integers(1, 6)), draw(st.sampled_from([(1, 1), (3, 3)]))))
    return net.file(net.add(*ends) if adds else net.concat(*ends))


def orders(analysis: Analysis) -> Iterator[tuple[int, ...]]:
    """Yield all orders in which operators run behind those whose results they read."""
    (model,) = analysis.models
    behind: dict[int, set[int]] = {}
    for number, op in enumerate(model.main.operators):
        needed = set[int]().union(*(behind.get(tensor, set()) for tensor in op.inputs if tensor is not None))
        behind |= dict.fromkeys(op.outputs, needed | {number})
    running = [number for number, op in enumerate(model.main.operators) if op.runs]
    every = {n: behind[model.main.operators[n].outputs[0]] & set(running) for n in running}
    for order in permutations(running):
        if all(every[number] <= set(order[: at + 1]) for at, number in enumerate(order)):
            yield order


def needed(analysis: Analysis) -> int:
    workspace = [n for n, buffer in enumerate(analysis.storage.buffers) if buffer.kind is not Kind.CONSTANT]
    problem = restricted(analysis.problem, workspace)
    plan = Exact()(problem)
    assert plan is not None
    return sum(peaks(problem, plan))


@pytest.mark.long
@settings(max_examples=8)
@given(nets())
def test_no_schedule_needs_less_than_the_plan_says(data: bytes) -> None:
    asked = replace(request("net"), rows=False)
    replanner = Replanner.of(asked, (plugins.importer("net.tflite", "")(data, "net", "net"),))
    chosen = choose(replanner)
    base = chosen.analysis
    both = [ref for ref, kernel in base.kernels.items() if isinstance(kernel, Kernel) and kernel.backward]
    peaks_of_all = []
    for order in orders(base):
        for ways in product(WAYS, repeat=len(both)):
            directions: dict[OperatorRef, Direction] = dict(zip(both, ways, strict=True))
            peaks_of_all.append(needed(replanner.retime(base, Choices({0: order}, directions))))
    assert needed(base) == chosen.bound == min(peaks_of_all), (
        "for nets as small as these, the plan is the best, and known to be"
    )


PINNED = (PlaceRequest(operators="CONV_2D", pools=(1,)),)
"""What convolutions write is in the second pool."""


def in_second_pool(limit: int | None) -> Request:
    asked = request("net", limits=(None, limit))
    return replace(asked, models=(replace(asked.models[0], places=PINNED),), rows=False)


def least_of_all(data: bytes) -> int:
    """The bytes of the second pool that no order and no directions do without."""
    asked = in_second_pool(None)
    replanner = Replanner.of(asked, (plugins.importer("net.tflite", "")(data, "net", "net"),))
    base = choose(replanner).analysis
    both = [ref for ref, kernel in base.kernels.items() if isinstance(kernel, Kernel) and kernel.backward]

    def of_schedule(order: tuple[int, ...], ways: tuple[Direction, ...]) -> int:
        analysis = replanner.retime(base, Choices({0: order}, dict(zip(both, ways, strict=True))))
        there = [index for index, buffer in enumerate(analysis.problem.buffers) if buffer.pools == (1,)]
        problem = restricted(analysis.problem, there)
        plan = Exact()(problem)
        assert plan is not None
        return peaks(problem, plan)[1]

    return min(of_schedule(order, ways) for order in orders(base) for ways in product(WAYS, repeat=len(both)))


@pytest.mark.long
@settings(max_examples=8)
@given(nets(), st.integers(1, 20))
def test_a_shortage_that_is_called_proven_is_one_of_every_schedule(data: bytes, less: int) -> None:
    least = least_of_all(data)
    files = DictFiles({"net.tflite": data})
    assert pipeline.plan(in_second_pool(least), files).summary.pools[1].size == least
    limit = max(1, least - less)
    if limit < least:
        with pytest.raises(DoesNotFit) as refused:
            pipeline.plan(in_second_pool(limit), files)
        (message,) = refused.value.diagnostics
        missing = re.search(r'pool "pool1" \([\d,]+ bytes?\) is (\d+) bytes? too small', message.message)
        assert missing, message
        if message.help.startswith(("no plan needs less", "no plan that runs layer by layer needs less")):
            assert int(missing[1]) <= least - limit
        assert "no plan" in message.help
