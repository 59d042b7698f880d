"""Nets drawn at random, in which parts, frames and constant channels meet."""

from collections.abc import Sequence
from random import Random

from tests.support.net import Net, Value

KINDS = ["conv", "conv", "conv", "depthwise", "pool", "pad", "relu", "add", "split", "slice"]
_LINEAR, _RELU = 0, 1
_SAME, _VALID = 0, 1
_LARGEST = 2_000
"""Bytes of a tensor, so that nets do not grow without end."""


def drawn(seed: int, operators: tuple[int, int] = (8, 16)) -> bytes:
    """Draw a net that branches, joins and parts, with a number of operators in this range after its first layers.

    What nobody reads is an output.
    """
    return drawn_like(seed, (), operators)[0]


def drawn_like(seed: int, fed: Sequence[Value], operators: tuple[int, int]) -> tuple[bytes, list[Value]]:
    """Draw such a net whose first inputs are like values of another one; return it with its outputs."""
    r, net = Random(seed), Net(seed)
    given = [net.input(*each.shape[1:], scale=each.scale, zero=each.zero) for each in fed]
    shape = (r.randint(3, 8), r.randint(3, 8))
    values = [_layer(net, r, net.input(*shape, r.randint(1, 8))) for _ in range(r.randint(1, 3))]
    values += [_layer(net, r, each) for each in given]
    unread = list(values)
    for _ in range(r.randint(*operators)):
        operands = _operands(r, unread if r.random() < 0.8 else values)
        grown = _grown(net, r, operands)
        if grown:
            values += grown
            unread = [value for value in unread if value not in operands] + grown
    return net.file(*unread), unread


def _operands(r: Random, values: list[Value]) -> list[Value]:
    """Draw a value, and sometimes up to three that may be added to it or concatenated with it."""
    first = r.choice(values)
    alike = [each for each in values if (each.scale, each.zero) == (first.scale, first.zero) and each != first]
    fitting = [each for each in alike if each.shape[1:3] == first.shape[1:3]]
    return [first, *r.sample(fitting, min(len(fitting), r.choice([0, 1, 1, 3])))]


def _grown(net: Net, r: Random, operands: list[Value]) -> list[Value]:
    """Add an operator of the first operand, or of all; none where the draw makes no sense."""
    x, kind = operands[0], r.choice(KINDS)
    axis = r.choice([1, 3, 3])
    if len(operands) > 1:
        same = len({each.shape for each in operands}) == 1
        if kind == "add" and same and len(operands) == 2:
            return [net.add(*operands)]
        fits = sum(each.shape[1] * each.shape[2] * each.shape[3] for each in operands) <= _LARGEST
        return [net.concat(*operands, axis=axis if same else 3)] if fits else []
    if kind in {"conv", "depthwise"}:
        return [_layer(net, r, x, kind)]
    if kind == "pool":
        size = _window(r, x)
        return [net.pool(r.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), x, size, (1, r.randint(1, 2)), r.randint(0, 1))]
    if kind == "pad" and max(x.shape[1:3]) < 10:
        return [net.pad(x, r.randint(0, 2), r.randint(0, 2))]
    if kind == "split":
        counts = [count for count in (2, 3, 4) if x.shape[axis] % count == 0]
        return net.split(x, r.choice(counts), axis) if counts else []
    if kind == "slice" and x.shape[axis] > 1:
        start = r.randint(0, x.shape[axis] - 1)
        return [net.slice(x, start, r.randint(start + 1, x.shape[axis]), axis)]
    return [net.relu(x)]


def _layer(net: Net, r: Random, x: Value, kind: str = "conv") -> Value:
    """Add a convolution, some channels of which may be constant."""
    size, act = _window(r, x), r.choice([_LINEAR, _RELU, _RELU])
    stride, pad = r.choice([1, 1, 1, 2]), r.choice([_SAME, _SAME, _VALID])
    if kind == "depthwise":
        return net.depthwise(x, size, act, stride, pad)
    channels = r.randint(1, 8)
    return net.conv(x, channels, size, act, stride, pad, dead=r.choice([0, channels // 2]))


def _window(r: Random, x: Value) -> tuple[int, int]:
    return r.randint(1, min(3, x.shape[1])), r.randint(1, min(3, x.shape[2]))
