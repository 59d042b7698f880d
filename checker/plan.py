"""The plan: where tensors lie, and which elements of them an operator of the plan needs."""

from collections import namedtuple
from functools import cache
from itertools import islice

from checker.definitions import Definition
from checker.model import STATEFUL, Fuel, NotCovered, demand


class Buffer(namedtuple("Buffer", "name pool offset size intervals models kind alignment line reason")):
    """Bytes of a pool that hold data within half-open intervals of steps; a cache line has `line` bytes, or is none."""

    @property
    def end(self):
        """Where it ends, with all of its last cache line."""
        rest = -self.size % (self.line or 1)
        return self.offset + self.size + rest


def flat_buffers(plan):
    """Yield every buffer, and each row of what is in rows as one."""
    for b in plan["buffers"]:
        others = [b["model"], *b["shared_with"]], b["kind"], b["alignment"], b["cache_line"], b["reason"]
        if "offsets" not in b:
            yield Buffer(b["name"], b["pool"], b["offset"], b["size"], b["intervals"], *others)
            continue
        intervals = iter(b["intervals"])
        for row, offset in enumerate(b["offsets"]):
            pool = b["pool"] if isinstance(b["pool"], str) else b["pool"][row]
            number = b["lives"][row] if b["lives"] else 1
            own = [*islice(intervals, number)]
            yield Buffer(f"{b['name']}[{row}]", pool, offset, b["row_size"], own, *others)


class PlannedModel:
    """A model as the plan has it: its file, its operators, and where its tensors lie.

    The plan has the tensors of the file by their numbers, and copies of them by higher ones; `value` has for each the
    one of the file.  `channels` are those along the last axis that a tensor still has, if others are constant.  Each
    `lengths[t]` elements of tensor t lie in one of `parts[t]`, which are (pool, offset, buffer), in turn.  An array of
    the application is a pool of its own, without a buffer.
    """

    def __init__(self, record, file, buffers):
        self.name, self.file, self.record = record["name"], file, record
        self.operators = {op["operator"]: op for op in record["operators"]}
        self.backward, self.value = {*record["backward"]}, self._values()
        computing = [op for number, op in self.operators.items() if number < len(file.operators)]
        if any(file.operators[op["operator"]].code in STATEFUL for op in computing):
            raise NotCovered(f"{self.name}: control flow, or variables that are resources")
        self.written = {self.value[t] for op in computing for t in op["writes"]} | {*file.inputs} | file.variables
        self.definition = cache(lambda op, k: Definition(file, op, k))
        self.unchanged, self.connected = set(), {}
        self.arriving, self.leaving = self._by_rows("inputs", file.inputs), self._by_rows("outputs", file.outputs)
        self.channels, self.parts, self.lengths = {}, {}, {}
        for each in record["tensors"]:
            t, left = each["tensor"], each["channels"]
            if t not in self.value:
                raise NotCovered(f"{self.name}: tensor {t} is neither in the file nor a copy of one that is")
            are_there = left == sorted(c for c in {*left} if c in range(self.tensor(t).channels))
            is_port = self.value[t] in (*file.inputs, *file.outputs)
            demand(are_there and not (left and is_port), f"{self.name}: tensor {t} has no such channels")
            self.channels[t] = left
            self.parts[t], length = self._parts(each, f"{self.name}: tensor {t}", buffers)
            self.lengths[t] = max(1, length)
        for t in {*file.inputs, *file.outputs} - file.constants:
            demand(t in self.parts, f"{self.name}: tensor {t}, an input or output, has no place")

    def _values(self):
        """Return {tensor of the plan: tensor of the file that has its values}: copies are followed, both ways."""
        value = {t: t for t in range(len(self.file.tensors))}
        copies = [op for number, op in self.operators.items() if number >= len(self.file.operators)]
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
        largest = max(ports, key=lambda t: self.file.tensors[t].elements * self.file.tensors[t].width, default=None)
        is_largest = not rows or rows == [names[ports.index(largest)]]
        demand(is_largest, f"{self.name}: of the {side}, only the largest may be by rows")
        return {largest} if rows else set()

    def tensor(self, t):
        """Return the tensor of the file that has the shape and the type of one of the plan."""
        return self.file.tensors[self.value[t]]

    def pixel(self, t):
        """Return how many elements a tensor of the plan has along its last axis."""
        return len(self.channels[t]) or self.tensor(t).channels

    def elements(self, t):
        """Return how many elements a tensor of the plan has."""
        return self.tensor(t).elements // max(1, self.tensor(t).channels) * self.pixel(t)

    def _parts(self, each, what, buffers):
        """Return the parts of a tensor, and their length: an array of the caller, a buffer, rows, pixels with gaps."""
        t, name, offset, pitch = each["tensor"], each["buffer"], each["offset"], each["pitch"]
        width, elements = self.tensor(t).width, self.elements(t)
        if not width:
            raise NotCovered(f"{what} has elements of no whole number of bytes")
        if not name:
            demand(offset == 0 and pitch == 0, f"{what} has an array of the caller, but not from its beginning")
            shown = self.origin(self.value[t], 0)
            is_port = any(self.origin(port, 0) == shown for port in (*self.file.inputs, *self.file.outputs))
            demand(is_port, f"{what} is in an array of the caller, who has none for it")
            return [(f"caller's {self.name} {shown}", 0, None)], elements
        rows = self._rows(name, elements * width, buffers)
        demand(rows, f'{what} is in "{name}", which is no buffer')
        is_aligned = offset % width == 0 and all(row.alignment % width == 0 for row in rows)
        demand(is_aligned, f"{what} is not aligned to its elements")
        if len(rows) > 1:
            part = elements // len(rows)
            fits = part * len(rows) == elements and offset == 0 and all(part * width <= row.size for row in rows)
            demand(fits, f"{what} does not fit into its rows")
            return [(row.pool, row.offset, row) for row in rows], part
        (buffer,) = rows
        pixel = self.pixel(t) if pitch else elements
        pixels = elements // max(1, pixel)
        last = offset + (pixels - 1) * pitch + pixel * width
        fits = offset >= 0 and last <= buffer.size and (pitch == 0 or pitch >= pixel * width)
        demand(fits, f'{what} ends {last} bytes into "{name}", which has {buffer.size}')
        Fuel.spend(pixels)
        first = buffer.offset + offset
        return [(buffer.pool, first + i * pitch, buffer) for i in range(pixels)], pixel

    def _rows(self, name, size, buffers):
        """Return the buffers that a tensor lies in: one, or rows, which have the name of all, or of the first."""
        base, rows = name.removesuffix("[0]"), []
        while f"{base}[{len(rows)}]" in buffers:
            rows.append(buffers[f"{base}[{len(rows)}]"])
        Fuel.spend(len(rows))
        is_one = name in buffers and (name == base or len(rows) < 2 or buffers[name].size == size)
        return [buffers[name]] if is_one else rows

    def in_file(self, t, element):
        """Return the number that an element of a tensor of the plan has in the file."""
        left = self.channels[t]
        pixel, channel = divmod(element, max(1, len(left)))
        return pixel * self.tensor(t).channels + left[channel] if left else element

    def in_plan(self, t, turns):
        """Return {element: turn} with the numbers of the plan in place of those of the file, for elements it has."""
        left = self.channels.get(t)
        if not left:
            return turns
        number = {channel: i for i, channel in enumerate(left)}
        pairs = ((*divmod(e, self.tensor(t).channels), turn) for e, turn in turns.items())
        return {pixel * len(left) + number[c]: turn for pixel, c, turn in pairs if c in number}

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
        file, reads, fused, is_applied = self.file, {}, [], False
        own = file.operators[record["operator"]]
        what = f"{self.name}: operator {own.number}"
        readable = {self.value[t]: t for t in record["reads"]}
        equal = {file.same[value]: t for value, t in readable.items()}
        pending = {t: dict(turns) for t, turns in written.items()}
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
                if t not in pending and file.same[t] in equal:
                    merge(reads.setdefault(readable.get(t, equal[file.same[t]]), {}), last)
                elif t not in pending and t in self.written:
                    self._read_elsewhere(what, t, last, readable, reads)
                else:
                    merge(pending.setdefault(t, {}), last)
        demand(is_applied, f"{what} writes what it does not compute")
        if own.kind != "ELEMENTS" or len(reads) > 1:  # else they are one look-up
            self.unchanged.update(fused)
        return reads

    def _read_elsewhere(self, what, t, turns, readable, reads):
        """Read elements from another tensor that shows the same ones."""
        shown = {}
        for value, other in readable.items():
            for element in range(self.file.tensors[value].elements):
                shown.setdefault(self.origin(value, element, deep=True), (other, element))
        for element, turn in turns.items():
            origin = self.origin(t, element, deep=True)
            if origin is not None:
                demand(origin in shown, f"{what} needs tensor {t}, which the plan does not let it read")
                other, at = shown[origin]
                merge(reads.setdefault(other, {}), {at: turn})


def merge(into, turns):
    """Keep the later turn of each element."""
    for element, turn in turns.items():
        into[element] = max(turn, into.get(element, turn))
