"""The model file: as much of a .tflite file as is needed here.  It is a FlatBuffer: tables, whose fields have slots."""

import struct
from math import prod

WIDTHS = {0: 4, 1: 2, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 9: 1, 10: 8, 12: 8, 15: 4, 16: 2}
"""TensorType → bytes of an element."""
FLOAT32, INT32, INT64, INT16, INT8, INT4 = 0, 2, 4, 7, 9, 17
KINDS = {
    "BATCH_MATMUL": [126], "BROADCAST_TO": [69, 130], "BY_ROWS": [11, 25, 50], "CONCATENATION": [2], "CONV_2D": [3],
    "DEPTHWISE_CONV_2D": [4], "DEPTH_TO_SPACE": [5], "FULLY_CONNECTED": [9], "GATHER": [36], "PACK": [83],
    "PAD": [34, 60], "POOL": [1, 12, 17], "RECURRENT": [27, 44], "REDUCE": [40, 56, 74, 79, 81, 82, 89, 91, 140],
    "RESHAPE": [22, 43, 70], "RESIZE_BILINEAR": [23], "RESIZE_NEAREST_NEIGHBOR": [97], "REVERSE_V2": [105],
    "SLICE": [65], "SPACE_TO_DEPTH": [26], "SPLIT": [49], "SPLIT_V": [102], "STRIDED_SLICE": [45], "TRANSPOSE": [39],
    "TRANSPOSE_CONV": [67], "UNPACK": [88],
    "ELEMENTS": [
        0, 6, 8, 14, 18, 19, 20, 21, 28, 41, 42, 47, 53, 54, 55, 57, 58, 59, 61, 62, 63, 64, 66, 71, 72, 73, 75, 76, 78,
        84, 86, 87, 90, 92, 95, 98, 99, 101, 104, 106, 108, 111, 114, 116, 117, 123, 150, 152, 158,
    ],
}  # fmt: skip
"""What is alike → values of BuiltinOperator: SOFTMAX goes BY_ROWS, of single ELEMENTS are ADD, RELU and QUANTIZE."""
NAMES = {code: kind for kind, codes in KINDS.items() for code in codes}
STATEFUL = {31: "CALL", 118: "IF", 119: "WHILE", 129: "CALL_ONCE", 142: "VAR_HANDLE", 143: "READ_VARIABLE",
            144: "ASSIGN_VARIABLE"}  # fmt: skip
ADD, L2_POOL, MUL, SVDF, CUSTOM, MEAN, LSTM, ARG_MAX, SUM, SHAPE, ARG_MIN, RANK = (
    0, 12, 18, 27, 32, 40, 44, 56, 74, 77, 79, 110)  # fmt: skip
RANDOM = (CUSTOM, 146, 148, 149)
"""What makes no constants of constants: RANDOM_STANDARD_NORMAL, MULTINOMIAL, ..., and CUSTOM, but for TFLM_DECODE."""


class Wrong(Exception):
    """The plan is wrong."""


class NotCovered(Exception):
    """Nothing here can tell."""


def demand(condition, message):
    """Say what is wrong unless a condition holds."""
    if not condition:
        raise Wrong(message)


def merge(into, turns):
    """Keep the later turn of each element."""
    for element, turn in turns.items():
        into[element] = max(turn, into.get(element, turn))


class Fuel:
    """Work that is left, about a unit for each byte read or replayed: files can be made to take forever."""

    MOST, MOST_HELD = 200_000_000, 2_000_000
    left = MOST

    @classmethod
    def spend(cls, units):
        """Count work before it is done."""
        cls.left -= units
        if cls.left < 0:
            raise NotCovered("what takes more work than anything that was tried with this program")

    @classmethod
    def hold(cls, entries):
        """Count the entries of a table before it is made: of memory there is less than of time."""
        cls.spend(entries if entries <= cls.MOST_HELD else cls.MOST + 1)


class Table:
    """A table of the file, which begins at byte `at`."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.slots = at - self.unpack("i", at)[0]
        self.end = self.unpack("H", self.slots)[0]

    def unpack(self, kind, at, number=1):
        """Return numbers of a kind, as `struct` names it, that begin at a byte of the file; of "s", one, of bytes."""
        Fuel.spend(number)
        demand(0 <= at <= len(self.data) - number * struct.calcsize(f"<{kind}"), "the model file is damaged")
        return [*struct.unpack_from(f"<{number}{kind}", self.data, at)]

    def inline(self):
        """Return the bytes of the table itself, without what it refers to."""
        size = self.unpack("H", self.slots + 2)[0]
        return self.data[self.slots : self.slots + self.end] + self.data[self.at + 4 : self.at + size]

    def field(self, slot, kind, default=None):
        """Return a field: a number of this kind, a list of such ("[i]"), a table ("T"), or a list of tables ("[T]")."""
        at = 4 + 2 * slot
        offset = self.unpack("H", self.slots + at)[0] if at < self.end else 0
        if offset == 0:
            return [] if kind[0] == "[" else default
        at = self.at + offset
        if kind[0] not in "[T":
            return self.unpack(kind, at)[0]
        at += self.unpack("I", at)[0]
        if kind == "T":
            return Table(self.data, at)
        number = self.unpack("I", at)[0]
        if kind != "[T]":
            return self.unpack(kind[1], at + 4, number)
        offsets = self.unpack("I", at + 4, number)
        return [Table(self.data, at + 4 + 4 * i + offset) for i, offset in enumerate(offsets)]


class Tensor:
    """A tensor; `data` are the bytes of a constant."""

    def __init__(self, table, buffers):
        self.shape = table.field(0, "[i]")
        demand(len(self.shape) <= 16, "a tensor has more than 16 dimensions")
        demand(all(n >= 0 for n in self.shape), "the model file is damaged")
        self.type = table.field(1, "b", 0)
        self.width = WIDTHS.get(self.type, 0)
        self.elements, self.channels = prod(self.shape), prod(self.shape[-1:])
        self.is_variable = table.field(5, "?", False)
        index = table.field(2, "I", 0)
        demand(index == 0 or index < len(buffers), "the model file is damaged")
        self.data = b"".join(buffers[index].field(0, "[s]")) if index else b""
        kind = {INT32: "<i", INT64: "<q"}.get(self.type)
        self.integers = [n for (n,) in struct.iter_unpack(kind, self.data)] if kind else []
        quantization = table.field(4, "T")
        scales = quantization.field(2, "[f]") if quantization else []
        zeros = quantization.field(3, "[q]") if quantization else []
        self.kind = self.type, self.shape, scales, zeros
        self.meaning = self.type, [n for n in self.shape if n != 1], scales, [n for n in zeros if n]


class Operator:
    """An operator; an input that it leaves out is -1."""

    def __init__(self, table, codes, number):
        self.number, code = number, codes[table.field(0, "I", 0)]
        self.code = max(code.field(0, "b", 0), code.field(3, "i", 0))  # older files have it in one byte
        self.kind = NAMES.get(self.code, "OTHER")
        self.custom = b"".join(code.field(1, "[s]"))
        is_other = self.code in STATEFUL or self.code in RANDOM
        self.is_function = not is_other or self.custom == b"TFLM_DECODE"  # its outputs follow from its inputs
        self.inputs, self.outputs = table.field(1, "[i]"), table.field(2, "[i]")
        self.options = table.field(4, "T")

    def option(self, slot, kind="i", default=0):
        """Return a field of its options; slots are those of the schema of TensorFlow Lite."""
        return self.options.field(slot, kind, default) if self.options else default


class Model:
    """The main graph of a file; its tensors and operators are numbered as there."""

    def __init__(self, data):
        Fuel.left = Fuel.MOST
        root = Table(data, struct.unpack_from("<I", data)[0])
        codes, (graph, *_), buffers = (root.field(slot, "[T]") for slot in (1, 2, 4))
        self.tensors = [Tensor(table, buffers) for table in graph.field(0, "[T]")]
        self.inputs, self.outputs = graph.field(1, "[i]"), graph.field(2, "[i]")
        self.operators = [Operator(table, codes, number) for number, table in enumerate(graph.field(3, "[T]"))]
        self.producer = {t: (op, k) for op in self.operators for k, t in enumerate(op.outputs)}
        self.variables = {t for t, tensor in enumerate(self.tensors) if tensor.is_variable}
        self.constants = {t for t, tensor in enumerate(self.tensors) if tensor.data}
        for op in self.operators:  # what follows from constants and shapes only is known when the firmware is built
            is_known = op.code in (SHAPE, RANK) or self.constants >= {*op.inputs} - {-1}
            if op.is_function and is_known:
                self.constants.update(op.outputs)
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
            inputs = sorted(inputs) if op.code in (ADD, MUL) else inputs
            options, kinds = op.options and op.options.inline(), [self.tensors[t].kind for t in op.outputs]
            key = repr((op.code, options, inputs, kinds))
            for t, before in zip(op.outputs, first.setdefault(key, op.outputs), strict=True):
                same[t] = same[before]
        return same
