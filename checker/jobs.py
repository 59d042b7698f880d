"""A job is an operator at work, or one row of it: what its kernel is believed to read and write in which turn."""

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, groupby
from math import inf, prod
from types import SimpleNamespace

from checker.definitions import BLOCKS
from checker.model import FLOAT32, INT4, INT8, INT16, LSTM, MEAN, SUM, Fuel, demand
from checker.plan import number_of

COPY = SimpleNamespace(kind="COPY", code=None, custom=b"")
"""In place of an operator of the file."""
LANES = 4
"""Output channels that kernels of sums compute at once."""
SUMS = ("CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL", "DEPTHWISE_CONV_2D")


def share(row, rows, elements):
    """Return the numbers of the elements that a row has, as one of `rows`."""
    return range(row * elements // rows, (row + 1) * elements // rows)


def slices(shape):
    """Return how many slices a tensor has: along its first axis that is longer than 1, but for the last."""
    return next((size for size in shape[:-1] if size > 1), 1)


class Job:
    """What an operator of a model does in one step, which `what` names.

    `done` are its rows since the model was entered, this one last, and `rows` is how many it has; None and 0: it runs
    as a whole.  An operator whose output has fewer rows adds up those of its input, in scratch.
    """

    def __init__(self, model, record, done, rows, what):
        self.model, self.record, self.row, self.rows, self.what = model, record, done[-1], rows, what
        number, operators = number_of(record), model.file.operators
        self.is_copy, self.is_backward = number >= len(operators), record["operator"] in model.backward
        self.operator = COPY if self.is_copy else operators[number]
        self.definition = None if self.is_copy else model.definition(self.operator, 0)
        self.kind, self.is_lstm = self.operator.kind, self.operator.code == LSTM
        demand(not (self.is_backward and self.is_lstm), f"{what} runs its steps backward")
        has_places = len(record["writes"]) > 0 and model.parts.keys() >= {*record["writes"]}
        demand(has_places, f"{what} writes nothing, or what has no place")
        out = record["writes"][0]
        shape, self.elements = model.shape(out), model.elements[out]
        height = prod(shape[:-1]) if self.kind == "FULLY_CONNECTED" else slices(shape)
        heights = {slices(model.shape(t)) for t in record["reads"]}
        is_one_row = prod(shape[-3:-2]) == 1 and rows in heights  # what has other slices now: pixels
        self.adds_up = bool(rows and record["scratch"] and (height != rows or is_one_row))
        is_whole = self.adds_up or rows in (0, height)
        demand(is_whole, f"{what} is one of {rows} rows, and the output has {height}")
        demand(self.row in (range(rows) if rows else [None]), f"{what} is no row of it")
        Fuel.spend(len(done))
        self.is_first, self.is_last = len(done) == 1, not self.adds_up or len({*done}) == rows
        if self.adds_up:
            demand(rows in heights and len({*done}) == len(done), f"{what} does not add up each row once")
        self.sums = self._sums_at_once()
        demand(self._follows_axes(), f"{what} does not know of axes in another order")

    def _follows_axes(self):
        """Tell whether a kernel is right that knows nothing of axes, unless it does, or none have another order."""
        model, touched = self.model, {*self.record["reads"], *self.record["writes"]}
        if self.kind == "BATCH_MATMUL" or not touched & model.axes.keys():
            return True
        if self.kind == "ELEMENTS":  # it makes each element of those with its number
            reads = self.reads(self.turns(lambda _, e: e)).items()
            alike = [turns for t, turns in reads if model.elements[t] == self.elements]
            return all(abs(turn) == e for turns in alike for e, turn in turns.items())
        orders = {repr(model.axes.get(t)) for t in touched if model.elements.get(t) == self.elements}
        return (self.is_copy or self.kind == "BY_ROWS") and len(orders) == 1

    def _sums_at_once(self):
        """Return how many sums scratch holds at a time: of all elements, or of a reduction those of an image."""
        if self.kind != "REDUCE":
            return self.elements if self.adds_up else 0
        axes, source = self.definition.reduced, self.definition.ins[0].shape
        long_axes = [axis for axis, n in enumerate(source) if n > 1]
        runs = [is_added for is_added, _ in groupby(axis in axes for axis in long_axes)]
        is_innermost = runs[-1:] == [True]  # each sum is complete before the next one begins: it needs no scratch
        adds_images = self.operator.code in (MEAN, SUM) and runs.count(True) < 2 and not is_innermost
        if not self.adds_up and not adds_images:
            return 0
        first = min((axis for axis in long_axes if axis in axes), default=len(source) - 1)
        return self.elements // max(1, prod(source[:first]))

    def scratch(self):
        """Return (bytes, alignment) of each scratch buffer that the kernel needs."""
        of = self.definition
        if self.sums:
            is_wide = of.out.type == INT16 and self.kind in ("CONV_2D", "DEPTHWISE_CONV_2D")
            return [(8 * self.sums, 8)] if is_wide else [(4 * self.sums, 4)]
        if self.quantized_parts and self.is_lstm:  # what a step takes, and what the step before left
            return [(of.ins[0].channels + of.out.channels, 1)]
        if self.quantized_parts:
            position = 2 if self.kind == "TRANSPOSE_CONV" else 0
            return [(of.ins[position].elements // self.quantized_parts, 1)]
        if self.operator.custom == b"TFLite_Detection_PostProcess":
            boxes = of.ins[1].shape[1]
            return [(16 * boxes, 4), (4 * boxes, 4), (boxes, 1)]
        return []

    @cached_property
    def quantized_parts(self):
        """How often it quantizes a part of an input of floats, for weights of integers, and then writes its output."""
        if self.kind not in SUMS and not self.is_lstm:
            return 0
        out, position = self.definition.out, 2 if self.is_lstm else 1
        if out.type != FLOAT32 or self.definition.ins[position].type not in (INT8, INT4):
            return 0
        is_by_rows = self.is_lstm or self.kind == "FULLY_CONNECTED"
        return out.elements // out.channels if is_by_rows else out.shape[0]

    def turns(self, turn):
        """Return {tensor: {element: turn}} of what it writes, given a function; backward, turns descend from 0."""
        before, found = 0, {}
        for t in self.record["writes"]:  # one after the other
            elements = self.model.elements[t]
            Fuel.hold(elements)
            numbers = share(self.row, self.rows, elements) if self.rows and not self.adds_up else range(elements)
            forward = {e: before + turn(t, e) for e in numbers}
            found[t] = {e: -turn for e, turn in forward.items()} if self.is_backward else forward
            before += elements
        return found

    def reads(self, writes):
        """Return {tensor: {element: turn in which it is read for the last time}}."""
        model, begins = self.model, writes
        if self.is_copy:
            return self._copied(*writes.items())
        if self.sums and not self.adds_up:  # it adds up an image, then writes its output
            last = self.sums - 1 if self.is_backward else 0
            begins = self.turns(lambda _, e: e // self.sums * self.sums + last)
        in_file = {}
        for t, turns in begins.items():
            in_file[model.value[t]] = {model.in_file(t, e): turn for e, turn in turns.items()}
        reads = {t: model.in_plan(t, last) for t, last in model.last_reads(self.record, in_file).items()}
        if self.adds_up:  # all of a row is read before anything is written
            parts = {t: share(self.row, self.rows, model.elements[t]) for t in reads}
            reads = {t: {e: -inf for e in last if e in parts[t]} for t, last in reads.items()}
        return reads

    def _copied(self, written):
        """Return what a copy reads: the same elements, each of the tensor that has its column."""
        model, (copy, turns) = self.model, written
        pairs = [(model.in_file(copy, e), turn) for e, turn in turns.items()]
        sources = {t: {e: turn for e, turn in pairs if model.has_column(t, e)} for t in self.record["reads"]}
        return {t: model.in_plan(t, of_source) for t, of_source in sources.items()}

    def turn(self, t, e):
        """Return the turn in which an element of a tensor is written by a kernel that runs forward."""
        of, kind, shape, pixel = self.definition, self.kind, self.model.tensor[t].shape, self.model.pixel[t]
        if self.adds_up or self.is_copy:
            return self._turn_of_copy(t, e) if self.is_copy else e
        if kind == "RESHAPE":
            return 0
        if kind in ("SLICE", "STRIDED_SLICE") and not self.model.channels[t]:
            return e // of.slice_block
        if self.record["scratch"] and self.quantized_parts:
            return e // (self.model.elements[t] // self.quantized_parts)
        if kind == "RECURRENT":  # an LSTM reads a step for each unit; an SVDF takes in all of a batch first
            return e if self.is_lstm else e // pixel
        if kind in BLOCKS:
            block = e // (of.out.elements // of.blocks)
            return self._part(t, e) * of.out.elements + block if kind in ("CONCATENATION", "PACK") else block
        if kind == "PAD":  # lines along the last axis with padding
            axis = max((i // 2 for i, padding in enumerate(of.constant(1)) if padding), default=0)
            return e // (prod(shape[axis:-1]) * pixel)
        multiplier = shape[3] // of.ins[0].shape[3] if kind == "DEPTHWISE_CONV_2D" else 1
        if multiplier > 1:
            return e // LANES if multiplier % LANES == 0 else e
        if kind in SUMS:
            group = pixel // of.sections if kind == "CONV_2D" else pixel
            return e // group * group + e % group // LANES
        return e

    def _turn_of_copy(self, t, e):
        """Return the turn of an element: each row of a strip is one, and all of them are before those of the next."""
        model, sources = self.model, self.record["reads"]
        if len(sources) == 1 and not model.columns[t]:
            return e
        row, place = divmod(e, self.elements // max(1, prod(model.tensor[t].shape[:2])))
        column = place // model.pixel[t]
        part = sum(model.columns[source].stop <= column for source in sources) if len(sources) > 1 else 0
        return part * prod(model.tensor[t].shape[:2]) + row

    def _part(self, t, e):
        """Return which input an element of a concatenation is from; the plan may have joined some before."""
        number = self.definition.needs(self.model.in_file(t, e))[0][0]
        stops = [*accumulate(self.model.tensor[source].elements for source in self.record["reads"])]
        if stops[-1:] != [self.definition.out.elements]:
            return number
        return bisect_right(stops, sum(tensor.elements for tensor in self.definition.ins[:number]))
