"""Nets drawn at random whose layers can run row by row, and schedules of them that are legal, but not good."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, groupby
from random import Random

import numpy as np

from tests.support.flatbuffer import Node, tensor
from tests.support.net import Net, Value
from usmp_build import passes
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.by_rows import ByRows
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Direction
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.pipeline import Planned
from usmp_build.report.summarize import summarize
from usmp_build.search.finalize import finalize
from usmp_build.search.replanner import Replanner

WAYS = (Direction.FORWARD, Direction.BACKWARD)
JOINED = 10_000
"""From this seed on, `drawn` makes nets of several branches."""
_LINEAR, _RELU = 0, 1
_SAME, _VALID = 0, 1


class FloatNet(Net):
    """The same net with values and weights of float32."""

    def _layer(
        self,
        kind: str,
        x: Value,
        filters: np.ndarray,
        plan: tuple[int, int, int],
        options: Node,
        result: tuple[tuple[int, ...], int],
        one_scale: bool = False,
        form: tuple[int, ...] = (),
    ) -> Value:
        taps, shape = plan[1], result[0]
        weights = self._constant((filters / (64 * np.sqrt(taps))).astype(np.float32))
        bias = self._constant(self._random.uniform(-1, 1, shape[-1]).astype(np.float32))
        output = self._value(shape, 1.0, 0)
        self._run(kind, [*form, weights, x.index, bias] if form else [x.index, weights, bias], output, options)
        return output

    def _value(self, shape: tuple[int, ...], scale: float, zero: int) -> Value:
        self._tensors.append(tensor(f"t{len(self._tensors)}", shape, "FLOAT32"))
        return Value(len(self._tensors) - 1, shape)


def residual() -> bytes:
    """A residual between convolutions, and the mean of the image."""
    net = Net(7)
    x = net.conv(net.input(8, 5, 1), 8, (3, 3))
    x = net.add(x, net.conv(net.depthwise(x, (3, 3)), 8))
    x = net.pool("MAX_POOL_2D", x, (3, 3), (2, 2), _SAME)
    return net.file(net.pool("AVERAGE_POOL_2D", x, (4, 3)))


def tall_window() -> bytes:
    """Windows along the rows of a spectrogram of one column, the last one over all that is left."""
    net = Net(3)
    x = net.input(30, 1, 40)
    for height in (3, 5, 10):
        x = net.conv(net.depthwise(x, (height, 1), _LINEAR, pad=_VALID), 128)
    x = net.conv(net.depthwise(x, (15, 1), _LINEAR, pad=_VALID), 32)
    return net.file(net.dense(net.reshape(x, 1, 32), 3, _LINEAR))


def skip() -> bytes:
    """A U-Net of two levels: what is made small and large again is joined with what it was made from."""
    net = Net(5)
    top = net.conv(net.input(16, 12, 2), 6, (3, 3), _LINEAR)
    low = net.conv(top, 8, (3, 3), stride=2)
    return net.file(net.conv(net.concat(net.widen(low, 6, (3, 3), (2, 2)), top), 2, (3, 3)))


def signal() -> bytes:
    """Windows along a single row of samples."""
    net = Net(6)
    x = net.pool("MAX_POOL_2D", net.conv(net.input(1, 96, 1), 8, (1, 9)), (1, 2))
    x = net.pool("AVERAGE_POOL_2D", net.conv(net.conv(x, 8, (1, 5)), 8, (1, 3)), (1, 2))
    return net.file(net.dense(net.pool("AVERAGE_POOL_2D", x, (1, 24)), 3))


def drawn(seed: int, operators: tuple[int, int] = (4, 9), rows: tuple[int, int] = (4, 13)) -> bytes:
    """Draw a net with a number of operators in this range after its first layer, on an image of so many rows.

    A third of the nets are of float32, and one in six has channels first in its input.  What nobody reads is an
    output, sometimes reduced to a pixel first.  From the seed `JOINED` on, nets join, split and widen what they made.
    """
    if seed >= JOINED:
        return _joined(seed, operators)
    r = Random(seed)
    net = FloatNet(seed) if seed % 3 == 2 else Net(seed)
    given = net.image if seed % 6 == 3 else net.input
    values = [_layer(net, r, given(r.randint(*rows), r.randint(2, 6), r.randint(1, 2)))]
    unread = list(values)
    for _ in range(r.randint(*operators)):
        x = values[-1] if r.random() < 0.85 else r.choice(values)
        operands, grown = _grown(net, r, x, [each for each in values if each.shape == x.shape and each != x])
        values.append(grown)
        unread = [value for value in unread if value not in operands] + [grown]
    outputs = [_whole_image(net, r, x) if x.shape[1] > 1 and r.random() < 0.7 else x for x in unread]
    return net.file(*outputs)


def _joined(seed: int, operators: tuple[int, int]) -> bytes:
    """Draw a net of a signal, a single row of samples, if the seed is even, else of an image."""
    r, net = Random(seed), FloatNet(seed) if seed % 4 == 3 else Net(seed)
    height = 1 if seed % 2 == 0 else r.randint(5, 9)
    width = r.randint(12, 24) if height == 1 else r.randint(2, 5)
    values = [net.conv(net.input(height, width, r.randint(1, 3)), 4, _span(r, height))]
    unread = list(values)
    for _ in range(r.randint(*operators)):
        x = values[-1] if r.random() < 0.8 else r.choice(values)
        alike = [
            each for each in values if (each.shape[:3], each.scale) == (x.shape[:3], x.scale) and each.zero == x.zero
        ]
        read, made = _changed(net, r, x, r.choice(alike))
        values += made
        unread = [value for value in unread if value not in read] + made
    return net.file(*unread)


def _changed(net: Net, r: Random, x: Value, other: Value) -> tuple[list[Value], list[Value]]:
    """Add an operator, or several; return what they read, and their results."""
    height, channels = x.shape[1], x.shape[3]
    kinds = ["conv", "conv", "pool", "widen", "join", "join", "split", "slice", "view", "frame", "resize", "sums"]
    match r.choice(kinds):
        case "join":
            return [x, other], [net.concat(x, other)]
        case "split" if channels % 2 == 0:
            return [x], net.split(x, 2)
        case "slice" if channels > 2:
            return [x], [net.slice(x, 1, channels)]
        case "view":
            shape = (1, x.shape[2], channels) if height == 1 else (1, height, x.shape[2] * channels)
            return [x], [net.reshape(net.relu(net.reshape(x, *shape)), *x.shape)]
        case "frame":
            return [x], [net.relu(net.pad(x, r.randint(0, 2), r.randint(0, 2), (2,) if height == 1 else (1, 2)))]
        case "resize" if x.shape[2] < 30:
            return [x], [net.resize(x, 1 if height == 1 else r.randint(2, 9), r.randint(2, 30))]
        case "sums" if channels > 1:
            return [x], [net.products(x, net.relu(x)) if x.shape[2] <= 12 else net.mean(x, 3)]
        case "widen" if x.shape[2] < 30:
            return [x], [net.widen(x, 4, _span(r, height), (1 if height == 1 else 2, 2))]
        case "pool" if x.shape[2] > 6:
            return [x], [net.pool("MAX_POOL_2D", x, (1, 2))]
    return [x], [net.conv(x, r.choice([4, 4, 6]), _span(r, height), stride=r.choice([1, 1, 2]))]


def _span(r: Random, height: int) -> tuple[int, int]:
    """Draw a window, of one row for an image of one row."""
    return 1 if height == 1 else r.randint(1, 3), r.randint(1, 4)


def _grown(net: Net, r: Random, x: Value, alike: list[Value]) -> tuple[list[Value], Value]:
    """Add an operator; return what it reads, and its result."""
    kind = r.choice(["conv", "conv", "depthwise", "depthwise", "pool", "relu", "add", "add"])
    if kind == "add" and alike:
        other = r.choice(alike)
        return [x, other], net.add(x, other)
    if kind == "pool":
        return [x], _pooled(net, r, x)
    if kind == "relu":
        return [x], net.relu(x)
    return [x], _layer(net, r, x, kind)


def _pooled(net: Net, r: Random, x: Value) -> Value:
    kind = r.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"])
    window, _ = _window(r, x)
    return net.pool(kind, x, window, (r.choice([1, 1, 2, 3]), r.randint(1, 2)), r.choice([_SAME, _VALID]))


def _whole_image(net: Net, r: Random, x: Value) -> Value:
    """Add an operator with a window as high as the image, and at times as wide."""
    height, width = x.shape[1:3]
    kind = r.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D", "AVERAGE_POOL_2D", "conv", "depthwise"])
    if kind == "conv":
        return net.conv(x, 3, (height, r.randint(1, width)), stride=height)
    if kind == "depthwise":
        return net.depthwise(x, (height, 1), pad=_VALID)
    return net.pool(kind, x, (height, width))


def _layer(net: Net, r: Random, x: Value, kind: str = "conv") -> Value:
    act, stride, pad = r.choice([_LINEAR, _RELU]), r.choice([1, 1, 1, 1, 2, 3]), r.choice([_SAME, _SAME, _VALID])
    window, dilation = _window(r, x)
    stride = 1 if dilation > 1 else stride  # TensorFlow has no convolution with both
    if kind == "depthwise":
        return net.depthwise(x, window, act, stride, pad, dilation)
    return net.conv(x, r.randint(2, 8), window, act, stride, pad, dilation=dilation)


def _window(r: Random, x: Value) -> tuple[tuple[int, int], int]:
    """Draw a window, and a dilation with which it still fits into the image."""
    window = r.randint(1, min(4, x.shape[1])), r.randint(1, min(3, x.shape[2]))
    spans = [(size - 1, length - 1) for size, length in zip(window, x.shape[1:3], strict=True)]
    most = min((length // span for span, length in spans if span), default=1)
    return window, r.randint(1, min(2, most))


def all_rows(replanner: Replanner, analysis: Analysis) -> ByRows:
    """Return everything that can run row by row."""
    models = [passes.by_rows(replanner.request, analysis, index) for index in range(len(replanner.models))]
    jobs = {ref: count for each in models for ref, count in each.jobs.items()}
    tables = {ref: table for each in models for ref, table in each.tables.items()}
    return ByRows(jobs, tables, {ref: table for each in models for ref, table in each.edges.items()})


def shuffled(replanner: Replanner, analysis: Analysis, seed: int) -> Analysis:
    """Return the analysis with everything in rows, in random directions, in a random order that is legal."""
    r, rows = Random(seed), all_rows(replanner, analysis)
    directions = {ref: r.choice(WAYS) for ref in rows.jobs}
    in_file_order = replanner.retime(analysis, Choices({}, directions, rows))
    models = range(len(replanner.models))
    orders = {index: random_order(replanner, in_file_order, index, r) for index in models}
    return replanner.retime(in_file_order, Choices(orders, directions, rows))


def cut(replanner: Replanner, analysis: Analysis, seed: int) -> Analysis:
    """Return the analysis in stretches of up to three operators: by itself one runs as a whole, others are shuffled."""
    r, merged, orders = Random(seed), ByRows(), dict[int, tuple[int, ...]]()
    everything = all_rows(replanner, analysis)
    directions = {ref: r.choice(WAYS) for ref in everything.jobs}
    in_file_order = replanner.retime(analysis, Choices({}, directions, everything))
    for index, model in enumerate(analysis.models):
        running = [number for number, op in enumerate(model.main.operators) if op.runs]
        begins = set(running[:1])
        while max(begins) < running[-1]:
            begins.add(running[min(running.index(max(begins)) + r.randint(1, 3), len(running) - 1)])
        stretch_of = {number: sum(begin <= number for begin in begins) for number in running}
        order = random_order(replanner, in_file_order, index, r, stretch_of)
        stretches = [tuple(group) for _, group in groupby(order, stretch_of.__getitem__)]
        stretches = [each if len({*each}) > 1 else each[:1] for each in stretches]
        rows = passes.in_stretches(passes.by_rows(replanner.request, analysis, index), analysis, index, stretches)
        merged = ByRows({**merged.jobs, **rows.jobs}, {**merged.tables, **rows.tables}, {**merged.edges, **rows.edges})
        orders[index] = tuple(chain(*stretches))
    return replanner.retime(analysis, Choices(orders, {ref: directions[ref] for ref in merged.jobs}, merged))


def random_order(
    replanner: Replanner, analysis: Analysis, index: int, r: Random, stretch_of: Mapping[int, int] | None = None
) -> tuple[int, ...]:
    """Return the operators of a model, once for each job, in a random order that keeps all predecessors.

    `stretch_of` numbers the stretches: jobs of one come before those of the next.
    """
    jobs, operators = jobs_of(analysis, index)
    stretches = [stretch_of[operator] if stretch_of else 0 for operator in operators]
    behind = [set(members_of(job.predecessors)) for job in jobs.jobs]
    order: list[int] = []
    haste = r.choice([0.0, 0.5, 1.0])  # how often the job that is latest in the file goes first
    left = set(range(len(operators)))
    while left:
        now = min(stretches[job] for job in left)
        ready = sorted(job for job in left if stretches[job] == now and behind[job].isdisjoint(left))
        chosen = ready[-1] if r.random() < haste else r.choice(ready)
        order.append(chosen)
        left.remove(chosen)
    return tuple(operators[job] for job in order)


def replanned(planned: Planned, change: Callable[[Replanner, Analysis], Analysis]) -> Planned:
    """Return the plan of another schedule."""
    request = planned.request
    analysis = change(planned.replanner, planned.analysis)
    plan = planned.replanner.solve(analysis)
    assert plan is not None
    chosen = replace(planned.fitted.chosen, analysis=analysis, plan=plan, bound=0, orders_are_proven=False)
    plan = finalize(request, analysis, plan)
    fitted = replace(planned.fitted, chosen=chosen)
    return replace(planned, fitted=fitted, plan=plan, summary=summarize(request, chosen, plan))
