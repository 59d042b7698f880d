"""Nets with the layers of published ones, with weights drawn at random."""

from collections.abc import Callable

from tests.support.net import LINEAR, RELU, RELU6, SAME, Net, Value

_BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Of MobileNetV2: expansion, channels, blocks, and the stride of the first of them."""


def mobilenet_v2(side: int, width: float = 1.0, stages: int = len(_BLOCKS)) -> bytes:
    """MobileNetV2 for square images, as Keras makes it; `width` multiplies the channels.  Or its first stages."""
    net, is_all = Net(1), stages == len(_BLOCKS)
    x = _inverted_residuals(net, side, lambda channels: _in_eights(channels * width), stages, is_published=True)
    return net.file(net.scores(net.conv(x, 1280, act=RELU6), 1000) if is_all else net.scores(x, 10))


def mobilenet_v2_of_msf_cnn() -> bytes:
    """The version that msf-CNN's evaluation describes: channels rounded down, and neither residuals nor classes."""
    net = Net(1)
    x = _inverted_residuals(net, 144, lambda channels: int(channels * 0.35), len(_BLOCKS), is_published=False)
    x = net.conv(x, int(1280 * 0.35), act=RELU6)
    return net.file(net.pool("AVERAGE_POOL_2D", x, (x.shape[1], x.shape[2])))


_MCUNET = (
    *((3, 16, 7, 2), (5, 16, 3, 1), (5, 16, 7, 1), (4, 16, 5, 1), (5, 24, 5, 2), (5, 24, 5, 1), (5, 24, 5, 1)),
    *((5, 40, 3, 2), (6, 40, 7, 1), (4, 40, 5, 1), (5, 48, 5, 1), (5, 48, 7, 1), (5, 48, 3, 1), (6, 96, 3, 2)),
    *((5, 96, 7, 1), (4, 96, 3, 1), (5, 160, 7, 1)),
)
"""Of MCUNet-320KB as msf-CNN's evaluation has it: expansion, channels, side of the window, and stride of each block."""


def mcunet_of_msf_cnn() -> bytes:
    """MCUNet-320KB for images of 176 x 176, as msf-CNN's evaluation describes it: no residuals, no classes."""
    net = Net(1)
    x = net.depthwise(net.conv(net.input(176, 176, 3), 16, (3, 3), RELU6, 2), (3, 3), RELU6)
    x = net.conv(x, 8, act=LINEAR)
    for expansion, channels, side, stride in _MCUNET:
        wide = net.conv(x, expansion * x.shape[3], act=RELU6)
        x = net.conv(net.depthwise(wide, (side, side), RELU6, stride), channels, act=LINEAR)
    return net.file(net.pool("AVERAGE_POOL_2D", x, (x.shape[1], x.shape[2])))


def _inverted_residuals(
    net: Net, side: int, channels: Callable[[int], int], stages: int, *, is_published: bool
) -> Value:
    """Return the result of the first stages; other versions than the published one expand always and add nothing."""
    x = net.conv(net.input(side, side, 3), channels(32), (3, 3), RELU6, 2)
    for expansion, wide, blocks, first_stride in _BLOCKS[:stages]:
        for block in range(blocks):
            y = x if expansion == 1 and is_published else net.conv(x, expansion * x.shape[3], act=RELU6)
            y = net.depthwise(y, (3, 3), RELU6, 1 if block else first_stride)
            y = net.conv(y, channels(wide), act=LINEAR)
            x = net.add(x, y) if block and is_published else y
    return x


def _in_eights(channels: float) -> int:
    """Round to a multiple of 8, but by no more than a tenth down."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def u_net() -> bytes:
    """Three levels down, three up, and each level of the way up beside that of the way down."""
    net = Net(2)
    x, ways_down = net.input(64, 64, 3), list[Value]()
    for channels in (8, 16, 32):
        ways_down.append(net.conv(net.conv(x, channels, (3, 3)), channels, (3, 3)))
        x = net.pool("MAX_POOL_2D", ways_down[-1], (2, 2))
    x = net.conv(net.conv(x, 64, (3, 3)), 64, (3, 3))
    for down in reversed(ways_down):
        channels = down.shape[3]
        x = net.concat(down, net.conv(net.upsample(x), channels, (3, 3)))
        x = net.conv(net.conv(x, channels, (3, 3)), channels, (3, 3))
    return net.file(net.conv(x, 2, act=LINEAR))


def dense_block() -> bytes:
    """Six layers, each of which reads the results of all before it."""
    net = Net(3)
    x = net.conv(net.input(32, 32, 3), 16, (3, 3))
    for _ in range(6):
        x = net.concat(x, net.conv(net.conv(x, 32), 8, (3, 3)))
    return net.file(net.scores(net.pool("AVERAGE_POOL_2D", net.conv(x, 32), (2, 2)), 10))


def resnet_18() -> bytes:
    """ResNet-18 for images of 64x64 pixels, with a quarter of the channels."""
    net = Net(4)
    x = net.pool("MAX_POOL_2D", net.conv(net.input(64, 64, 3), 16, (7, 7), RELU, 2), (3, 3), (2, 2), SAME)
    for level, channels in enumerate((16, 32, 64, 128)):
        for stride in (2 if level else 1, 1):
            y = net.conv(net.conv(x, channels, (3, 3), RELU, stride), channels, (3, 3), LINEAR)
            x = net.add(net.conv(x, channels, act=LINEAR, stride=stride) if stride > 1 else x, y, RELU)
    return net.file(net.scores(x, 10))


def chain(layers: int) -> bytes:
    """Convolutions one after another, of 8 and 16 channels in turn."""
    net = Net(5)
    x = net.input(16, 16, 8)
    for layer in range(layers - 1):
        x = net.conv(x, 16 if layer % 2 else 8, (3, 3) if layer % 4 == 0 else (1, 1))
    return net.file(net.conv(x, 4, act=LINEAR))


def many_cells(count: int) -> bytes:
    """Cells as architecture search finds them, of eleven operators each: every one reads the two before it."""
    net = Net(6)
    before = x = net.conv(net.input(8, 8, 3), 8, (3, 3))
    for _ in range(count):
        left, right = net.conv(before, 4), net.conv(x, 4)
        sums = [
            net.add(net.depthwise(left, (3, 3)), net.depthwise(right, (5, 5))),
            net.add(net.depthwise(right, (3, 3)), net.pool("MAX_POOL_2D", left, (3, 3), (1, 1), SAME)),
            net.add(left, right),
        ]
        before, x = x, net.conv(net.concat(*sums), 8)
    return net.file(net.scores(x, 6))
