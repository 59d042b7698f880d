"""Nets whose input and output are pictures or signals, so that both can come and go row by row."""

from tests.support.net import LINEAR, Net
from tests.support.remembering import RememberingNet


def picture_to_picture() -> bytes:
    """A residual between convolutions: t0 is 12 rows of 6 x 2, the output 12 rows of 6 x 3."""
    net = Net(3)
    x = net.conv(net.input(12, 6, 2), 6, (3, 3))
    x = net.add(net.conv(net.depthwise(x, (3, 3)), 6), x)
    return net.file(net.conv(x, 3, (3, 3)))


def read_twice() -> bytes:
    """Two operators read the picture, and the last of its rows only one of them."""
    net = Net(4)
    x = net.input(12, 6, 4)
    x = net.add(net.conv(net.conv(x, 6, (3, 3)), 4, (3, 3), act=LINEAR), x)
    return net.file(net.conv(x, 3, (3, 3)))


def picture_and_more() -> bytes:
    """A small input beside the picture; of the picture, the last row is not read."""
    net = Net(5)
    small, x = net.input(3, 3, 4), net.input(13, 6, 4)
    x = net.pool("MAX_POOL_2D", net.conv(net.pool("MAX_POOL_2D", x, (2, 2)), 4, (3, 3)), (2, 1))
    return net.file(net.add(x, net.conv(small, 4)))


def signal_to_signal() -> bytes:
    """Windows of 7 samples, 4 apart, along 52 samples of 3 channels; the output is 6 samples of 5."""
    net = Net(7)
    x = net.conv(net.input(1, 52, 3), 8, (1, 7), stride=4)
    return net.file(net.conv(net.pool("MAX_POOL_2D", x, (1, 2)), 5, (1, 3)))


def picture_to_state() -> bytes:
    """The mean of the picture is added to a variable."""
    net = RememberingNet(6)
    x = net.conv(net.input(8, 6, 2), 6, (3, 3))
    mean, other = (net.pool("AVERAGE_POOL_2D", each, (8, 6)) for each in (x, net.conv(x, 6)))
    before = net.add(mean, other, scale=mean.scale)
    after = net.add(before, mean, scale=mean.scale)
    net.remember(after, {mean.index})
    return net.file(net.conv(after, 3))
