"""The replay of a plan, byte by byte."""

from bisect import bisect_left, bisect_right
from itertools import accumulate, count, groupby
from math import prod

from checker.definitions import BLOCKS, LANES, SUMS
from checker.model import STATEFUL, Fuel, NotCovered, Wrong, demand
from checker.plan import Planned, flat_buffers, merge

KINDS = ("scratch", "variable", "connection", "input", "output", "intermediate")


class Replay:
    def __init__(self, plan, models):
        self.plan = plan
        self.buffers = {b.name: b for b in flat_buffers(plan)}
        demand(len(self.buffers) == sum(1 for _ in flat_buffers(plan)), "two buffers have one name")
        self.models = [Planned(record, model, self.buffers) for record, model in zip(plan["models"], models)]
        self.connect()
        self.arenas, self.marks, self.numbers = {}, {}, count(1)
        self.step, self.seen, steps = 0, {}, [step["text"] for step in plan["steps"]]
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
        return f'step {self.step}, "{self.plan["steps"][self.step]["text"]}",'

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
        is_entered = first < len(steps) and (steps[first]["model"], steps[first]["kind"]) == (model.name, "enter")
        demand(is_entered, f"{model.name} is not entered")
        for self.step in range(first + 1, len(steps)):
            step = steps[self.step]
            kind, operator, row = step["kind"], step["operator"], step["row"]
            demand(step["model"] == model.name, f"{self.here()} comes before {model.name} has left")
            if kind == "leave":
                return jobs, self.step
            demand(row is None or row >= 0, f"{self.here()} has no such row")
            if kind == "arrival":
                jobs.append((self.step, None, row))
            elif kind == "operator" and operator in model.operators:
                jobs.append((self.step, operator, row))
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
