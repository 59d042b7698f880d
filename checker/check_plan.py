#!/usr/bin/env python3
"""Check a memory plan against the model files that it was made of: python check_plan.py plan.json kws.tflite ...

This file needs nothing but Python, and shares nothing with the planner.  It reads the models by itself and replays the
plan in arenas of bytes.  Each byte that an operator writes is marked with the tensor and the byte of it that it is;
each byte that an operator needs must still have its mark when it is read.  What an operator needs follows from its
definition in TensorFlow Lite (`Definition`), through all operators that the plan has fused or left out, and not from
what the planner says about it.

    model file ── needs of each element ──┐
                                          ├── replay, each model twice by itself ── right, or the first thing wrong
    plan.json ─── places, order, rows ────┘

Models run in any order.  So the arena of each has, beside what is its own, all that must outlive its runs: variables of
other models, connections, and what the plan says the application keeps.  It may change none of these bytes.

It believes, and this is for tests of the kernels to show:
  - An operator computes the elements of its output in order, forward or backward as the plan says, and sums of products
    up to LANES output channels at a time: all that these need is read before they are written.  A RESHAPE moves all of
    them at once, copies of parts block by block, one part after the other; paddings line by line, along the last axis
    that they pad, inside first.
  - An operator that has scratch for sums reads an image before it writes that image's output; so does one of floats
    that has weights of integers, which it quantizes to scratch.  An SVDF reads a batch before it writes its output.
  - Values.  Functions of single elements (RELU, QUANTIZE) that are fused into the operator before, or become one table,
    are not computed here, and neither is a channel that the plan says is constant.  Of functions that are left out it
    says so.  What constants hold, and in which order an operator has its operands, is not in the plan: of weights,
    biases and outputs it counts the bytes, and names all other constants.  What only the manifest says, it names, too.
Exit code 0: right · 1: wrong · 3: something is not covered, and what comes after it was not checked · 2: usage.
"""

import hashlib
import json
import re
import struct
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple
from functools import cached_property
from itertools import accumulate, count, groupby, pairwise, product, zip_longest
from math import floor, prod
from pathlib import Path

LANES = 4
SIZES = {0: 4, 1: 2, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 9: 1, 10: 8, 12: 8, 15: 4, 16: 2}  # TensorType → bytes
NAMES = {1: "POOL", 2: "CONCATENATION", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D", 5: "DEPTH_TO_SPACE",
         9: "FULLY_CONNECTED", 12: "POOL", 17: "POOL", 22: "RESHAPE", 34: "PAD", 39: "TRANSPOSE", 44: "RECURRENT",
         26: "SPACE_TO_DEPTH", 27: "RECURRENT", 43: "RESHAPE", 45: "STRIDED_SLICE", 49: "SPLIT", 60: "PAD", 65: "SLICE",
         67: "TRANSPOSE_CONV", 69: "BROADCAST_TO", 70: "RESHAPE", 83: "PACK", 88: "UNPACK",
         97: "RESIZE_NEAREST_NEIGHBOR", 102: "SPLIT_V", 105: "REVERSE_V2", 126: "BATCH_MATMUL", 130: "BROADCAST_TO",
         23: "RESIZE_BILINEAR", 36: "GATHER"}  # fmt: skip
NAMES |= dict.fromkeys((40, 56, 74, 79, 81, 82, 89, 91, 140), "REDUCE")  # MEAN, SUM, ARG_MAX, ...
NAMES |= dict.fromkeys((25, 11, 50), "BY_ROWS")  # SOFTMAX, L2_NORMALIZATION, LOG_SOFTMAX: a row is read, then rewritten
NAMES |= dict.fromkeys((0, 41, 18, 42, 55, 57, 19, 21, 20, 152, 14, 28, 117, 111, 98, 54, 101, 59, 75, 76, 92, 47, 73,
                        66, 108, 8, 104, 116, 114, 6, 53, 87, 86, 84, 71, 72, 61, 62, 58, 63, 99, 90, 95, 64, 123, 150,
                        106, 78, 158), "ELEMENTS")  # fmt: skip  # ADD, ..., RELU, ..., QUANTIZE, ..., SELECT
STATEFUL = {118: "IF", 119: "WHILE", 31: "CALL", 129: "CALL_ONCE", 142: "VAR_HANDLE", 143: "READ_VARIABLE",
            144: "ASSIGN_VARIABLE"}  # fmt: skip
RANDOM = (32, 146, 148, 149)  # CUSTOM, but for TFLM_DECODE, RANDOM_STANDARD_NORMAL, ...: of constants they make none
COMMUTATIVE = (0, 18)  # ADD, MUL
BLOCKS = ("CONCATENATION", "PACK", "SPLIT", "SPLIT_V", "UNPACK")
SUMS = ("CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL")
MOVES = (*BLOCKS, "RESHAPE", "PAD", "TRANSPOSE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "STRIDED_SLICE", "SLICE",
         "BROADCAST_TO", "REVERSE_V2", "GATHER", "RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR")  # fmt: skip
WEIGHTS = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2), "TRANSPOSE_CONV": (1, 3),
           "PAD": (2,)}  # fmt: skip  # operands that are needed whole, and biases

STORED = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2), "TRANSPOSE_CONV": (1, 3),
          "RECURRENT": (*range(1, 9), *range(12, 16))}  # fmt: skip  # weights and biases


class Wrong(Exception):
    """The plan is wrong."""


class NotCovered(Exception):
    """Nothing here can tell."""


def demand(condition, message):
    if not condition:
        raise Wrong(message)


class Fuel:
    """Work that is left, about a unit for each byte read or replayed: files can be made to take forever."""

    MOST = 200_000_000
    left = MOST

    @classmethod
    def spend(cls, *units):
        cls.left -= sum(units)
        if cls.left < 0:
            raise NotCovered("what takes more work than anything that was tried with this program")


# ---- Model files: as much of a FlatBuffer as is needed ---------------------------------------------------------------


class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.slots = at - self.one("i", at)
        self.end = self.one("H", self.slots)

    def unpack(self, kind, at, number):
        Fuel.spend(number)
        demand(0 <= at <= len(self.data) - number * struct.calcsize(f"<{kind}"), "the model file is damaged")
        return [*struct.unpack_from(f"<{number}{kind}", self.data, at)]

    def one(self, kind, at):
        return self.unpack(kind, at, 1)[0]

    def inline(self):
        size = self.one("H", self.slots + 2)
        return self.data[self.slots : self.slots + self.end] + self.data[self.at + 4 : self.at + size]

    def place(self, slot):
        """Where a field is; None: it has its default."""
        at = 4 + 2 * slot
        offset = self.one("H", self.slots + at) if at < self.end else 0
        return self.at + offset if offset else None

    def number(self, slot, kind="i", default=0):
        at = self.place(slot)
        return default if at is None else self.one(kind, at)

    def target(self, slot):
        """Where what a field refers to is."""
        at = self.place(slot)
        return None if at is None else at + self.one("I", at)

    def numbers(self, slot, kind="i"):
        at = self.target(slot)
        return [] if at is None else self.unpack(kind, at + 4, self.one("I", at))

    def table(self, slot):
        at = self.target(slot)
        return None if at is None else Table(self.data, at)

    def tables(self, slot):
        start = self.target(slot)
        return [Table(self.data, start + 4 + 4 * i + offset) for i, offset in enumerate(self.numbers(slot, "I"))]


class Tensor:
    def __init__(self, table, buffers):
        self.shape = table.numbers(0)
        self.type = table.number(1, "b")
        self.width = SIZES.get(self.type, 0)
        self.elements, self.channels = prod(self.shape), prod(self.shape[-1:])
        self.is_variable = bool(table.number(5, "?", False))
        index = table.number(2, "I")
        demand((not index or index < len(buffers)) and all(n >= 0 for n in self.shape), "the model file is damaged")
        demand(len(self.shape) <= 16, "a tensor has more than 16 dimensions")
        self.data = b"".join(buffers[index].numbers(0, "s")) if index else b""
        scale = table.table(4)
        scales, zeros = (scale.numbers(2, "f"), scale.numbers(3, "q")) if scale else ([], [])
        self.kind = self.type, self.shape, scales, zeros
        self.meaning = self.type, [n for n in self.shape if n != 1], scales, [n for n in zeros if n]

    @cached_property
    def integers(self):
        return [n for (n,) in struct.iter_unpack("<q" if self.type == 4 else "<i", self.data)]


class Operator:
    def __init__(self, table, codes, number):
        self.number, code = number, codes[table.number(0, "I")]
        self.code = max(code.number(0, "b"), code.number(3, "i"))
        self.kind = NAMES.get(self.code, "OTHER")
        self.custom = b"".join(code.numbers(1, "s"))
        self.is_function = self.code not in (*STATEFUL, *RANDOM) or self.custom == b"TFLM_DECODE"
        self.inputs, self.outputs = table.numbers(1), table.numbers(2)
        self.options = table.table(4)

    def option(self, slot, kind="i", default=0):
        return self.options.number(slot, kind, default) if self.options else default


class Model:
    def __init__(self, data):
        Fuel.left = Fuel.MOST
        root = Table(data, struct.unpack_from("<I", data)[0])
        graph, codes = root.tables(2)[0], root.tables(1)
        buffers = root.tables(4)
        self.tensors = [Tensor(table, buffers) for table in graph.tables(0)]
        self.inputs, self.outputs = graph.numbers(1), graph.numbers(2)
        self.operators = [Operator(table, codes, number) for number, table in enumerate(graph.tables(3))]
        self.producer = {t: (op, k) for op in self.operators for k, t in enumerate(op.outputs)}
        self.variables = {t for t, tensor in enumerate(self.tensors) if tensor.is_variable}
        self.constants = {t for t, tensor in enumerate(self.tensors) if tensor.data}
        for op in self.operators:  # what follows from constants and shapes only is known when the firmware is built
            if op.code in (77, 110) or self.constants >= {*op.inputs} - {-1}:  # SHAPE, RANK
                self.constants.update(op.outputs if op.is_function else ())
        self.same = self.equals()

    def equals(self):
        """Return for each tensor the first one that holds the same: equal operators made both of equal inputs."""
        first, same = {}, {}
        for t, tensor in enumerate(self.tensors):
            same[t] = first.setdefault((repr(tensor.kind), tensor.data), t) if tensor.data else t
        for op in self.operators:
            inputs = [same.get(i, i) for i in op.inputs]
            if not op.is_function or self.variables & {*inputs}:
                continue
            inputs = sorted(inputs) if op.code in COMMUTATIVE else inputs
            options = op.options and op.options.inline()
            key = repr((op.code, options, inputs, [self.tensors[t].kind for t in op.outputs]))
            for t, before in zip(op.outputs, first.setdefault(key, op.outputs)):
                same[t] = same[before]
        return same


# ---- What each element of an output needs ----------------------------------------------------------------------------


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


# ---- The plan, read --------------------------------------------------------------------------------------------------


Piece = namedtuple("Piece", "first size pool offset buffer")


class Place:
    """Where the bytes of a tensor are: pieces in order."""

    def __init__(self, *pieces):
        self.pieces, self.starts = pieces, [piece.first for piece in pieces]

    def runs(self, first, stop):
        """Yield what holds the bytes [first, stop)."""
        i = bisect_right(self.starts, first) - 1
        while first < stop:
            piece = self.pieces[i]
            end = min(stop, piece.first + piece.size)
            yield Piece(first, end - first, piece.pool, piece.offset + first - piece.first, piece.buffer)
            first, i = end, i + 1


Buffer = namedtuple("Buffer", "name models kind pool offset size alignment intervals line reason")


def flat_buffers(plan):
    """Yield every buffer, and each row of what is in rows as one."""
    for b in plan["buffers"]:
        is_whole = "offsets" not in b
        offsets, size, lives = (
            ([b["offset"]], b["size"], None) if is_whole else (b["offsets"], b["row_size"], b["lives"])
        )
        models, intervals = [b["model"], *b["shared_with"]], iter(b["intervals"])
        for row, offset in enumerate(offsets):
            name = b["name"] if is_whole else f"{b['name']}[{row}]"
            pool = b["pool"] if isinstance(b["pool"], str) else b["pool"][row]
            own = [*intervals] if is_whole else [next(intervals) for _ in range(lives[row] if lives else 1)]
            yield Buffer(name, models, b["kind"], pool, offset, size, b["alignment"], own, b["cache_line"], b["reason"])


class Planned:
    """A model as the plan has it: its file, its tensors' places, its operators."""

    def __init__(self, record, model, buffers):
        self.name, self.model, self.record = record["name"], model, record
        self.value = {t: t for t in range(len(model.tensors))}  # the tensor of the file that has its values
        self.operators = {op["operator"]: op for op in record["operators"]}
        self.place, self.channels = {}, {}
        copies = [op for position, op in self.operators.items() if position >= len(model.operators)]
        for op in (*copies, *reversed(copies)):  # an end of a chain of copies is a tensor that the file has
            if not op["reads"]:
                raise NotCovered(f"{self.name}: copy {op['operator']} of a constant")
            (a,), (b,) = op["reads"], op["writes"]
            if {a, b} & self.value.keys():
                self.value.setdefault(a, self.value.get(b))
                self.value.setdefault(b, self.value[a])
        for op in copies:
            demand(op["reads"][0] in self.value, f"{self.name}: copy {op['operator']} has no tensor of the file")
        computing = [op for position, op in self.operators.items() if position < len(model.operators)]
        self.written = {self.value[t] for op in computing for t in op["writes"]} | {*model.inputs} | model.variables
        self.definitions, self.beliefs, self.connected = {}, set(), set()
        self.arriving, self.leaving = self.by_rows("inputs", model.inputs), self.by_rows("outputs", model.outputs)
        self.backward = {*record["backward"]}
        for each in record["tensors"]:
            t, left = each["tensor"], each["channels"]
            if t not in self.value:
                raise NotCovered(f"{self.name}: tensor {t} is neither in the file nor a copy of one that is")
            tensor = model.tensors[self.value[t]]
            is_inside = left == sorted(c for c in {*left} if c in range(tensor.channels))
            demand(is_inside and not (left and self.value[t] in (*model.inputs, *model.outputs)),
                   f"{self.name}: tensor {t} has no such channels")  # fmt: skip
            self.channels[t] = left
            self.place[t] = self.placed(each, tensor, buffers, self.elements(t) * tensor.width)
        for t in {*model.inputs, *model.outputs} - model.constants:
            demand(t in self.place, f"{self.name}: tensor {t}, an input or output, has no place")

    def by_rows(self, side, ports):
        """The inputs, or outputs, that arrive or leave row by row: at most the largest one."""
        names, rows = self.record[side], self.record[f"{side}_by_rows"]
        are_named = len({*names}) == len(names) == len(ports)
        demand(are_named, f"{self.name}: the file has {len(ports)} {side}, the plan names {len(names)}")
        if not rows:
            return set()
        sizes = [self.model.tensors[t].elements * self.model.tensors[t].width for t in ports]
        largest = sizes.index(max(sizes))
        demand(rows == [names[largest]], f"{self.name}: of the {side}, only the largest may be by rows")
        return {ports[largest]}

    def role(self, t):
        """The kind of a buffer that a tensor has for itself."""
        places = {"variable": self.model.variables, "input": self.model.inputs, "output": self.model.outputs}
        return next((kind for kind, tensors in places.items() if t in tensors), "intermediate")

    def tensor(self, t):
        """The tensor of the file that has the shape and the type of one of the plan."""
        return self.model.tensors[self.value[t]]

    def elements(self, t):
        """Elements of a tensor, without the channels that the plan left out."""
        tensor, left = self.tensor(t), self.channels[t]
        return tensor.elements // tensor.channels * len(left) if left else tensor.elements

    def placed(self, each, tensor, buffers, size):
        what = f"{self.name}: tensor {each['tensor']}"
        if not tensor.width:
            raise NotCovered(f"{what} has elements of no whole number of bytes")
        name, offset, pitch = each["buffer"], each["offset"], each["pitch"]
        if not name:
            demand(not offset and not pitch, f"{what} has an array of the caller, but not from its beginning")
            array = f"caller's {self.name} {self.port(self.value[each['tensor']], what)}"
            return Place(Piece(0, size, array, 0, None))
        # A tensor in rows, which may be pages or in several pools, has the name of all of them, or of the first.
        base, rows = name.removesuffix("[0]"), []
        while f"{base}[{len(rows)}]" in buffers:
            rows.append(buffers[f"{base}[{len(rows)}]"])
        Fuel.spend(len(rows))
        demand(rows or name in buffers, f'{what} is in "{name}", which is no buffer')
        is_row = name in buffers and (name == base or len(rows) < 2 or buffers[name].size == size)
        rows = [buffers[name]] if is_row else rows
        is_aligned = offset % tensor.width == 0 and all(row.alignment % tensor.width == 0 for row in rows)
        demand(is_aligned, f"{what} is not aligned to its elements")
        if not is_row:
            part = size // len(rows)
            fits = part * len(rows) == size and not offset and all(part <= row.size for row in rows)
            demand(fits, f"{what} does not fit into its rows")
            return Place(*(Piece(i * part, part, row.pool, row.offset, row) for i, row in enumerate(rows)))
        (buffer,) = rows
        pixel = (len(self.channels[each["tensor"]]) or tensor.channels) * tensor.width if pitch else size
        pixels = size // pixel if pixel else 1
        last = offset + (pixels - 1) * pitch + pixel
        demand(offset >= 0 and last <= buffer.size and (not pitch or pitch >= pixel),
               f'{what} ends {last} bytes into "{name}", which has {buffer.size}')  # fmt: skip
        Fuel.spend(pixels)
        first = buffer.offset + offset
        return Place(*(Piece(i * pixel, pixel, buffer.pool, first + i * pitch, buffer) for i in range(pixels)))

    def port(self, value, what):
        """The input or output that a tensor is, or that has the same first element."""
        ports = [value] if value in (*self.model.inputs, *self.model.outputs) else []
        ports += [i for i in self.model.inputs if self.origin(value, 0) == (i, 0)]
        ports += [o for o in self.model.outputs if self.origin(o, 0) == (value, 0)]
        demand(ports, f"{what} is in an array of the caller, who has none for it")
        return ports[0]

    def definition(self, op, k):
        if (op.number, k) not in self.definitions:
            if op.code in STATEFUL:
                raise NotCovered(f"{self.name}: {STATEFUL[op.code]}")
            self.definitions[op.number, k] = Definition(self.model, op, k)
        return self.definitions[op.number, k]

    def origin(self, t, element, deep=False):
        """Return the tensor and element that an element shows: what only moves it is followed, up to what a step wrote,
        and so are functions of one element that no step computes.

        With `deep`, moves are followed through what steps wrote, too.  None: it is constant.
        """
        while deep or t not in self.written:
            Fuel.spend(1)
            t = self.model.same[t] if deep else t
            if t in self.model.constants:
                return None
            if t not in self.model.producer or self.model.producer[t][0].code in STATEFUL:
                break
            op, k = self.model.producer[t]
            definition = self.definition(op, k)
            is_function = op.kind == "ELEMENTS" and t not in self.written
            if not definition.moves and not is_function:
                break
            needs = [(op.inputs[i], e) for i, e in definition.needs(element)]
            needs = [(source, e) for source, e in needs if source not in self.model.constants]
            if len(needs) > 1:
                break
            if not needs:
                return None
            if is_function:
                self.beliefs.add(op.number)  # it is believed to change nothing
            t, element = needs[0]
        return (t, element)

    def last_reads(self, op_record, turns_by_tensor):
        """Return {tensor that the operator reads: {element: turn of the last read}}, given those of what it writes.

        The definitions of all operators of the file in between are applied: its own, and what may be fused with it or
        left out, which are moves and functions of single elements.
        """
        model, reads, own = self.model, {}, self.model.operators[op_record["operator"]]
        what, is_applied, before = f"{self.name}: operator {own.number}", False, []
        readable = {self.value[t]: t for t in op_record["reads"]}
        equal = {model.same[value]: t for value, t in readable.items()}
        pending = {t: dict(turns) for t, turns in turns_by_tensor.items()}
        while pending:
            Fuel.spend(len(pending))
            demand(pending.keys() <= model.producer.keys(), f"{what} needs what nothing computes")
            t = max(pending, key=lambda t: model.producer[t][0].number)
            (op, k), turns = model.producer[t], pending.pop(t)
            definition = self.definition(op, k)
            is_applied |= op is own
            if op is not own and not definition.moves:
                is_single = len({*op.inputs} - {-1} - model.constants) < 2
                is_fused = op.kind == "ELEMENTS" and (own.kind == "ELEMENTS" or is_single)
                demand(is_fused, f"{what} would have to compute operator {op.number}, too")
                if is_applied:
                    before.append(op.number)
            for t, last in zip(op.inputs, definition.last_reads(turns)):
                if not last or t in model.constants:
                    continue
                if t not in pending and model.same[t] in equal:
                    merge(reads.setdefault(readable.get(t, equal[model.same[t]]), {}), last)
                elif t not in pending and t in self.written:
                    self.read_elsewhere(what, t, last, readable, reads)
                else:
                    merge(pending.setdefault(t, {}), last)
        demand(is_applied, f"{what} writes what it does not compute")
        if own.kind != "ELEMENTS" or len(reads) > 1:  # else they are one look-up
            self.beliefs.update(before)
        return reads

    def read_elsewhere(self, what, t, turns, readable, reads):
        """Read elements from another tensor that shows the same ones."""
        origins, shown = {element: self.origin(t, element, deep=True) for element in turns}, {}
        wanted = {*origins.values()}
        for value, other in readable.items():
            for element in range(self.model.tensors[value].elements):
                origin = self.origin(value, element, deep=True)
                if origin in wanted:
                    shown.setdefault(origin, (other, element))
        for element, turn in turns.items():
            origin = origins[element]
            if origin is not None:
                demand(origin in shown, f"{what} needs tensor {t}, which the plan does not let it read")
                other, at = shown[origin]
                merge(reads.setdefault(other, {}), {at: turn})


def merge(into, turns):
    """Keep the later turn of each element."""
    for element, turn in turns.items():
        into[element] = max(turn, into.get(element, turn))


# ---- The replay ------------------------------------------------------------------------------------------------------


OPERATOR = re.compile(r".+? (\d+)(?:, row (\d+))?", re.DOTALL)
ARRIVAL = re.compile(r"row (\d+) of .* arrives", re.DOTALL)


KINDS = ("scratch", "variable", "connection", "input", "output", "intermediate")


class Replay:
    def __init__(self, plan, models):
        self.plan = plan
        self.buffers = {b.name: b for b in flat_buffers(plan)}
        demand(len(self.buffers) == sum(1 for _ in flat_buffers(plan)), "two buffers have one name")
        self.models = [Planned(record, model, self.buffers) for record, model in zip(plan["models"], models)]
        self.connect()
        self.arenas, self.marks, self.numbers = {}, {}, count(1)
        self.step, self.seen, steps = 0, {}, plan["steps"]
        proofs = {pool["name"]: (pool["certificate"] or {}).get("step") for pool in plan["pools"]}
        self.proven_at = {pool: steps.index(step) for pool, step in proofs.items() if steps.count(step) == 1}
        self.loads, self.unchecked = {}, set()
        self.has_others = any(target["kernels"] != "reference" for target in plan["targets"])

    def connect(self):
        """Note which inputs other models write; demand that buffers are of those who use them, and of their kind."""
        roles, users = {}, {}
        for model in self.models:
            for op in model.operators.values():
                for name in op["scratch"]:
                    roles.setdefault(name, set()).add("scratch")
            written = {t for op in model.operators.values() for t in op["writes"]}
            for t, place in model.place.items():
                for b in {piece.buffer.name: piece.buffer for piece in place.pieces if piece.buffer}.values():
                    is_fed = b.models[0] != model.name and t in model.model.inputs
                    if is_fed:
                        model.connected.add(t)
                        self.demand_output(model, t, b)
                    is_own = b.models[0] == model.name or t not in written | model.model.variables
                    demand(is_fed or is_own, f'{model.name}: tensor {t} is in "{b.name}", which is of {b.models[0]}')
                    roles.setdefault(b.name, set()).add("connection" if is_fed else model.role(t))
                    users.setdefault(b.name, set()).add(model.name)
        for b in self.buffers.values():
            if b.name not in roles:
                continue
            kind = next(kind for kind in KINDS if kind in roles[b.name])
            demand(kind != "scratch" or len(roles[b.name]) == 1, f'"{b.name}" is scratch, and has a tensor')
            is_part = kind in ("input", "output") and "intermediate" in roles[b.name]
            demand(b.kind == kind or (is_part and b.kind == "intermediate"),
                   f'"{b.name}" is said to be "{b.kind}", and is "{kind}"')  # fmt: skip
            demand(kind == "scratch" or {*b.models} == users[b.name], f'"{b.name}" is not used by all that share it')

    def demand_output(self, model, t, b):
        """Demand that an input is an output of the model whose buffer it is in, in the same place, of the same type."""
        pieces, meaning = model.place[t].pieces, model.tensor(t).meaning
        (source,) = (other for other in self.models if other.name == b.models[0])
        outputs = [o for o in source.model.outputs if o in source.place and source.place[o].pieces == pieces]
        is_output = any(source.tensor(o).meaning == meaning for o in outputs)
        demand(is_output, f"{model.name}: input {t} is in a buffer of {source.name}, which has no such output there")

    def base(self, model, t, fresh=False):
        """The mark of byte 0 of a tensor, or of a buffer; a fresh one for each run."""
        if fresh or (model, t) not in self.marks:
            self.marks[model, t] = next(self.numbers) << 40
        return self.marks[model, t]

    def is_alive(self, buffer):
        Fuel.spend(len(buffer.intervals), len(buffer.models))
        return any(start <= self.step < stop for start, stop in buffer.intervals)

    def touch(self, model, buffer):
        if buffer is not None:
            what = f'{self.here()} touches "{buffer.name}", which'
            demand(model.name in buffer.models, f"{what} is of other models")
            demand(self.is_alive(buffer), f"{what} the plan says is not alive then")
            self.seen.setdefault(buffer.name, set()).add(self.step)

    def here(self):
        return f'step {self.step}, "{self.plan["steps"][self.step]}",'

    def arena(self, pool, end):
        arena = self.arenas.setdefault(pool, [])
        missing = range(len(arena), end)
        Fuel.spend(10 * len(missing))  # ten: of memory there is less than of time
        arena += [0] * len(missing)
        return arena

    def marks_of(self, model, t, first, stop):
        """The marks of elements [first, stop) of a tensor, byte by byte; None where they are constant."""
        value = model.value[t]
        width, base = model.model.tensors[value].width, self.base(model.name, value)
        Fuel.spend((stop - first) * width)
        if value in model.written and not model.channels[t]:
            return range(base + first * width, base + stop * width)
        elements = (self.in_file(model, t, e) for e in range(first, stop))
        return [byte for e in elements for byte in self.shown(model, value, e)]

    def mark(self, model, t, first, stop):
        """Write the marks of elements [first, stop) of a tensor."""
        marks, width, at = self.marks_of(model, t, first, stop), model.tensor(t).width, 0
        for _, size, pool, offset, buffer in model.place[t].runs(first * width, stop * width):
            self.touch(model, buffer)
            self.arena(pool, offset + size)[offset : offset + size] = marks[at : at + size]
            at += size

    def check(self, model, t, elements):
        """Demand the marks of elements of a tensor, which are numbered as in the plan."""
        width = model.tensor(t).width
        for first, stop in runs_of(elements):
            expected, at = self.marks_of(model, t, first, stop), 0
            for byte, size, pool, offset, buffer in model.place[t].runs(first * width, stop * width):
                self.touch(model, buffer)
                marks, wanted = self.arena(pool, offset + size)[offset : offset + size], [*expected[at : at + size]]
                at += size
                demand(None not in wanted, f"{self.here()} reads constants from where nothing writes them")
                if pool in self.loads:
                    self.loads[pool].later(marks)
                for i, (mark, want) in enumerate(zip(marks, wanted)) if marks != wanted else ():
                    demand(want == mark, f"{self.here()} needs byte {byte + i} of tensor {model.value[t]} at "
                           f"{pool}+{offset + i}, where {self.whose(mark)}")  # fmt: skip

    def shown(self, model, value, element):
        """Yield the marks of an element of a tensor that no step writes, such as a view or a concatenation."""
        origin, width = model.origin(value, element), model.model.tensors[value].width
        if origin is None:
            return [None] * width
        t, e = origin
        demand(t in model.written, f"{model.name}: no step computes tensor {t}")
        demand(model.model.tensors[t].width == width, f"{model.name}: tensor {value} cannot show bytes of tensor {t}")
        return [self.base(model.name, t) + e * width + byte for byte in range(width)]

    def whose(self, mark):
        for (model, t), base in self.marks.items():
            if base >> 40 == mark >> 40:
                return f"byte {mark - base} of tensor {t} of {model} is"
        return "nothing has been written yet" if not mark else "bytes of an earlier run are"

    def run(self, model, first):
        """Run a model twice in an arena of its own, beside all that must outlive its runs; return the step after.

        So it does not matter which models run before, between and after.
        """
        self.arenas, (jobs, last) = {}, self.jobs(model, first)
        kept, self.step = self.kept(model, first, last), first
        for t in model.model.variables & model.place.keys():
            self.mark(model, t, 0, model.model.tensors[t].elements)
        for b in kept:
            self.arena(b.pool, b.offset + b.size)[b.offset : b.offset + b.size] = self.marks_of_kept(b)
        rows = {operator: {row for _, other, row in jobs if other == operator} - {None} for _, operator, _ in jobs}
        for is_again in (False, True):
            self.step, done = first, {}
            self.enter(model, is_again)
            for self.step, operator, row in jobs:
                done.setdefault(operator, []).append(row)
                if operator is None:
                    (t,) = model.arriving
                    part = share(row, len(model.place[t].pieces), model.elements(t))
                    self.mark(model, t, part.start, part.stop)
                else:
                    self.operate(model, model.operators[operator], row, done[operator], len(rows[operator]))
            self.step = last
            self.leave(model, done)
        for b in kept:
            marks = self.arena(b.pool, b.offset + b.size)[b.offset : b.offset + b.size]
            demand(marks == self.marks_of_kept(b), f'{model.name} overwrites "{b.name}", which must outlive its runs')
            if b.pool in self.loads:
                self.loads[b.pool].later(marks)
        return last + 1

    def jobs(self, model, first):
        """Return (step, operator, row) of each step of a model, and its last one.

        An operator without rows runs as a whole; a row without an operator arrives.
        """
        steps, jobs = self.plan["steps"], []
        demand(steps[first : first + 1] == [f"{model.name}: enter"], f"{model.name} is not entered")
        for self.step in range(first + 1, len(steps)):
            prefix, _, text = steps[self.step].partition(": ")
            demand(prefix == model.name, f"{self.here()} comes before {model.name} has left")
            if text == "leave":
                return jobs, self.step
            arrival, operator = ARRIVAL.fullmatch(text), OPERATOR.fullmatch(text)
            if arrival:
                jobs.append((self.step, None, int(arrival[1])))
            elif operator and int(operator[1]) in model.operators:
                jobs.append((self.step, int(operator[1]), operator[2] and int(operator[2])))
            else:
                is_flow = any(op.code in STATEFUL for op in model.model.operators)
                demand(is_flow, f"{self.here()} is no operator of the plan")
                raise NotCovered(f"{self.here()} which is part of control flow")
        raise Wrong(f"{model.name} never ends")

    def kept(self, model, first, last):
        """Return the buffers of other models that must keep their bytes while a model runs, from step to step.

        These are variables, connections, and what the plan says the application keeps.
        """
        kept = []
        for b in self.buffers.values():
            Fuel.spend(len(b.intervals))
            if b.kind == "constant" or model.name in b.models or not b.size:
                continue
            if b.kind in ("variable", "connection"):
                is_whole = any(start <= first and last < stop for start, stop in b.intervals)
                demand(is_whole, f'"{b.name}" is not said to be alive while {model.name} runs')
            if any(start <= last and first < stop for start, stop in b.intervals):
                kept.append(b)
        return kept

    def marks_of_kept(self, b):
        base = self.base(b.models[0], b.name)
        Fuel.spend(b.size)
        return [*range(base, base + b.size)]

    def leave(self, model, done):
        """Demand that all outputs are in their places or have left, inputs have arrived, and what is kept is there."""
        rows_of = {t: done.get(position) for position, op in model.operators.items() for t in op["writes"]}
        for t in {*model.model.outputs} - model.model.constants:
            if t in model.leaving:  # the application gets each row in the step that computes it
                rows = [*range(prod(model.tensor(t).shape[-3:][:-2]))]
                demand(
                    rows_of.get(t) == rows, f"{model.name}: output {t} is to leave row by row, and is not computed so"
                )
            else:
                self.check(model, t, range(model.elements(t)))
        for t in model.model.inputs:
            if t in model.arriving:
                rows = [*range(len(model.place[t].pieces))]
                demand(
                    done.get(None) == rows,
                    f"{model.name}: the rows of input {t} do not arrive from the first to the last",
                )
            elif self.is_kept(model, t):
                self.check(model, t, range(model.elements(t)))

    def is_kept(self, model, t):
        """Whether a port keeps its bytes at this step: the plan says so, or others read the same input."""
        buffers = [piece.buffer for piece in model.place[t].pieces]
        is_read_again = t in model.connected and any(len(b.models) > 2 or b.kind == "variable" for b in buffers)
        return None not in buffers and (is_read_again or all(map(self.is_alive, buffers)))

    def enter(self, model, is_again):
        """Fill the inputs of a model that do not arrive later, with new values: equal ones where one output feeds them.

        Outputs that are kept until the model runs again stay in their places.
        """
        filled = {*model.model.inputs} - model.arriving - model.model.variables
        for t in sorted(filled, key=lambda t: (t not in model.connected, t)):
            same = [o for o in filled & model.connected if model.place[o].pieces == model.place[t].pieces]
            mark = self.base(model.name, t, fresh=True)
            self.marks[model.name, t] = self.marks[model.name, min(same)] if t in model.connected else mark
            self.mark(model, t, 0, model.elements(t))
        for t in {*model.model.outputs} & model.place.keys():
            if is_again and self.is_kept(model, t):
                self.check(model, t, range(model.elements(t)))
        for t in {*range(len(model.model.tensors))} - model.model.variables - filled:
            self.base(model.name, t, fresh=True)

    def operate(self, model, op, row, done, rows):
        """Run an operator, or a row of it: check what it needs, then mark what it writes."""
        is_copy = op["operator"] >= len(model.model.operators)
        kind = "COPY" if is_copy else model.model.operators[op["operator"]].kind
        out = model.tensor(op["writes"][0])
        height = prod(out.shape[:-1] if kind == "FULLY_CONNECTED" else out.shape[-3:][:-2])
        adds_up = bool(rows and op["scratch"] and height != rows)
        demand(adds_up or rows in (0, height), f"{self.here()} is one of {rows} rows, and the output has {height}")
        sums = self.sums(model, op, kind, adds_up)
        if adds_up:
            heights = {prod(model.tensor(t).shape[-3:][:1]) for t in op["reads"]}
            is_once = len({*done}) == len(done) and rows in (0, *heights)
            demand(is_once, f"{self.here()} does not add up each row once")
        needed, sums = self.scratch_needed(model, op, kind, sums)
        Fuel.spend(len(done))
        order = "SUMS" if adds_up else kind  # sums become outputs one by one
        turns = self.turns(model, op, order, *((0, 1) if adds_up or not rows else (row, rows)))
        reads = self.reads(model, op, turns, is_copy)
        if adds_up:  # all of a row is read before anything is written
            parts = {t: share(row, rows, model.elements(t)) for t in reads}
            reads = {t: {e: float("-inf") for e in last if e in parts[t]} for t, last in reads.items()}
        elif sums:  # it adds up an image, then writes its output
            back = 1 if op["operator"] in model.backward else 0
            for t, last in reads.items():
                reads[t] = {e: (turn - back) // sums * sums + back for e, turn in last.items()}
        is_last = not adds_up or len({*done}) == rows
        for t, last in reads.items():
            demand(t in model.place, f"{self.here()} reads tensor {t}, which has no place")
            self.check(model, t, last)
        turns = turns if is_last else {}
        begun = self.begun(model, reads)
        width = needed[0][1] if sums else 1  # bytes of a sum
        self.scratch(model, op, reads, turns, sums, width, adds_up and len(done) > 1)
        self.overlaps(model, kind, reads, turns)
        for t, written in turns.items():
            for first, stop in runs_of(written):
                self.mark(model, t, first, stop)
        for pool, load in begun.items():
            load.written = self.turns_of_marks(model, pool, turns)
            if not sums:  # whose place outputs may take
                buffers = map(self.buffers.get, op["scratch"])
                load.scratch = sum(size for b, (size, _) in zip(buffers, needed) if b.pool == pool)
        self.loads.update(begun)

    def turns(self, model, op, kind, row, rows):
        """Return {tensor: {element: its turn}} of what a row writes; backward, turns descend from 0."""
        turns, before, is_backward = {}, 0, op["operator"] in model.backward
        is_lstm = model.model.operators[op["operator"]].code == 44 if kind == "RECURRENT" else False
        demand(not (is_lstm and is_backward), f"{self.here()} runs its steps backward")
        for t in op["writes"]:
            elements = model.elements(t)
            Fuel.spend(elements)
            forward = {e: before + self.turn(model, op, kind, t, e) for e in share(row, rows, elements)}
            turns[t] = {e: -turn for e, turn in forward.items()} if is_backward else forward
            before += elements
        return turns

    def sums(self, model, op, kind, adds_up):
        """How many sums scratch holds at a time: of all elements, or of a reduction those of an image."""
        elements = model.elements(op["writes"][0])
        if kind == "REDUCE":
            definition = model.definition(model.model.operators[op["operator"]], 0)
            return elements // definition.images if adds_up or definition.adds_images else 0
        return elements if adds_up else 0

    def scratch_needed(self, model, op, kind, sums):
        """Return (bytes, alignment) of each scratch buffer that an operator needs, and its sums, 0 if unknown."""
        needed, buffers = [], []
        for name in op["scratch"]:
            demand(name in self.buffers, f'{self.here()} has scratch "{name}", which is no buffer')
            buffers.append(self.buffers[name])
        if kind != "COPY":
            needed = model.definition(model.model.operators[op["operator"]], 0).scratch(sums)
        if len(needed) == 3 and len(buffers) == 2:  # detection has no best scores of all classes then
            needed = [needed[0], needed[2]]
            self.unchecked.add(f"{model.name}: that operator {op['operator']} picks boxes of each class by itself")
        is_there = len(buffers) == len(needed) and all(
            b.size >= size and b.offset % unit == 0 and b.alignment % unit == 0
            for b, (size, unit) in zip(buffers, needed)
        )
        if is_there:
            return needed, sums
        wanted = " and ".join(f"{size} bytes at a multiple of {unit}" for size, unit in needed) or "no bytes"
        demand(self.has_others, f"{self.here()} needs scratch of {wanted}")
        self.unchecked.add(f"{model.name}: scratch of operator {op['operator']}, which may be of another library")
        return [(b.size, b.alignment) for b in buffers], 0

    def begun(self, model, reads):
        """Note what the pools hold whose bound a certificate proves at this step."""
        begun = {}
        for pool, step in self.proven_at.items():
            if step == self.step and pool not in self.loads:
                arena = self.arenas.get(pool, ())
                Fuel.spend(len(arena))
                begun[pool] = Load({*arena}, self.turns_of_marks(model, pool, reads))
        return begun

    def turns_of_marks(self, model, pool, turns):
        """Return {mark: turn} for {tensor: {element: turn}}, where its bytes are in the pool."""
        arena = self.arenas.get(pool, ())
        places = ((at, last[e]) for t, last in turns.items() for at, e in self.addresses(model, t, last))
        return {arena[at[1]]: turn for at, turn in places if at[0] == pool}

    def turn(self, model, op, kind, t, element):
        shape = model.tensor(t).shape
        last = len(model.channels[t]) or prod(shape[-1:])
        if kind == "RESHAPE":
            return 0  # all in one turn
        if kind in ("SLICE", "STRIDED_SLICE") and not model.channels[t]:
            return element // model.definition(model.model.operators[op["operator"]], 0).block
        if kind not in (*SUMS, *BLOCKS, "DEPTHWISE_CONV_2D", "PAD", "RECURRENT"):
            return element
        definition = model.definition(model.model.operators[op["operator"]], 0)
        if definition.quantizes and op["scratch"]:
            return element // (model.elements(t) // definition.quantized_images)
        if kind == "RECURRENT":  # an LSTM reads a step for each unit; an SVDF takes in all of a batch first
            return element // last if definition.op.code == 27 else element
        multiplier = shape[3] // definition.ins[0].shape[3] if kind == "DEPTHWISE_CONV_2D" else 1
        if multiplier > 1:
            return element // LANES if multiplier % LANES == 0 else element
        if kind in BLOCKS:
            block = element // (definition.out.elements // definition.outer())  # a copy moves a block at once
            if kind in ("CONCATENATION", "PACK"):  # one input after the other
                return self.part(model, op, definition, t, element) * definition.out.elements + block
            return block
        if kind == "PAD":  # lines along the last axis with padding
            axis = max((i // 2 for i, padding in enumerate(definition.constant(1)) if padding), default=0)
            return element // (prod(shape[axis:-1]) * last)
        group = last // (definition.sections if kind == "CONV_2D" else 1)
        return element // group * group + element % group // LANES

    def part(self, model, op, definition, t, element):
        """The number of the input that an element of a concatenation is from; the plan may have joined some before."""
        number = definition.needs(self.in_file(model, t, element))[0][0]
        stops = [*accumulate(model.tensor(t).elements for t in op["reads"])]
        before = sum(tensor.elements for tensor in definition.ins[:number])
        return bisect_right(stops, before) if stops[-1:] == [definition.out.elements] else number

    def reads(self, model, op, turns, is_copy):
        """Return what an operator needs, with the elements of the plan in place of those of the file."""
        if is_copy:
            (t, written), source = next(iter(turns.items())), op["reads"][0]
            last = model.elements(t)
            marks = [[*self.marks_of(model, each, 0, last)] for each in (t, source)]
            demand(marks[0] == marks[1], f"{self.here()} copies other values than those of tensor {model.value[t]}")
            return {source: written}
        values = {}
        for t, written in turns.items():
            values[model.value[t]] = {self.in_file(model, t, e): turn for e, turn in written.items()}
        reads = model.last_reads(op, values)
        return {t: self.in_plan(model, t, last) for t, last in reads.items()}

    def in_file(self, model, t, element):
        channels = model.channels[t]
        if not channels:
            return element
        pixel, channel = divmod(element, len(channels))
        return pixel * model.tensor(t).shape[-1] + channels[channel]

    def in_plan(self, model, t, last):
        channels = model.channels.get(t)
        if not channels:
            return last
        number = {channel: i for i, channel in enumerate(channels)}
        size, left = model.tensor(t).shape[-1], len(channels)
        pairs = ((divmod(e, size), turn) for e, turn in last.items())
        return {pixel * left + number[channel]: turn for (pixel, channel), turn in pairs if channel in number}

    def addresses(self, model, t, elements):
        """Yield (pool, offset, element) of each byte of elements."""
        width = model.tensor(t).width
        for element in elements:
            for _, size, pool, offset, _ in model.place[t].runs(element * width, (element + 1) * width):
                Fuel.spend(size)
                for at in range(offset, offset + size):
                    yield (pool, at), element

    def overlaps(self, model, kind, reads, turns):
        """Demand that nothing is overwritten within the operator before it has been read for the last time."""
        written = {}
        for t, last in turns.items():
            for at, element in self.addresses(model, t, last):
                demand(at not in written, f"{self.here()} writes two elements at {at[0]}+{at[1]}")
                written[at] = last[element]
        for t, last in reads.items():
            for at, element in self.addresses(model, t, last):
                if at in written and written[at] < last[element]:
                    if kind == "OTHER":
                        raise NotCovered(f"{self.here()} whose output overlaps what it reads")
                    raise Wrong(f"{self.here()} overwrites element {element} of tensor {model.value[t]} at "
                                f"{at[0]}+{at[1]} before it has read it for the last time")  # fmt: skip

    def scratch(self, model, op, reads, turns, sums, width, is_begun):
        """Scratch is written when the operator begins; what is added up stays from its first row to its last.

        A sum has `width` bytes.
        """
        taken = {}
        for name in op["scratch"]:
            buffer = self.buffers[name]
            self.touch(model, buffer)
            pool, offset, size = buffer.pool, buffer.offset, buffer.size
            arena, base = self.arena(pool, offset + size), self.base(model.name, name)
            if is_begun:
                demand(arena[offset : offset + size] == [*range(base, base + size)],
                       f'{self.here()} needs its sums in "{name}", which were overwritten')  # fmt: skip
            arena[offset : offset + size] = range(base, base + size)
            each = {(pool, at): (at - offset) // width for at in range(offset, offset + size)}
            demand(not taken.keys() & each.keys(), f"{self.here()} has scratch twice")
            taken |= each
        for t, last in reads.items():
            demand(not taken or all(at not in taken for at, _ in self.addresses(model, t, last)),
                   f"{self.here()} reads tensor {model.value[t]} where its scratch is")  # fmt: skip
        for t, last in turns.items() if taken else ():
            read = {}
            for element, turn in last.items() if sums else ():
                merge(read, {element % sums: turn})
            for at, element in self.addresses(model, t, last):
                if at in taken:
                    if not sums:
                        raise NotCovered(f"{self.here()} whose output overlaps its scratch")
                    is_read = read.get(taken[at], last[element]) <= last[element]
                    demand(is_read, f"{self.here()} overwrites sum {taken[at]} before it is read")


class Load:
    """What a pool must hold at once, wherever it is: bytes by their marks, at each turn of one step."""

    def __init__(self, held, read):
        self.held, self.read, self.written, self.scratch = held, read, {}, 0
        self.needed = set()

    def later(self, marks):
        """Note what is read after the step."""
        self.needed.update(mark for mark in marks if mark in self.held or mark in self.written)

    def most(self):
        """Return the bytes needed at the fullest turn; what a turn reads is read before it writes."""
        read = sorted(turn for mark, turn in self.read.items() if mark not in self.needed)
        written = sorted(turn for mark, turn in self.written.items() if mark in self.needed)
        turns = [
            (side(read, turn), side(written, turn))
            for turn in {*read, *written}
            for side in (bisect_left, bisect_right)
        ]
        return len(self.needed & self.held) + self.scratch + max((len(read) - r + w for r, w in turns), default=0)


def share(row, rows, elements):
    """The numbers of the elements that a row has, as one of `rows`."""
    return range(row * elements // rows, (row + 1) * elements // rows)


def runs_of(elements):
    """Yield [first, stop) of consecutive numbers."""
    Fuel.spend(len(elements))
    for _, run in groupby(enumerate(sorted(elements)), lambda numbered: numbered[1] - numbered[0]):
        numbers = [number for _, number in run]
        yield numbers[0], numbers[-1] + 1


# ---- What needs no replay --------------------------------------------------------------------------------------------


def check_places(plan):
    """Check pools, limits, alignments, constants, and models that may run at the same time."""
    pools = {pool["name"]: pool for pool in plan["pools"]}
    demand(len(pools) == len(plan["pools"]), "two pools have one name")
    together = {frozenset(pair) for pair in plan["concurrent"]}
    lying = {name: [] for name in pools}
    for b in flat_buffers(plan):
        demand(b.pool in pools, f'"{b.name}" is in "{b.pool}", which is no pool')
        pool, end = pools[b.pool], end_of(b)
        demand(b.kind == "constant" or pool["access"] == "rw", f'"{b.name}" is in "{b.pool}", which is read-only')
        demand(b.offset >= 0 and b.size >= 0 and end <= pool["size"],
               f'"{b.name}" ends at {b.pool}+{end}, and the pool has {pool["size"]} bytes')  # fmt: skip
        aligned = all(unit > 0 and b.offset % unit == 0 for unit in (b.alignment, b.line or 1))
        demand(aligned, f'"{b.name}" at {b.pool}+{b.offset} is not aligned')
        power = b.alignment & -b.alignment
        demand(pool["alignment"] % power == 0, f'pool "{b.pool}" is aligned to less than "{b.name}"')
        is_within = all(0 <= start < stop <= len(plan["steps"]) for start, stop in b.intervals)
        demand(is_within, f'"{b.name}" is alive outside of the steps')
        if b.size:
            lying[b.pool].append(b)
    for name, pool in pools.items():
        demand(pool["limit"] is None or pool["size"] <= pool["limit"], f'pool "{name}" is larger than its limit')
        power, origin = pool["alignment"], pool["origin"] or 0
        is_power = power > 0 and power & (power - 1) == 0
        demand(is_power and origin % power == 0, f'pool "{name}" is not aligned')
    fixed = [(p["origin"], p["origin"] + p["size"], name) for name, p in pools.items() if p["origin"] is not None]
    for (_, end, one), (start, _, other) in pairwise(sorted(fixed)):
        demand(end <= start, f'pools "{one}" and "{other}" share addresses')
    for pool, buffers in lying.items():
        check_apart(pool, sorted(buffers, key=lambda b: (b.offset, end_of(b), b.name)), together)


def end_of(buffer):
    """Where a buffer ends, with all of its last cache line."""
    return buffer.offset + buffer.size + (-buffer.size % buffer.line if buffer.line else 0)


def check_apart(pool, buffers, together):
    """Check that what nobody may ever overwrite lies apart: constants, data of concurrent models, cache lines."""
    open_ones = []
    for b in buffers:
        open_ones = [other for other in open_ones if end_of(other) > b.offset]
        for other in open_ones:
            Fuel.spend(1, len(b.models) * len(other.models), len(b.intervals) * len(other.intervals))
            concurrent = any(frozenset(pair) in together for pair in product(b.models, other.models))
            alive = any(a < stop and start < z for (a, z), (start, stop) in product(b.intervals, other.intervals))
            has_lines = (b.line or other.line) and alive
            if concurrent or "constant" in (b.kind, other.kind) or has_lines:
                raise Wrong(f'"{other.name}" and "{b.name}" share bytes of pool "{pool}"')
        open_ones.append(b)


def check_constants(plan, models):
    """Demand that weights and biases are in the plan, each in bytes of its own; return what is not checked.

    The plan does not say what a constant holds.  So of each size there must be as many as the files have.
    """
    is_plain = all(target["kernels"] == "reference" and target["isa"] == "portable" for target in plan["targets"])
    constants, pairs = [b for b in flat_buffers(plan) if b.kind == "constant"], [*zip(plan["models"], models)]
    unchecked, sizes = {}, set()
    for group in (*([pair] for pair in pairs), pairs):
        names, contents = {record["name"] for record, _ in group}, {data for pair in group for data in stored(*pair)}
        is_sure = is_plain and not any(r["channels"] or r["weights"] for each, _ in group for r in each["rewrites"])
        sizes.update(map(len, contents))
        for size, number in Counter(map(len, contents)).items():
            there = [b for b in constants if b.size == size and names & {*b.models}]
            what = f"{number} constants of {size} bytes of {', '.join(sorted(names))}"
            demand(len(there) >= number or not is_sure, f"the plan has {len(there)} for the {what}")
            if len([b for b in there if b.reason == "of the model"]) < number:
                unchecked[f"what the {what} became"] = None
    others = sorted(b.name for b in constants if b.reason != "of the model" or b.size not in sizes)
    return [*unchecked, *(f'that "{name}" has its size, and what it holds' for name in others)]


def stored(record, model):
    """Yield the bytes of constants that are stored as they are: weights, biases and outputs, but none of 4 bits."""
    operators = [model.operators[op["operator"]] for op in record["operators"] if op["operator"] < len(model.operators)]
    tensors = {op.inputs[i] for op in operators for i in STORED.get(op.kind, ()) if i < len(op.inputs)}
    for t in {*model.outputs, *tensors} - model.variables - {-1}:
        if model.tensors[t].data and len(model.tensors[t].data) == model.tensors[t].elements * model.tensors[t].width:
            yield model.tensors[t].data


def check_certificate(plan, pool, replay):
    """Check the bound of a pool; returns why it cannot be checked by looking, or nothing."""
    name, bound, proof = pool["name"], pool["bound"], pool["certificate"]
    demand(0 <= bound <= pool["size"], f'pool "{name}" has {pool["size"]} bytes, and its bound is {bound}')
    if proof is None:
        return f'bound of "{name}": a search proved it' if pool["access"] == "rw" and bound else ""
    members = [replay.buffers[each] for each in dict.fromkeys(proof["buffers"]) if each in replay.buffers]
    demand(
        len(members) == len(proof["buffers"]), f'the certificate of "{name}" has a buffer twice, or one that is none'
    )
    demand(all(buffer.pool == name for buffer in members), f'the certificate of "{name}" has buffers of another pool')
    total = sum(end_of(buffer) - buffer.offset for buffer in members)
    demand(total >= bound, f'the buffers of the certificate of "{name}" have {total} bytes, and its bound is {bound}')
    if proof["step"] is None or plan["steps"].count(proof["step"]) != 1:
        return f'bound of "{name}": it is of models that run at the same time'
    step = plan["steps"].index(proof["step"])
    for buffer in members:
        seen = replay.seen.get(buffer.name)
        if buffer.kind not in ("variable", "connection", "constant") and not (seen and min(seen) <= step <= max(seen)):
            kept = [start <= step < stop for start, stop in buffer.intervals if buffer.kind in ("input", "output")]
            demand(any(kept), f'the certificate of "{name}" counts "{buffer.name}", which holds nothing then')
            return f'bound of "{name}": it counts "{buffer.name}", which the application is said to keep'
    most = replay.loads[name].most() if name in replay.loads else total
    return "" if most >= bound else f'bound of "{name}": only {most} bytes can be seen to be needed at once'


def check(plan, models):
    """Check a plan; returns what is not checked.  Raises Wrong or NotCovered."""
    Fuel.left = Fuel.MOST
    demand(plan["version"] == 2, "this is a plan of another version")
    check_places(plan)
    for record in plan["models"]:
        if record["on_demand"] or not record["operators"]:
            raise NotCovered(f"{record['name']}: a program, or a model without operators")
    names = [record["name"] for record in plan["models"]]
    demand(len({*names}) == len(names), "two models have one name")
    replay, step = Replay(plan, models), 0
    for model in replay.models:
        step = replay.run(model, step)
    demand(step == len(plan["steps"]), "there are steps of no model")
    unchecked = [*check_constants(plan, models), *sorted(replay.unchecked)]
    unchecked += [
        f"{each.name}: that operator {n} changes nothing" for each in replay.models for n in sorted(each.beliefs)
    ]
    return [*unchecked, *(reason for pool in plan["pools"] if (reason := check_certificate(plan, pool, replay)))]


def of_manifest(plan):
    """Yield what this file takes from the plan unchecked, because only the manifest states it."""
    for p in plan["pools"]:
        limit = "no limit" if p["limit"] is None else f"a limit of {p['limit']} bytes"
        yield f'that pool "{p["name"]}" has the owner "{p["owner"]}", the region "{p["region"]}" and {limit}'
    for m in plan["models"]:
        ports = f"{', '.join(m['inputs'])} are its inputs and {', '.join(m['outputs'])} its outputs, by name"
        rows = ", ".join([*m["inputs_by_rows"], *m["outputs_by_rows"]]) or "none"
        yield f"{m['name']}: that {ports}; that {rows} of them come or go by rows, and no more are kept between runs"
    pairs = ", ".join(" and ".join(pair) for pair in plan["concurrent"]) or "none"
    yield f"that of all models only these run at the same time: {pairs}"


def say(verdict, reason, code):
    """Print a line; names in plans are not to be trusted with a terminal."""
    print(f"{verdict}: {str(reason)[:1000].encode('unicode_escape').decode('ascii')}")
    return code


def main(arguments):
    if len(arguments) < 2:
        print(__doc__)
        return 2
    try:
        plan = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        files = {hashlib.sha256(data).hexdigest(): data for data in (Path(path).read_bytes() for path in arguments[1:])}
        missing = [record["name"] for record in plan["models"] if record["sha256"] not in files]
        demand(not missing, f"none of the files is the one that {', '.join(missing)} was planned from")
        models = [Model(files[record["sha256"]]) for record in plan["models"]]
        unchecked = check(plan, models)
    except NotCovered as reason:
        return say("not covered", reason, 3)
    except Wrong as wrong:
        return say("wrong", wrong, 1)
    except Exception as damage:  # whatever it is that cannot be read or followed: it is not right
        return say("wrong", f"this is no plan, or no model: {type(damage).__name__}: {damage}", 1)
    print("right: everything that an operator needs is in its place when it is read")
    for each in [*unchecked, *of_manifest(plan)]:
        say("not checked", each, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
