"""What each element of an output needs, by the definition of its operator in TensorFlow Lite."""

from functools import cache, cached_property
from itertools import pairwise, product, zip_longest
from math import floor, prod
from struct import pack, unpack

from checker.model import ARG_MAX, ARG_MIN, L2_POOL, STATEFUL, Fuel, NotCovered, Wrong, demand

BLOCKS = ("CONCATENATION", "PACK", "SPLIT", "SPLIT_V", "UNPACK")
IMAGES = ("CONV_2D", "DEPTHWISE_CONV_2D", "POOL", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "TRANSPOSE_CONV")
MOVES = (*BLOCKS, "BROADCAST_TO", "DEPTH_TO_SPACE", "GATHER", "PAD", "RESHAPE", "RESIZE_BILINEAR",
         "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "SLICE", "SPACE_TO_DEPTH", "STRIDED_SLICE", "TRANSPOSE")  # fmt: skip
WEIGHTS = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2), "TRANSPOSE_CONV": (1, 3),
           "PAD": (2,), "RECURRENT": range(1, 24)}  # fmt: skip
"""Operands that are needed whole: weights and biases, what a PADV2 pads with, and states."""


def place_in(element, shape):
    """Return the indices of an element along each axis."""
    place = []
    for size in reversed(shape):
        element, index = divmod(element, size)
        place.insert(0, index)
    return place


def element_at(place, shape):
    """Return the number of the element with these indices."""
    element = 0
    for index, size in zip(place, shape, strict=True):
        element = element * size + index
    return element


def places(*axes):
    """Return all combinations of indices, given those along each axis."""
    Fuel.spend(prod(map(len, axes)))
    return product(*axes)


def _float32(number):
    """Return the nearest float of 32 bits."""
    return unpack("<f", pack("<f", number))[0]


class Definition:
    """Of an operator and its output number k: `needs(unit)` are pairs (position of an input, unit of it).

    A unit of the output has `group` elements, one of input i has `groups[i]`: a pixel with all its channels, a row of a
    matrix, or one element.
    """

    def __init__(self, model, op, k):
        if op.code in STATEFUL:
            raise NotCovered(f"{STATEFUL[op.code]} in place of another operator")
        self.op, self.k, self.model = op, k, model
        self.out = model.tensors[op.outputs[k]]
        self.ins = [model.tensors[i] if i >= 0 else None for i in op.inputs]
        self.needs = cache(self._needs)
        self.group, self.groups, self.sections = 1, [1] * len(self.ins), 1
        self._set_units(self.ins, self.out)

    def _set_units(self, ins, out):
        """Set how many elements units have; a pixel of an image has `sections` units."""
        match self.op.kind:
            case "OTHER":
                self.group, self.groups = max(1, out.elements), [t.elements if t else 0 for t in ins]
            case "FULLY_CONNECTED":
                self.group, self.groups[0] = ins[1].shape
            case "RECURRENT":  # a step
                self.group, self.groups[0] = out.channels, ins[0].channels
            case "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR":
                self.sections = out.shape[3]
            case "TRANSPOSE_CONV":
                self.group, self.groups[2], self.windows = out.shape[3], ins[2].shape[3], self._windows()
            case "CONV_2D" | "DEPTHWISE_CONV_2D" | "POOL":
                self.groups[0] = ins[1].shape[3] if self.op.kind == "CONV_2D" else 1
                self.sections = ins[0].shape[3] // self.groups[0]
                self.group, self.windows = out.shape[3] // self.sections, self._windows()

    def _windows(self):
        """Return (taps, stride, dilation, positions before it) for both axes of an image; options have width first."""
        option, kind, dilations = self.op.option, self.op.kind, (1, 1)
        sizes = (option(4), option(3)) if kind == "POOL" else self.ins[1].shape[1:3]
        if kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            height = 5 if kind == "CONV_2D" else 6
            dilations = option(height, "i", 1), option(height - 1, "i", 1)
        wide, narrow = (self.out, self.ins[2]) if kind == "TRANSPOSE_CONV" else (self.ins[0], self.out)
        is_same = option(0, "b") == 0  # it pads both sides alike
        windows = []
        for axis, taps, stride, dilation in zip((1, 2), sizes, (option(2), option(1)), dilations, strict=True):
            missing = (narrow.shape[axis] - 1) * stride + (taps - 1) * dilation + 1 - wide.shape[axis]
            windows.append((taps, stride, dilation, max(0, missing // 2) if is_same else 0))
        return windows

    def constant(self, position):
        """Return the integers of a constant operand; what depends on the input cannot be replayed."""
        tensor = self.ins[position]
        if tensor is None or not tensor.data:
            raise NotCovered(f"{self.op.kind} with operand {position} computed at run time")
        return tensor.integers

    def last_reads(self, turns):
        """Given {element of the output: turn that computes it}, return for each input {element: turn of its last read}.

        Turns are numbers that ascend in the order of time.
        """
        units, reads = {}, [{} for _ in self.ins]
        for element, turn in turns.items():
            unit = element // self.group
            units[unit] = max(turn, units.get(unit, turn))
        for unit, turn in units.items():
            needs = self.needs(unit)
            Fuel.spend(1 + len(needs))
            for i, need in needs:
                reads[i][need] = max(turn, reads[i].get(need, turn))
        for i, group in enumerate(self.groups):
            if group != 1:
                Fuel.hold(group * len(reads[i]))
                reads[i] = {unit * group + e: turn for unit, turn in reads[i].items() for e in range(group)}
        for i in WEIGHTS.get(self.op.kind, ()):
            if turns and i < len(self.ins) and self.ins[i] and self.op.inputs[i] not in self.model.constants:
                Fuel.hold(self.ins[i].elements)
                reads[i] = dict.fromkeys(range(self.ins[i].elements), max(turns.values()))
        return reads

    @cached_property
    def moves(self):
        """Whether each element is one of an input, as it is, or constant."""
        if self.op.code in (L2_POOL, ARG_MAX, ARG_MIN):  # of one element they make another one
            return False
        if self.op.kind == "POOL":
            return all(taps == 1 for taps, *_ in self.windows)
        if self.op.kind == "REDUCE":
            return self.ins[0].elements == self.out.elements
        return self.op.kind in MOVES

    def _needs(self, unit):
        match self.op.kind:
            case "OTHER":  # everything: it is not known here
                return [(i, 0) for i in range(len(self.ins))]
            case "BY_ROWS" | "FULLY_CONNECTED" | "RECURRENT" | "RESHAPE":  # a row is read last when it is rewritten
                return [(0, unit)]
            case "ELEMENTS":
                return [(i, self._broadcast(unit, tensor.shape)) for i, tensor in enumerate(self.ins) if tensor]
            case "BROADCAST_TO":
                return [(0, self._broadcast(unit, self.ins[0].shape))]
            case "BATCH_MATMUL":
                return self._product(unit)
            case "CONCATENATION" | "PACK":
                return self._joined(unit)
            case "SPLIT" | "SPLIT_V" | "UNPACK":
                return self._split(unit)
            case "REDUCE":
                return self._reduce(unit)
        return self._pixels(unit) if self.op.kind in IMAGES else self._moved(unit)

    def _broadcast(self, e, source):
        """Return the element of a tensor of shape `source` that is broadcast to element e, or is repeated there."""
        if prod(source) == self.out.elements:
            return e
        place = place_in(e, self.out.shape)[len(self.out.shape) - len(source) :]
        return element_at([p % n for p, n in zip(place, source, strict=True)], source)

    def _pixels(self, unit):
        """The same section of all pixels near one, along both axes of an image."""
        pixel, section = divmod(unit, self.sections)
        n, y, x = place_in(pixel, self.out.shape[:3])
        position = 2 if self.op.kind == "TRANSPOSE_CONV" else 0
        shape = [*self.ins[position].shape[:3], self.sections]
        near = self._resized if self.op.kind.startswith("RESIZE") else self._windowed
        axes = near(1, y, shape[1]), near(2, x, shape[2])
        return [(position, element_at([n, *place, section], shape)) for place in places(*axes)]

    def _windowed(self, axis, at, size):
        """Return the positions along an axis that are in the window at an output, or whose windows it is in."""
        taps, stride, dilation, before = self.windows[axis - 1]
        if self.op.kind == "TRANSPOSE_CONV":
            Fuel.spend(size)
            return [p for p in range(size) if 0 <= at + before - p * stride < taps]
        Fuel.spend(taps)
        first = at * stride - before
        return [p for p in range(first, first + taps * dilation, dilation) if 0 <= p < size]

    def _resized(self, axis, at, size):
        """Return the positions near where an output lies: both neighbors, or the nearest, in floats of 32 bits."""
        out, is_bilinear = self.out.shape[axis], self.op.kind == "RESIZE_BILINEAR"
        slots = (2, 3) if is_bilinear else (0, 1)
        has_corners, has_centers = (self.op.option(slot, "?", False) for slot in slots)
        scale = (size - 1) / (out - 1) if has_corners and out > 1 else size / out
        center = 0.5 if has_centers else 0
        if is_bilinear:
            first = floor((at + center) * scale - center)
            return {min(max(p, 0), size - 1) for p in (first, first + 1)}
        place = _float32((at + center) * _float32(scale))
        return {min(floor(place + 0.5 if has_corners else place), size - 1)}

    def _product(self, e):
        """A row of the left matrix, and a column of the right one; either may lie transposed."""
        *batch, row, column = place_in(e, self.out.shape)
        is_left_turned, is_right_turned = self.op.option(0, "?", False), self.op.option(1, "?", False)
        needs = []
        for i, at, is_column in ((0, row, is_left_turned), (1, column, not is_right_turned)):
            shape = self.ins[i].shape
            outer = [b % n for b, n in zip(batch[len(batch) + 2 - len(shape) :], shape[:-2], strict=True)]
            lines = places(range(shape[-2]), [at]) if is_column else places([at], range(shape[-1]))
            needs += [(i, element_at([*outer, *place], shape)) for place in lines]
        return needs

    def _moved(self, e):
        place, source = self._source(place_in(e, self.out.shape)), self.ins[0].shape
        is_inside = all(0 <= p < n for p, n in zip(place, source, strict=True))
        demand(is_inside or self.op.kind == "PAD", f"{self.op.kind} shows an element that is not there")
        return [(0, element_at(place, source))] if is_inside else []

    def _source(self, place):
        """Return the indices of the element of input 0 that these indices of the output show."""
        source, option = self.ins[0].shape, self.op.option
        match self.op.kind:
            case "TRANSPOSE":
                return [place[self.constant(1).index(axis)] for axis in range(len(source))]
            case "PAD":
                return [p - before for p, before in zip(place, self.constant(1)[::2], strict=True)]
            case "SLICE":
                return [p + begin for p, begin in zip(place, self.constant(1), strict=True)]
            case "REVERSE_V2":
                turned = {axis % len(source) for axis in self.constant(1)}
                return [source[axis] - 1 - p if axis in turned else p for axis, p in enumerate(place)]
            case "SPACE_TO_DEPTH":
                (n, y, x, c), block = place, option(0)
                part, channel = divmod(c, source[3])
                return [n, y * block + part // block, x * block + part % block, channel]
            case "DEPTH_TO_SPACE":
                (n, y, x, c), block = place, option(0)
                return [n, y // block, x // block, (y % block * block + x % block) * self.out.shape[3] + c]
            case "STRIDED_SLICE":
                return self._strided(source, iter(place))
        if option(1):
            raise NotCovered("GATHER with batches")
        indices, axis = self.ins[1].shape, option(0) % len(source)
        after = axis + len(indices)
        return [*place[:axis], self.constant(1)[element_at(place[axis:after], indices)], *place[after:]]

    def _strided(self, source, indices):
        """Return what these indices of the output show of a STRIDED_SLICE: of each axis one, but for shrunk ones."""
        begin_mask, _, ellipsis, new_axis, shrink_mask = (self.op.option(slot) for slot in range(5))
        if ellipsis or new_axis or self.op.option(5, "?", False):
            raise NotCovered("STRIDED_SLICE with an ellipsis, new axes or offsets")
        place = []
        for axis, (n, begin, step) in enumerate(zip_longest(source, self.constant(1), self.constant(3))):
            start = None if begin_mask >> axis & 1 else begin  # None: at the end where steps begin
            index = 0 if shrink_mask >> axis & 1 else next(indices)
            place.append(range(n)[start::step][index])
        return place

    @cached_property
    def slice_block(self):
        """Elements that a slice moves at once: those side by side, if blocks of as many are equally far apart."""
        Fuel.spend(self.out.elements)
        sources = [at for e in range(self.out.elements) for _, at in self.needs(e)]
        jumps = [e for e, (before, at) in enumerate(pairwise(sources), 1) if at != before + 1]
        size = jumps[0] if jumps else len(sources)
        distances = {after - at for at, after in pairwise(sources[::size])}
        return size if jumps == [*range(size, len(sources), size)] and len(distances) < 2 else 1

    def _joined(self, e):
        outer, place = divmod(e, self.out.elements // self.blocks)
        for i, part in enumerate(self.ins):
            size = part.elements // self.blocks
            if place < size:
                return [(i, outer * size + place)]
            place -= size
        raise Wrong("a concatenation is larger than its parts")

    def _split(self, e):
        position = 1 if self.op.kind == "SPLIT" else 0
        outer, place = divmod(e, self.out.elements // self.blocks)
        before = sum(self.model.tensors[t].elements for t in self.op.outputs[: self.k]) // self.blocks
        return [(position, outer * (self.ins[position].elements // self.blocks) + before + place)]

    @cached_property
    def blocks(self):
        """How many blocks of each part there are: one for each place before the axis."""
        kind, whole = self.op.kind, self.ins[0] if self.op.kind == "UNPACK" else self.out
        if kind in ("SPLIT", "SPLIT_V"):
            (axis,) = self.constant(0 if kind == "SPLIT" else 2)
        else:
            axis = self.op.option(0 if kind == "CONCATENATION" else 1)
        return prod(whole.shape[: axis % len(whole.shape)])

    @cached_property
    def reduced(self):
        """The axes of a reduction."""
        return {axis % len(self.ins[0].shape) for axis in self.constant(1)}

    def _reduce(self, e):
        source = self.ins[0].shape
        kept = iter(place_in(e, [n for axis, n in enumerate(source) if axis not in self.reduced]))
        axes = [range(n) if axis in self.reduced else [next(kept)] for axis, n in enumerate(source)]
        return [(0, element_at(place, source)) for place in places(*axes)]
