"""What each element of an output needs, by the definitions of the operators in TensorFlow Lite."""

from functools import cached_property
from itertools import groupby, pairwise, product, zip_longest
from math import floor, prod

from checker.model import Fuel, NotCovered, Wrong

LANES = 4
BLOCKS = ("CONCATENATION", "PACK", "SPLIT", "SPLIT_V", "UNPACK")
SUMS = ("CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL")
MOVES = (*BLOCKS, "RESHAPE", "PAD", "TRANSPOSE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "STRIDED_SLICE", "SLICE",
         "BROADCAST_TO", "REVERSE_V2", "GATHER", "RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR")  # fmt: skip
WEIGHTS = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2), "TRANSPOSE_CONV": (1, 3),
           "PAD": (2,)}  # fmt: skip  # operands that are needed whole, and biases


def steps_of(shape):
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def place_in(element, shape):
    return [element // step % size for step, size in zip(steps_of(shape), shape)]


def element_at(place, shape):
    return sum(index * step for index, step in zip(place, steps_of(shape)))


def window(out, size, taps, stride, dilation, before):
    """Positions along an axis that output `out` needs."""
    Fuel.spend(taps)
    first = out * stride - before
    return [at for at in range(first, first + taps * dilation, dilation) if 0 <= at < size]


def padding(out, size, taps, stride, dilation, kind):
    return 0 if kind else max(0, ((out - 1) * stride + (taps - 1) * dilation + 1 - size) // 2)


class Definition:
    """Of an operator: `needs(unit)` are pairs (position of an input, unit of it) that a unit of output number k needs.

    A unit of the output has `group` elements, one of input i has `groups[i]`: a pixel with all its channels, a row of a
    matrix, or one element.
    """

    def __init__(self, model, op, k):
        self.op, self.k, self.model = op, k, model
        self.out = model.tensors[op.outputs[k]]
        self.ins = [model.tensors[i] if i >= 0 else None for i in op.inputs]
        self.group, self.groups = 1, [1] * len(self.ins)
        self.cache = {}
        self.needs = getattr(self, op.kind.lower(), None) or self.other
        prepare = getattr(self, f"prepare_{op.kind.lower()}", None)
        if prepare:
            prepare()

    def constant(self, position):
        """Integers of a constant operand; what depends on the input cannot be replayed."""
        tensor = self.ins[position]
        if tensor is None or not tensor.data:
            raise NotCovered(f"{self.op.kind} with operand {position} computed at run time")
        return tensor.integers

    def last_reads(self, turns):
        """Given {element of the output: turn that computes it}, return for each input {element: turn of its last read}.

        Turns are numbers that ascend in the order of time.
        """
        units = {}
        for element, turn in turns.items():
            unit = element // self.group
            units[unit] = max(turn, units.get(unit, turn))
        reads = [{} for _ in self.ins]
        for unit, turn in units.items():
            if unit not in self.cache:
                self.cache[unit] = self.needs(unit)
            Fuel.spend(len(self.cache[unit]), len(self.ins), self.k)
            for i, need in self.cache[unit]:
                reads[i][need] = max(turn, reads[i].get(need, turn))
        for i in WEIGHTS.get(self.op.kind, ()):
            if units and i < len(self.ins) and self.ins[i] and self.op.inputs[i] not in self.model.constants:
                reads[i] = dict.fromkeys(range(self.ins[i].elements), max(units.values()))
        return [
            last if group == 1 else {u * group + e: turn for u, turn in last.items() for e in range(group)}
            for last, group in zip(reads, self.groups)
        ]

    @cached_property
    def moves(self):
        """Whether each element is one of an input, as it is, or constant."""
        if self.op.code in (12, 56, 79):  # L2_POOL_2D, ARG_MAX, ARG_MIN: of one element they make another one
            return False
        if self.op.kind == "POOL":
            return all(taps == 1 for _, taps, *_ in self.window)
        return self.op.kind in MOVES or (self.op.kind == "REDUCE" and self.ins[0].elements == self.out.elements)

    @property
    def quantizes(self):
        """Whether weights of integers meet floats."""
        is_sum = self.op.kind in (*SUMS, "DEPTHWISE_CONV_2D")
        weights = self.ins[1] if is_sum else self.ins[2] if self.op.code == 44 else self.out
        return self.out.type == 0 and weights.type in (9, 17)

    def scratch(self, sums):
        """Return (bytes, alignment) of each scratch buffer; `sums` is how many sums it adds up there."""
        if sums:
            is_wide = self.out.type == 7 and self.op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D")
            return [(8 * sums, 8)] if is_wide else [(4 * sums, 4)]
        if self.op.code == 44 and self.quantizes:
            return [(self.ins[0].channels + self.out.channels, 1)]
        if self.quantizes:
            image = self.ins[2 if self.op.kind == "TRANSPOSE_CONV" else 0]
            return [(image.elements // self.quantized_images, 1)]
        if self.op.custom == b"TFLite_Detection_PostProcess":
            boxes = self.ins[1].shape[1]
            return [(16 * boxes, 4), (4 * boxes, 4), (boxes, 1)]
        return []

    @property
    def quantized_images(self):
        is_row = self.op.kind in ("FULLY_CONNECTED", "RECURRENT")
        return self.out.elements // self.out.channels if is_row else self.out.shape[0]

    @property
    def adds_images(self):
        """Whether it is a sum along axes that lie side by side."""
        axes = [a % len(self.ins[0].shape) for a in self.constant(1)]
        runs = [is_added for is_added, _ in groupby(a in axes for a, n in enumerate(self.ins[0].shape) if n > 1)]
        return self.op.code in (40, 74) and runs.count(True) < 2

    @cached_property
    def block(self):
        """Elements that a slice moves at once: those side by side, if blocks of as many are equally far apart."""
        Fuel.spend(self.out.elements)
        sources = [self.needs(e)[0][1] for e in range(self.out.elements)]
        jumps = [e for e, (before, at) in enumerate(pairwise(sources), 1) if at != before + 1]
        size = jumps[0] if jumps else len(sources)
        distances = {after - at for at, after in pairwise(sources[::size])}
        return size if jumps == [*range(size, len(sources), size)] and len(distances) < 2 else 1

    def other(self, _):
        """Everything, as one unit: of an operator that is not known here."""
        return [(i, 0) for i in range(len(self.ins))]

    def prepare_other(self):
        self.group, self.groups = max(1, self.out.elements), [t.elements if t else 0 for t in self.ins]

    def same(self, e):
        """The same element, or unit, of input 0."""
        return [(0, e)]

    reshape = fully_connected = same
    by_rows = same  # it is read for the sum of its row first, and last when it is rewritten

    def broadcast(self, e, source):
        """The element of a tensor of shape `source` that is broadcast to element e, or is repeated there."""
        place = place_in(e, self.out.shape)[len(self.out.shape) - len(source) :]
        return element_at([p % n for p, n in zip(place, source)], source)

    def elements(self, e):
        operands = [(i, tensor) for i, tensor in enumerate(self.ins) if tensor]
        return [(i, e if t.elements == self.out.elements else self.broadcast(e, t.shape)) for i, t in operands]

    def broadcast_to(self, e):
        return [(0, self.broadcast(e, self.ins[0].shape))]

    def axes(self, taps, strides, dilations, kind):
        """For both axes of an image: its size, taps, stride, dilation and padding before."""
        sides = zip(self.ins[0].shape[1:], self.out.shape[1:], taps, strides, dilations)
        return [(n, t, s, d, padding(o, n, t, s, d, kind)) for n, o, t, s, d in sides]

    def pixels(self, out_pixel):
        """Pixels of the image under the window of a pixel of the output."""
        n, y, x = place_in(out_pixel, self.out.shape[:3])
        _, height, width = self.ins[0].shape[:3]
        rows, columns = (window(at, *axis) for at, axis in zip((y, x), self.window))
        return [(n * height + row) * width + column for row in rows for column in columns]

    def prepare_conv_2d(self):
        option, filter_ = self.op.option, self.ins[1].shape
        strides, dilations = (option(2), option(1)), (option(5, "i", 1), option(4, "i", 1))
        self.window = self.axes(filter_[1:], strides, dilations, option(0, "b"))
        self.sections = self.ins[0].shape[3] // filter_[3]
        self.group, self.groups[0] = self.out.shape[3] // self.sections, filter_[3]

    def conv_2d(self, unit):
        pixel, section = divmod(unit, self.sections)
        return [(0, p * self.sections + section) for p in self.pixels(pixel)]

    def prepare_depthwise_conv_2d(self):
        option = self.op.option
        strides, dilations = (option(2), option(1)), (option(6, "i", 1), option(5, "i", 1))
        self.window = self.axes(self.ins[1].shape[1:], strides, dilations, option(0, "b"))

    def depthwise_conv_2d(self, e):
        pixel, channel = divmod(e, self.out.shape[3])
        channels = self.ins[0].shape[3]
        channel //= self.out.shape[3] // channels
        return [(0, p * channels + channel) for p in self.pixels(pixel)]

    def prepare_pool(self):
        option = self.op.option
        self.window = self.axes((option(4), option(3)), (option(2), option(1)), (1, 1), option(0, "b"))

    pool = depthwise_conv_2d

    def prepare_transpose_conv(self):
        self.group, self.groups[2] = self.out.shape[3], self.ins[2].shape[3]

    def transpose_conv(self, pixel):
        n, *place = place_in(pixel, self.out.shape[:3])
        taps, strides = self.ins[1].shape[1:], (self.op.option(2), self.op.option(1))
        image, reach = self.ins[2].shape[1:], []  # input 0 is the shape, 1 the filter
        for at, out, size, t, s in zip(place, self.out.shape[1:], image, taps, strides):
            Fuel.spend(size)
            before = padding(size, out, t, s, 1, self.op.option(0, "b"))
            reach.append([i for i in range(size) if 0 <= at + before - i * s < t])
        return [(2, (n * image[0] + y) * image[1] + x) for y in reach[0] for x in reach[1]]

    def prepare_recurrent(self):
        self.groups[0], self.states = self.ins[0].channels, (18, 19) if self.op.code == 44 else (3,)
        for state in self.states:
            self.groups[state] = self.ins[state].elements

    def recurrent(self, e):
        """The input of this step, and all of the state."""
        return [(0, e // self.out.channels), *((state, 0) for state in self.states)]

    def prepare_fully_connected(self):
        self.group, self.groups[0] = self.ins[1].shape[0], self.ins[1].shape[1]

    def batch_matmul(self, e):
        *batch, row, column = place_in(e, self.out.shape)
        needs = []
        for i, kept in ((0, row), (1, column)):
            shape, is_row = self.ins[i].shape, self.op.option(i, "?", False) == i  # as a matrix may lie transposed
            outer = [b % n for b, n in zip(batch[len(batch) - len(shape) + 2 :], shape)]
            depths = range(shape[-1] if is_row else shape[-2])
            Fuel.spend(len(depths))
            needs += [(i, element_at([*outer, *((kept, d) if is_row else (d, kept))], shape)) for d in depths]
        return needs

    def transpose(self, e):
        place, source = place_in(e, self.out.shape), self.ins[0].shape
        moved = dict(zip(self.constant(1), place))
        return [(0, element_at([moved[axis] for axis in range(len(source))], source))]

    def pad(self, e):
        place = [p - before for p, before in zip(place_in(e, self.out.shape), self.constant(1)[::2])]
        source = self.ins[0].shape
        return [(0, element_at(place, source))] if all(0 <= p < n for p, n in zip(place, source)) else []

    def slice(self, e):
        place = [p + begin for p, begin in zip(place_in(e, self.out.shape), self.constant(1))]
        return [(0, element_at(place, self.ins[0].shape))]

    def strided_slice(self, e):
        begin_mask, _, ellipsis, new_axis, shrink = (self.op.option(slot) for slot in range(5))
        if ellipsis or new_axis or self.op.option(5, "?", False):
            raise NotCovered("STRIDED_SLICE with an ellipsis, new axes or offsets")
        source, place, at = self.ins[0].shape, iter(place_in(e, self.out.shape)), []
        for axis, (n, begin, step) in enumerate(zip_longest(source, self.constant(1), self.constant(3))):
            positions = range(n)[None if begin_mask >> axis & 1 else begin :: step]
            at.append(positions[0 if shrink >> axis & 1 else next(place)])
        return [(0, element_at(at, source))]

    def concatenation(self, e):
        outer, place = divmod(e, self.out.elements // self.outer())
        for i, part in enumerate(self.ins):
            size = part.elements // self.outer()
            if place < size:
                return [(i, outer * size + place)]
            place -= size
        raise Wrong("a concatenation is larger than its parts")

    def split(self, e):
        position = int(self.op.kind == "SPLIT")
        outer, place = divmod(e, self.out.elements // self.outer())
        before = sum(self.model.tensors[t].elements for t in self.op.outputs[: self.k]) // self.outer()
        return [(position, outer * (self.ins[position].elements // self.outer()) + before + place)]

    pack, split_v, unpack = concatenation, split, split

    def outer(self):
        """How many blocks of each part there are: one for each place before the axis."""
        shape = self.ins[0].shape if self.op.kind == "UNPACK" else self.out.shape
        return prod(shape[: self.axis()])

    def axis(self):
        """The axis along which a tensor is joined or cut."""
        kind, rank = self.op.kind, len(self.out.shape)
        if kind in ("SPLIT", "SPLIT_V"):
            return self.constant(0 if kind == "SPLIT" else 2)[0] % rank
        if kind == "UNPACK":
            return self.op.option(1) % (rank + 1)
        return self.op.option(0 if kind == "CONCATENATION" else 1) % rank

    def reverse_v2(self, e):
        source, axes = self.ins[0].shape, [a % len(self.out.shape) for a in self.constant(1)]
        place = [n - 1 - p if a in axes else p for a, (p, n) in enumerate(zip(place_in(e, source), source))]
        return [(0, element_at(place, source))]

    def gather(self, e):
        source, place, rank = self.ins[0].shape, place_in(e, self.out.shape), len(self.ins[1].shape)
        if self.op.option(1):
            raise NotCovered("GATHER with batches")
        axis = self.op.option(0) % len(source)
        index = self.constant(1)[element_at(place[axis : axis + rank], self.ins[1].shape)]
        return [(0, element_at([*place[:axis], index, *place[axis + rank :]], source))]

    def space_to_depth(self, e):
        block, (n, y, x, c) = self.op.option(0), place_in(e, self.out.shape)
        part, channel = divmod(c, self.ins[0].shape[3])
        return [(0, element_at([n, y * block + part // block, x * block + part % block, channel], self.ins[0].shape))]

    def depth_to_space(self, e):
        block, (n, y, x, c) = self.op.option(0), place_in(e, self.out.shape)
        channel = (y % block * block + x % block) * self.out.shape[3] + c
        return [(0, element_at([n, y // block, x // block, channel], self.ins[0].shape))]

    def near(self, at, out, size):
        """Positions near where an output lies: both neighbours if bilinear, else the nearest, as floats may round."""
        is_spread = self.op.kind == "RESIZE_BILINEAR"
        flags = 2 if is_spread else 0
        corners, half = self.op.option(flags, "?", False), self.op.option(flags + 1, "?", False)
        scale = (size - 1) / (out - 1) if corners and out > 1 else size / out
        center, rounding = 0.5 if half else 0, 0.5 if corners else 0
        exact = (at + center) * scale
        low = exact - center if is_spread else exact + rounding
        places = (floor(low), floor(low) + 1) if is_spread else (floor(low - 1e-6), floor(low + 1e-6))
        return {min(max(p, 0), size - 1) for p in places}

    def resize_bilinear(self, e):
        (n, y, x, c), source = place_in(e, self.out.shape), self.ins[0].shape
        rows, columns = (self.near(at, self.out.shape[a], source[a]) for a, at in ((1, y), (2, x)))
        return [(0, element_at([n, row, column, c], source)) for row in rows for column in columns]

    resize_nearest_neighbor = resize_bilinear

    @cached_property
    def images(self):
        """How often a reduction adds up, writes, and begins again: it has sums for an image at a time."""
        source, axes = self.ins[0].shape, self.constant(1)
        added = [a for a, n in enumerate(source) if n > 1 and {a, a - len(source)} & {*axes}]
        return max(1, prod(source[: min(added, default=len(source) - 1)]))

    def reduce(self, e):
        source = self.ins[0].shape
        axes = {axis % len(source) for axis in self.constant(1)}
        kept = [n for axis, n in enumerate(source) if axis not in axes]
        Fuel.spend(prod(n for axis, n in enumerate(source) if axis in axes))
        place = iter(place_in(e, kept))
        ranges = [range(n) if axis in axes else (next(place),) for axis, n in enumerate(source)]
        return [(0, element_at(at, source)) for at in product(*ranges)]
