"""Model files: as much of a FlatBuffer as is needed."""

import struct
from functools import cached_property
from math import prod

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
