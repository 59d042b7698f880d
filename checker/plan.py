"""The plan, read: where tensors are, and what its operators need."""

from bisect import bisect_right
from collections import namedtuple

from checker.definitions import Definition
from checker.model import STATEFUL, Fuel, NotCovered, demand

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
