"""Nets of the kinds that small devices run."""

from collections.abc import Callable

from tests.support.net import LINEAR, RELU, RELU6, SAME, SCALE, VALID, Net


def cells() -> bytes:
    """Two cells as architecture search finds them: four branches, concatenated, and a way around them."""
    net = Net(1)
    x = net.conv(net.input(16, 16, 3), 12, (3, 3))
    for _ in range(2):
        point = net.conv(x, 8)
        near = net.conv(net.depthwise(x, (3, 3)), 8)
        far = net.conv(net.depthwise(x, (5, 5)), 8)
        peaks = net.conv(net.pool("MAX_POOL_2D", x, (3, 3), (1, 1), SAME), 8)
        joined = net.conv(net.concat(point, near, far, peaks), 12, act=LINEAR)
        x = net.add(x, joined, RELU)
    return net.file(net.scores(x, 6))


def inverted() -> bytes:
    """Inverted residuals: thin tensors, widened for a depthwise convolution, of stride 1 and 2."""
    net = Net(2)
    x = net.conv(net.input(24, 24, 3), 8, (3, 3), RELU6, stride=2)
    for channels, stride in ((8, 1), (12, 2), (12, 1), (16, 2), (16, 1)):
        wide = net.conv(x, 4 * x.shape[3], act=RELU6)
        thin = net.conv(net.depthwise(wide, (3, 3), RELU6, stride), channels, act=LINEAR)
        x = net.add(x, thin) if stride == 1 else thin
    return net.file(net.scores(net.conv(x, 48, act=RELU6), 10))


def unet() -> bytes:
    """An image to a map: three resolutions down, and up again beside what was there on the way down."""
    net = Net(3)
    fine = net.conv(net.input(16, 16, 2), 8, (3, 3))
    middle = net.conv(net.pool("MAX_POOL_2D", fine, (2, 2)), 12, (3, 3))
    coarse = net.conv(net.pool("MAX_POOL_2D", middle, (2, 2)), 16, (3, 3))
    middle = net.conv(net.concat(net.upsample(coarse), middle), 12, (3, 3))
    fine = net.conv(net.concat(net.upsample(middle), fine), 8, (3, 3))
    return net.file(net.sigmoid(net.conv(fine, 1, act=LINEAR)))


def autoencoder() -> bytes:
    """Dense layers through a narrow one."""
    net = Net(4)
    x = net.input(128)
    for channels in (64, 32, 8, 32, 64):
        x = net.dense(x, channels)
    return net.file(net.dense(x, 128, LINEAR))


def separable() -> bytes:
    """Depthwise-separable layers as some exporters leave them: PAD and RELU are operators of their own."""
    net = Net(5)
    x = net.conv(net.pad(net.input(20, 20, 3), 1, 1), 8, (3, 3), LINEAR, stride=2, pad=VALID)
    for channels, stride in ((16, 1), (16, 2), (24, 1)):
        around = net.pad(net.relu(x), 1, 1)
        x = net.conv(net.relu(net.depthwise(around, (3, 3), LINEAR, stride, VALID)), channels, act=LINEAR)
    return net.file(net.scores(net.relu(x), 4))


def dead_channels() -> bytes:
    """Convolutions some of whose channels are zero on every input."""
    net = Net(6)
    x = net.conv(net.input(16, 16, 3), 16, (3, 3), dead=6)
    x = net.conv(net.depthwise(x, (3, 3), stride=2), 24, dead=16)
    x = net.conv(net.depthwise(x, (3, 3)), 32, dead=9)
    return net.file(net.scores(x, 5))


def three_of_four() -> bytes:
    """Depthwise convolutions over four channels of which one is zero on every input.  Not of `NETS`."""
    net = Net(9)
    x = net.conv(net.input(32, 32, 3), 4, (3, 3), dead=1)
    for _ in range(3):
        x = net.depthwise(x, (3, 3), pad=VALID)
    return net.file(net.scores(x, 5))


def time_series() -> bytes:
    """Convolutions along time, without padding."""
    net = Net(7)
    x = net.input(96, 1, 8)
    x = net.conv(x, 24, (5, 1), pad=VALID)
    x = net.conv(net.depthwise(x, (7, 1), pad=VALID), 24)
    x = net.pool("AVERAGE_POOL_2D", x, (2, 1))
    x = net.conv(net.depthwise(x, (9, 1), pad=VALID), 32)
    return net.file(net.scores(x, 3))


def two_ends() -> bytes:
    """Two inputs and two outputs: a map of where both images are alike, and scores."""
    net = Net(8)
    left, right = net.input(12, 12, 3), net.input(12, 12, 3)
    both = net.concat(net.conv(left, 8, (3, 3)), net.conv(right, 8, (3, 3)))
    trunk = net.conv(net.depthwise(both, (3, 3)), 16)
    chart = net.sigmoid(net.conv(trunk, 2, act=LINEAR))
    return net.file(chart, net.scores(net.conv(trunk, 24, (3, 3), stride=2), 7))


def shuffled() -> bytes:
    """Four branches, each wide at first, written side by side as some exporters do: all first layers come first."""
    net = Net(10)
    x = net.conv(net.input(16, 16, 3), 4, (3, 3))
    wide = [net.conv(x, channels) for channels in (12, 20, 16, 8)]
    small = [net.depthwise(each, (3, 3), stride=2) for each in wide]
    thin = [net.conv(each, 6, act=LINEAR) for each in small]
    left, right = net.add(thin[0], thin[1], RELU), net.add(thin[2], thin[3], RELU)
    return net.file(net.scores(net.add(left, right, RELU), 5))


def dense_block() -> bytes:
    """Every layer reads the outputs of all layers before it."""
    net = Net(11)
    values = [net.conv(net.input(16, 16, 3), 8, (3, 3))]
    joined = values[0]
    for _ in range(5):
        values.append(net.conv(net.conv(joined, 16), 8, (3, 3)))
        joined = net.concat(*values)
    return net.file(net.scores(net.pool("AVERAGE_POOL_2D", net.conv(joined, 24), (2, 2)), 5))


def cross_stage() -> bytes:
    """Stages of which one half goes through residual blocks; it and all that they make are concatenated."""
    net = Net(12)
    x = net.conv(net.input(24, 24, 3), 16, (3, 3), LINEAR, stride=2)
    for _ in range(2):
        parts = net.split(net.conv(x, 24, act=LINEAR), 2)
        for _ in range(2):
            around = net.conv(net.conv(parts[-1], 12, (3, 3)), 12, (3, 3), LINEAR)
            parts.append(net.add(parts[-1], around, scale=SCALE))
        x = net.conv(net.concat(*parts), 16, act=LINEAR)
    return net.file(net.scores(x, 5))


def swapped() -> bytes:
    """Halves that change places, one of them through a branch.  Not of `NETS`."""
    net = Net(13)
    x = net.conv(net.input(24, 24, 3), 24, (3, 3), stride=2)
    for _ in range(3):
        left, right = net.split(x, 2)
        thin = net.conv(right, 12)
        x = net.concat(net.conv(net.depthwise(thin, (3, 3), LINEAR), 12), left)
    return net.file(net.scores(x, 6))


NETS: dict[str, Callable[[], bytes]] = {
    net.__name__: net
    for net in (
        cells,
        inverted,
        unet,
        autoencoder,
        separable,
        dead_channels,
        time_series,
        two_ends,
        shuffled,
        dense_block,
        cross_stage,
    )
}
