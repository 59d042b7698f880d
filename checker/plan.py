"""The plan: where tensors lie, and which elements of them an operator of the plan needs."""

from collections import defaultdict, namedtuple
from copy import copy
from functools import cache

from checker.definitions import Definition, element_at, place_in
from checker.model import STATEFUL, Fuel, NotCovered, demand, merge

FIELDS = "name pool offset size intervals models kind alignment line reason rows"


class Buffer(namedtuple("Buffer", FIELDS, defaults=[0])):
    """Bytes of a pool that hold data within half-open intervals of steps; a cache line has `line` bytes, or is none.

    Of what is in rows, `rows` says how many there are; buffers with higher numbers are places to which rows move.
    """

    @property
    def end(self):
        """Where it ends, with all of its last cache line."""
        return self.offset + self.size + -self.size % (self.line or 1)

    def places(self):
        """Return the places of its bytes: (pool, offset)."""
        Fuel.hold(self.size)
        return [(self.pool, at) for at in range(self.offset, self.offset + self.size)]

    def is_alive(self, step):
        """Tell whether it holds data in a step."""
        Fuel.spend(len(self.intervals))
        return any(start <= step < stop for start, stop in self.intervals)


def flat_buffers(plan):
    """Yield every buffer, and each row of what is in rows as one, and each place that a row moves to."""
    for b in plan["buffers"]:
        others = [b["model"], *b["shared_with"]], b["kind"], b["alignment"], b["cache_line"], b["reason"]
        if "offsets" not in b:
            yield Buffer(b["name"], b["pool"], b["offset"], b["size"], b["intervals"], *others)
            continue
        rows = len(b["offsets"]) - len(b.get("moved", []))
        demand(rows > 0, f'"{b["name"]}" has no rows')
        demand(len(b["intervals"]) == len(b["offsets"]), f'"{b["name"]}" has not one interval for each offset')
        for at, offset in enumerate(b["offsets"]):
            pool = b["pool"] if isinstance(b["pool"], str) else b["pool"][at]
            yield Buffer(f"{b['name']}[{at}]", pool, offset, b["row_size"], [b["intervals"][at]], *others, rows)


def number_of(record):
    """Return the number that an operator of the plan has in the file; that of a copy is too high for one."""
    return record["operator"] if record["strip_of"] is None else record["strip_of"]


class PlannedModel:
    """A model as the plan has it: its file, its operators, and where its tensors lie.

    The plan has the tensors of the file by their numbers, and copies and strips of them by higher ones; `value` has for
    each the one of the file.  `channels` are those along the last axis that a tensor still has, if others are constant,
    and `columns` those that a strip has; `axes` says which axis of the file each one is, if they have another order.
    Each `lengths[t]` elements of tensor t lie in one of `parts[t]`, which are (pool, offset, buffer), in turn.  An
    array of the application is a pool of its own, without a buffer.
    """

    def __init__(self, record, file, buffers):
        self.name, self.file, self.record, self.buffers = record["name"], file, record, buffers
        self.operators = {op["operator"]: op for op in record["operators"]}
        is_once = len(self.operators) == len(record["operators"]) and min(self.operators) >= 0
        demand(is_once, f"{self.name}: an operator is there twice, or has no number")
        self.backward, self.value = {*record["backward"]}, self._values()
        computing = [op for op in self.operators.values() if number_of(op) < len(file.operators)]
        if any(file.operators[number_of(op)].code in STATEFUL for op in computing):
            raise NotCovered(f"{self.name}: control flow, or variables that are resources")
        self.written = {self.value[t] for op in computing for t in op["writes"]} | {*file.inputs} | file.variables
        self.definition = cache(lambda op, k: Definition(file, op, k))
        self.unchanged, self.connected = set(), {}
        self.arriving, self.leaving = self._by_rows("inputs", file.inputs), self._by_rows("outputs", file.outputs)
        self.named = {each["buffer"] for each in record["tensors"]}
        self.tensor = {t: file.tensors[value] for t, value in self.value.items()}
        self.channels, self.axes, self.columns, self.pixel, self.elements = {}, {}, {}, {}, {}
        self.parts, self.lengths = {}, {}
        for each in record["tensors"]:
            self._place(each)
        for t in {*file.inputs, *file.outputs} - file.constants:
            demand(t in self.parts, f"{self.name}: tensor {t}, an input or output, has no place")

    def _values(self):
        """Return {tensor of the plan: tensor of the file that has its values}: copies are followed, both ways."""
        value = {t: t for t in range(len(self.file.tensors))}
        strips = {each["tensor"]: each["strip_of"] for each in self.record["tensors"] if each["strip_of"] is not None}
        are_of_file = {*strips.values()} <= value.keys() and not strips.keys() & value.keys()
        demand(are_of_file, f"{self.name}: a strip is in the file, or of no tensor of it")
        value |= strips
        copies = [op for op in self.operators.values() if number_of(op) >= len(self.file.operators)]
        copies = [op for op in copies if not {*op["reads"], *op["writes"]} <= value.keys()]  # others are of strips
        for op in (*copies, *reversed(copies)):  # an end of a chain of copies is a tensor that the file has
            if not op["reads"]:
                raise NotCovered(f"{self.name}: copy {op['operator']} of a constant")
            (source,), (copy,) = op["reads"], op["writes"]
            if source in value or copy in value:
                value.setdefault(source, value.get(copy))
                value.setdefault(copy, value[source])
        for op in copies:
            demand(op["reads"][0] in value, f"{self.name}: copy {op['operator']} has no tensor of the file")
        return value

    def _by_rows(self, side, ports):
        """Return the inputs, or outputs, that arrive or leave row by row: at most the largest one."""
        names, rows = self.record[side], self.record[f"{side}_by_rows"]
        are_named = len(names) == len(ports) and len({*names}) == len(names)
        demand(are_named, f"{self.name}: the file has {len(ports)} {side}, the plan names {len(names)}")
        if not rows:
            return set()
        largest = max(ports, key=lambda t: self.file.tensors[t].elements * self.file.tensors[t].width, default=None)
        is_largest = largest is not None and rows == [names[ports.index(largest)]]
        demand(is_largest, f"{self.name}: of the {side}, only the largest may be by rows")
        return {largest}

    def _place(self, each):
        """Note where a tensor lies, and what it has."""
        t, offset, pitch = each["tensor"], each["offset"], each["pitch"]
        what, ports = f"{self.name}: tensor {t}", (*self.file.inputs, *self.file.outputs)
        if t not in self.value:
            raise NotCovered(f"{what} is neither in the file nor a copy of one that is")
        demand(t not in self.parts, f"{what} has two places")
        width, elements = self.tensor[t].width, self._count(t, each, what)
        if not width:
            raise NotCovered(f"{what} has elements of no whole number of bytes")
        if not each["buffer"]:
            demand(offset == 0 and pitch == 0, f"{what} has an array of the caller, but not from its beginning")
            shown = self.origin(self.value[t], 0)
            is_port = any(self.origin(port, 0) == shown for port in ports)
            demand(is_port, f"{what} is in an array of the caller, who has none for it")
            self.parts[t], self.lengths[t] = [(f"caller's {self.name} {shown}", 0, None)], elements
            return
        first, *more = rows = self._rows(each["buffer"], what)
        is_aligned = all(n % width == 0 for n in (offset, pitch, *(row.alignment for row in rows)))
        demand(is_aligned, f"{what} is not aligned to its elements")
        if more:
            length = elements // len(rows)
            fits = length * len(rows) == elements and offset == 0 and all(length * width <= row.size for row in rows)
            demand(fits, f"{what} does not fit into its rows")
            self.parts[t], self.lengths[t] = [(row.pool, row.offset, row) for row in rows], length
            return
        length = self.pixel[t] if pitch else elements
        number = elements // max(1, length)
        last = offset + (number - 1) * pitch + length * width
        fits = offset >= 0 and last <= first.size and (pitch == 0 or pitch >= length * width)
        demand(fits, f'{what} ends {last} bytes into "{first.name}", which has {first.size}')
        Fuel.spend(number)
        start = first.offset + offset
        self.parts[t], self.lengths[t] = [(first.pool, start + i * pitch, first) for i in range(number)], length

    def _count(self, t, each, what):
        """Note which channels, axes and columns a tensor has; return how many elements."""
        tensor, left, columns = self.tensor[t], each["channels"], each["columns"]
        are_there = left == sorted(c for c in {*left} if c in range(tensor.channels))
        is_port = self.value[t] in (*self.file.inputs, *self.file.outputs)
        demand(are_there and not (left and is_port), f"{what} has no such channels")
        if each["axes"]:
            demand(not columns, f"{what} has other axes, and is a strip")
            tensor = self._move_axes(t, each["axes"], what)
        self.channels[t], self.pixel[t], self.columns[t] = left, len(left) or tensor.channels, range(*columns or (0,))
        self.elements[t] = tensor.elements // max(1, tensor.channels) * self.pixel[t]
        if columns:
            span, is_image = self.columns[t], len(tensor.shape) == 4 and t != self.value[t]
            demand(is_image and 0 <= span.start < span.stop <= tensor.shape[2], f"{what} has no such columns")
            self.elements[t] = self.elements[t] // tensor.shape[2] * len(span)
        return self.elements[t]

    def _move_axes(self, t, axes, what):
        """Give a tensor the shape that it has with its axes in another order, in which the last one is the last."""
        moved = self.tensor[t] = copy(self.tensor[t])
        are_all = sorted(axes) == [*range(len(moved.shape))] and axes[-1] == len(axes) - 1
        is_port = self.value[t] in (*self.file.inputs, *self.file.outputs) or self.value[t] in self.file.variables
        demand(are_all and not is_port, f"{what} has no such axes")
        self.axes[t] = axes, moved.shape
        moved.shape = [moved.shape[axis] for axis in axes]
        return moved

    def _rows(self, name, what):
        """Return the buffers that a tensor lies in: one, or rows "x[0]", "x[1]", ..., which no other tensor names."""
        first = self.buffers.get(name) or self.buffers.get(f"{name}[0]")
        demand(first, f'{what} is in "{name}", which is no buffer')
        rows, base = [first], first.name.removesuffix("[0]")
        if first.name == base:
            return rows
        while len(rows) != first.rows and (row := self.buffers.get(f"{base}[{len(rows)}]")):
            if row.kind != first.kind or row.name in self.named:
                break
            rows.append(row)
        Fuel.spend(len(rows))
        return rows

    def unchecked(self):
        """Yield what of this plan cannot be checked: it computes no values."""
        for t in sorted(t for t, left in self.channels.items() if 0 < len(left) < self.tensor[t].channels):
            yield f"{self.name}: that all channels of tensor {t} but {self.channels[t]} are constant"
        for number in sorted(self.unchanged):
            yield f"{self.name}: that operator {number} changes nothing"

    def shape(self, t):
        """Return the shape of a tensor of the plan, which may have some columns of one of the file."""
        span, shape = self.columns.get(t), self.tensor[t].shape
        return [*shape[:2], len(span), *shape[3:]] if span else shape

    def in_file(self, t, element):
        """Return the number that an element of a tensor of the plan has in the file."""
        left, span = self.channels[t], self.columns[t]
        if t in self.axes:
            axes, shape = self.axes[t]
            there = dict(zip(axes, place_in(element, self.tensor[t].shape), strict=True))
            return element_at([there[axis] for axis in range(len(axes))], shape)
        if not left and not span:
            return element
        pixel, channel = divmod(element, self.pixel[t])
        if span:
            row, column = divmod(pixel, len(span))
            pixel = row * self.tensor[t].shape[2] + span[column]
        return pixel * self.tensor[t].channels + (left[channel] if left else channel)

    def in_plan(self, t, turns):
        """Return {element: turn} with the numbers of the plan in place of those of the file, for elements it has."""
        left, span = self.channels.get(t), self.columns.get(t)
        if t in self.axes:
            axes, shape = self.axes[t]
            places = ((place_in(e, shape), turn) for e, turn in turns.items())
            return {element_at([place[axis] for axis in axes], self.tensor[t].shape): turn for place, turn in places}
        if not left and not span:
            return turns
        number = {channel: i for i, channel in enumerate(left or range(self.pixel[t]))}
        pairs = ((*divmod(e, self.tensor[t].channels), turn) for e, turn in turns.items())
        return {self._pixel(t, pixel) * len(number) + number[c]: turn for pixel, c, turn in pairs if c in number}

    def has_column(self, t, element):
        """Tell whether a tensor of the plan has the column of an element, which has the number of the file."""
        span = self.columns.get(t)
        return not span or element // self.tensor[t].channels % self.tensor[t].shape[2] in span

    def _pixel(self, t, pixel):
        """Return the number that a pixel of the file has in the plan, which must have it."""
        if not self.columns[t]:
            return pixel
        row, column = divmod(pixel, self.tensor[t].shape[2])
        demand(column in self.columns[t], f"{self.name}: tensor {t} has no column {column}, which is needed of it")
        return row * len(self.columns[t]) + column - self.columns[t].start

    def origin(self, t, element, deep=False):
        """Return the tensor and element that an element shows; None: a constant.

        What only moves it is followed, up to what a step wrote, and so are functions of one element that no step
        computes.  With `deep`, moves are followed through what steps wrote, too.
        """
        file = self.file
        while deep or t not in self.written:
            Fuel.spend(1)
            t = file.same[t] if deep else t
            if t in file.constants:
                return None
            op, k = file.producer.get(t, (None, 0))
            if op is None or op.code in STATEFUL:
                break
            definition, is_left_out = self.definition(op, k), op.kind == "ELEMENTS" and t not in self.written
            if not definition.moves and not is_left_out:
                break
            sources = [(op.inputs[i], e) for i, e in definition.needs(element) if op.inputs[i] not in file.constants]
            if not sources:
                return None
            if len(sources) > 1:
                break
            if is_left_out:
                self.unchanged.add(op.number)
            ((t, element),) = sources
        return t, element

    def last_reads(self, record, written):
        """Return {tensor that an operator of the plan reads: {element: turn of the last read}}.

        `written` is {tensor: {element: turn}}; here, elements have the numbers of the file.  The definitions of all
        operators of the file in between are applied, the last one first: its own, and what may be fused or left out.
        """
        file, reads, fused, is_applied = self.file, defaultdict(dict), [], False
        own = file.operators[number_of(record)]
        what = f"{self.name}: operator {own.number}"
        readable = {self.value[t]: t for t in record["reads"]}
        equal = {file.same[value]: t for value, t in readable.items()}
        pending = defaultdict(dict, written)
        while pending:
            demand(pending.keys() <= file.producer.keys(), f"{what} needs what nothing computes")
            t = max(pending, key=lambda t: file.producer[t][0].number)
            (op, k), turns = file.producer[t], pending.pop(t)
            definition = self.definition(op, k)
            if op is own:
                is_applied = True
            elif not definition.moves:
                is_single = len({*op.inputs} - {-1} - file.constants) < 2
                is_fused = op.kind == "ELEMENTS" and (own.kind == "ELEMENTS" or is_single)
                demand(is_fused, f"{what} would have to compute operator {op.number}, too")
                if is_applied:
                    fused.append(op.number)
            for t, last in zip(op.inputs, definition.last_reads(turns), strict=True):
                if not last or t in file.constants:
                    continue
                if t in pending or (file.same[t] not in equal and t not in self.written):
                    merge(pending[t], last)
                elif file.same[t] in equal:
                    merge(reads[readable.get(t, equal[file.same[t]])], last)
                else:
                    indirect = sorted(readable.items(), key=lambda pair: pair[0] in own.inputs)
                    self._read_elsewhere(what, t, last, indirect, reads)
        demand(is_applied, f"{what} writes what it does not compute")
        if own.kind != "ELEMENTS" or len(reads) > 1:  # else they are one look-up
            self.unchanged.update(fused)
        return reads

    def _read_elsewhere(self, what, t, turns, readable, reads):
        """Read elements from another tensor that shows the same ones: the first one of `readable`."""
        shown = {}
        for value, other in readable:
            for element in range(self.file.tensors[value].elements):
                shown.setdefault(self.origin(value, element, deep=True), (other, element))
        for element, turn in turns.items():
            origin = self.origin(t, element, deep=True)
            if origin is not None:
                demand(origin in shown, f"{what} needs tensor {t}, which the plan does not let it read")
                other, at = shown[origin]
                merge(reads[other], {at: turn})
