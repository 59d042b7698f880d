"""MobileNetV2 with random weights: as Keras makes it, and as msf-CNN's evaluation describes it."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.net import LINEAR, RELU6, Net, Value

_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, blocks, stride of the first."""


def keras(pixels: int = 144, width: float = 0.35, stages: int = len(_STAGES)) -> bytes:
    """Return the network with channels in multiples of 8, residuals, and 1,000 classes; or only its first stages."""
    net = Net(1)
    x = _stages(net, pixels, lambda channels: _divisible(channels * width), stages, has_residuals=True)
    if stages == len(_STAGES):
        x = net.conv(x, 1280, act=RELU6)
    x = net.pool("AVERAGE_POOL_2D", x, (x.shape[1], x.shape[2]))
    return net.file(net.dense(x, 1000 if stages == len(_STAGES) else 10, LINEAR))


def msf_cnn(pixels: int = 144, width: float = 0.35) -> bytes:
    """Return the network with channels rounded down, and neither residuals nor classes."""
    net = Net(1)
    x = _stages(net, pixels, lambda channels: int(channels * width), len(_STAGES), has_residuals=False)
    x = net.conv(x, int(1280 * width), act=RELU6)
    return net.file(net.pool("AVERAGE_POOL_2D", x, (x.shape[1], x.shape[2])))


def _stages(net: Net, pixels: int, channels: Callable[[int], int], count: int, *, has_residuals: bool) -> Value:
    x = net.conv(net.input(pixels, pixels, 3), channels(32), (3, 3), RELU6, 2)
    for expansion, wide, blocks, stride in _STAGES[:count]:
        for block in range(blocks):
            step = 1 if block else stride
            y = x if expansion == 1 and has_residuals else net.conv(x, expansion * x.shape[3], act=RELU6)
            y = net.conv(net.depthwise(y, (3, 3), RELU6, step), channels(wide), act=LINEAR)
            x = net.add(x, y) if has_residuals and step == 1 and x.shape == y.shape else y
    return x


def _divisible(channels: float) -> int:
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded
