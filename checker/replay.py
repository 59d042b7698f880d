"""The replay of a plan, byte by byte."""

from collections import defaultdict
from itertools import accumulate
from math import inf

from checker.jobs import Job, share, slices
from checker.model import Fuel, NotCovered, Wrong, demand, merge
from checker.plan import PlannedModel

ROLES = ("scratch", "variable", "connection", "input", "output", "intermediate")
"""Kinds of buffers: a buffer is of the first that one of its tensors has."""


class Replay:
    """The bytes of all pools: `arena` has the mark of each place, which is (pool, offset).

    A mark says what was written there: the model, the tensor of the file, in which run, and which byte of the tensor.
    Of variables, and of scratch, which has the name of its buffer, the run is 0.
    """

    def __init__(self, plan, files, buffers):
        self.steps, self.buffers = plan["steps"], {b.name: b for b in buffers}
        demand(len(self.buffers) == len(buffers), "two buffers have one name")
        pairs = zip(plan["models"], files, strict=True)
        self.models = [PlannedModel(record, file, self.buffers) for record, file in pairs]
        self._check_uses()
        self.arena, self.kept, self.run_number, self.step = {}, {}, 0, 0
        self.unchecked, self.touched = set(), defaultdict(set)
        self.has_others = any(target["kernels"] != "reference" for target in plan["targets"])
        texts = [step["text"] for step in self.steps]
        proofs = {pool["name"]: (pool["certificate"] or {}).get("step") for pool in plan["pools"]}
        self.proven_at = {pool: texts.index(text) for pool, text in proofs.items() if texts.count(text) == 1}
        self.loads = {}

    def _check_uses(self):
        """Demand that buffers are of those who use them, and of the kind that these make of them."""
        roles, users = defaultdict(set), defaultdict(set)
        for model in self.models:
            for name in (name for op in model.operators.values() for name in op["scratch"]):
                roles[name].add("scratch")
            for t, parts in model.parts.items():
                for b in {buffer.name: buffer for _, _, buffer in parts if buffer}.values():
                    roles[b.name].add(self._role(model, t, b))
                    users[b.name].add(model.name)
        for b in (b for b in self.buffers.values() if b.name in roles):
            kind = next(kind for kind in ROLES if kind in roles[b.name])
            demand(kind != "scratch" or roles[b.name] == {kind}, f'"{b.name}" is scratch, and has a tensor')
            is_part = kind in ("input", "output") and b.kind == "intermediate" and b.kind in roles[b.name]
            demand(b.kind == kind or is_part, f'"{b.name}" is said to be "{b.kind}", and is "{kind}"')
            demand(kind == "scratch" or {*b.models} == users[b.name], f'"{b.name}" is not used by all that share it')

    def _role(self, model, t, b):
        """Return which kind of buffer a tensor makes of the one that it lies in; note inputs that others write."""
        file, owner = model.file, b.models[0]
        if owner != model.name and t in file.inputs:
            self._connect(model, t, owner)
            return "connection"
        is_written = t in file.variables or any(t in op["writes"] for op in model.operators.values())
        is_own = owner == model.name or not is_written
        demand(is_own, f'{model.name}: tensor {t} is in "{b.name}", which is of {owner}')
        roles = [("variable", file.variables), ("input", file.inputs), ("output", file.outputs)]
        return next((role for role, tensors in roles if t in tensors), "intermediate")

    def _connect(self, model, t, owner):
        """Demand that an input is an output of the model whose buffer it is in, in the same place, of the same type."""
        parts, sources = model.parts[t], [other for other in self.models if other.name == owner]
        there = [other.tensor[o] for other in sources for o in other.file.outputs if other.parts.get(o) == parts]
        is_output = any(tensor.meaning == model.tensor[t].meaning for tensor in there)
        demand(is_output, f"{model.name}: input {t} is in a buffer of {owner}, which has no such output there")
        model.connected[t] = next((o for o in model.connected if model.parts[o] == parts), t)  # both get one value

    def _here(self):
        return f'step {self.step}, "{self.steps[self.step]["text"]}",'

    def _find(self, model, t, elements):
        """Yield each element of a tensor that a model touches, and the places of its bytes: (pool, offset)."""
        parts, length, width = model.parts[t], model.lengths[t], model.tensor[t].width
        for element in elements:
            Fuel.spend(width)
            part, inside = divmod(element, length)
            pool, offset, buffer = parts[part]
            if buffer is not None:  # else it is an array of the application
                self._touch(model, buffer)
            first = offset + inside * width
            yield element, [(pool, at) for at in range(first, first + width)]

    def _touch(self, model, buffer):
        """Demand that a model may touch a buffer in this step."""
        if self.step not in self.touched[buffer.name]:
            what = f'{self._here()} touches "{buffer.name}", which'
            demand(model.name in buffer.models, f"{what} is of other models")
            demand(buffer.is_alive(self.step), f"{what} the plan says is not alive then")
            self.touched[buffer.name].add(self.step)

    def _marks(self, model, t, element, runs_ago=0):
        """Return the marks of an element's bytes; None: it is constant."""
        source, number, width = model.value[t], model.in_file(t, element), model.tensor[t].width
        if source not in model.written:  # it shows elements of others, as a view or a concatenation does
            origin = model.origin(source, number)
            if origin is None:
                return None
            source, number = origin
            demand(source in model.written, f"{model.name}: no step computes tensor {source}")
            is_as_wide = model.file.tensors[source].width == width
            demand(is_as_wide, f"{model.name}: tensor {model.value[t]} cannot show bytes of tensor {source}")
        if source in model.file.inputs and source not in model.arriving:
            runs_ago = 0  # the application has filled it anew
        run = 0 if source in model.file.variables else self.run_number - runs_ago
        source = model.connected.get(source, source)
        return [(model.name, source, run, byte) for byte in range(number * width, (number + 1) * width)]

    def _put(self, model, marks):
        """Mark bytes, given {place: mark}."""
        before = len(self.arena)
        self.arena.update(marks)
        Fuel.spend(10 * (len(self.arena) - before))  # ten: of memory there is less than of time
        for at in self.kept.keys() & marks.keys():
            raise Wrong(f'{model.name} overwrites "{self.kept[at]}", which must outlive its runs')

    def _write(self, model, t, elements):
        for element, places in self._find(model, t, elements):
            self._put(model, dict(zip(places, self._marks(model, t, element), strict=True)))

    def _check(self, model, t, elements, runs_ago=0):
        """Demand that elements of a tensor are where the plan has them."""
        demand(t in model.parts, f"{self._here()} reads tensor {t}, which has no place")
        for element, places in self._find(model, t, sorted(elements)):
            wanted = self._marks(model, t, element, runs_ago)
            demand(wanted is not None, f"{self._here()} reads constants from where nothing writes them")
            for i, ((pool, at), want) in enumerate(zip(places, wanted, strict=True)):
                mark = self.arena.get((pool, at))
                if mark != want:
                    byte = f"byte {element * len(wanted) + i} of tensor {model.value[t]} at {pool}+{at}"
                    raise Wrong(f"{self._here()} needs {byte}, where {self._said(mark)}")
            if places[0][0] in self.loads:
                self.loads[places[0][0]].later(wanted)

    def _said(self, mark):
        if mark is None:
            return "nothing has been written yet"
        model, t, run, byte = mark
        is_new = run in (0, self.run_number)
        return f"byte {byte} of tensor {t} of {model} is" if is_new else "bytes of an earlier run are"

    def run(self, model, first):
        """Run a model twice in an arena of its own, beside all that must outlive its runs; return the step after.

        So it does not matter which models run before, between and after.
        """
        last, rows = self._last_step(model, first), defaultdict(set)
        self.arena.clear()
        self.kept = self._kept(model, first, last)
        self.step = first
        for t in model.file.variables & model.parts.keys():
            self._write(model, t, range(model.elements[t]))
        for step in self.steps[first + 1 : last]:
            rows[step["operator"]].update({step["row"]} - {None})
        for is_again in (False, True):
            self.step, done, moved, parts = first, defaultdict(list), {}, dict(model.parts)
            self._enter(model, is_again)
            for self.step in range(first + 1, last):
                operator, row = self.steps[self.step]["operator"], self.steps[self.step]["row"]
                if self.steps[self.step]["kind"] == "move":
                    self._move(model, moved)
                    continue
                done[operator].append(row)
                if operator is None:
                    (t,) = model.arriving
                    self._write(model, t, share(row, len(model.parts[t]), model.elements[t]))
                else:
                    record = model.operators[operator]
                    self._operate(Job(model, record, done[operator], len(rows[operator]), self._here()))
            self.step = last
            self._leave(model, done)
            model.parts = parts
        return last + 1

    def _move(self, model, moved):
        """Move a row of all tensors in one buffer to the next of its places; `moved` has where rows are now."""
        name, row = self.steps[self.step]["buffer"], self.steps[self.step]["row"]
        number = sum(1 for other, _ in moved if other == name)
        source = next((moved[key] for key in reversed(moved) if key[0] == name and key[1][0] == row), None)
        source = source or self.buffers.get(f"{name}[{row}]")
        target = source and self.buffers.get(f"{name}[{source.rows + number}]")
        demand(source and target and row < source.rows, f"{self._here()} moves what has no place to go to")
        demand(source.size == target.size, f"{self._here()} moves a row to a place of another size")
        moved[name, (row, number)] = target
        self._touch(model, source)
        self._touch(model, target)
        for t, parts in model.parts.items():
            if row < len(parts) and parts[row][2] is source:
                place = target.pool, target.offset, target
                model.parts[t] = [*parts[:row], place, *parts[row + 1 :]]
        marks = [self.arena.get(at) for at in source.places()]
        self._put(model, dict(zip(target.places(), marks, strict=True)))

    def _last_step(self, model, first):
        """Return the step in which a model leaves that is entered in step `first`; all between must be its own."""
        entered = [(step["model"], step["kind"]) for step in self.steps[first : first + 1]]
        demand(entered == [(model.name, "enter")], f"{model.name} is not entered")
        self.step = first
        for step in self.steps[first + 1 :]:
            self.step += 1
            kind, operator = step["kind"], step["operator"]
            demand(step["model"] == model.name, f"{self._here()} comes before {model.name} has left")
            if kind == "leave":
                return self.step
            is_other = kind in ("arrival", "move") and operator is None
            is_known = operator in model.operators if kind == "operator" else is_other
            demand(is_known, f"{self._here()} is no operator of the plan")
        raise Wrong(f"{model.name} never ends")

    def _kept(self, model, first, last):
        """Return {place: buffer} of bytes that must outlive the steps of a model.

        These are variables and connections of others, and what the plan says the application keeps.
        """
        kept = {}
        for b in self.buffers.values():
            Fuel.spend(len(b.intervals))
            if b.kind != "constant" and model.name not in b.models and b.size:
                is_whole = any(start <= first and last < stop for start, stop in b.intervals)
                is_lost = b.kind in ("variable", "connection") and not is_whole
                demand(not is_lost, f'"{b.name}" is not said to be alive while {model.name} runs')
                if any(start <= last and first < stop for start, stop in b.intervals):
                    kept.update(dict.fromkeys(b.places(), b.name))
        return kept

    def _enter(self, model, is_again):
        """Fill inputs that do not arrive later with new values; outputs that are kept stay in their places."""
        self.run_number += 1
        filled = {*model.file.inputs} - model.arriving - model.file.variables
        for t in sorted(filled, key=lambda t: (t not in model.connected, t)):
            self._write(model, t, range(model.elements[t]))
        for t in {*model.file.outputs} & model.parts.keys():
            if is_again and self._is_kept(model, t):
                self._check(model, t, range(model.elements[t]), runs_ago=1)

    def _leave(self, model, done):
        """Demand that all outputs are in their places or have left, inputs have arrived, and what is kept is there."""
        rows_of = {t: done[number] for number, op in model.operators.items() for t in op["writes"]}
        for t in {*model.file.outputs} - model.file.constants:
            if t in model.leaving:  # the application gets each row in the step that computes it
                is_in_turn = rows_of.get(t) == [*range(slices(model.shape(t)))]
                demand(is_in_turn, f"{model.name}: output {t} is to leave row by row, and is not computed so")
            else:
                self._check(model, t, range(model.elements[t]))
        for t in model.file.inputs:
            if t in model.arriving:
                is_in_turn = done[None] == [*range(len(model.parts[t]))]
                demand(is_in_turn, f"{model.name}: the rows of input {t} do not arrive from the first to the last")
            elif self._is_kept(model, t):
                self._check(model, t, range(model.elements[t]))

    def _is_kept(self, model, t):
        """Tell whether a port keeps its bytes at this step: the plan says so, or others read the same input."""
        buffers = [buffer for _, _, buffer in model.parts[t]]
        if None in buffers:
            return False
        is_read_again = t in model.connected and any(len(b.models) > 2 or b.kind == "variable" for b in buffers)
        return is_read_again or all(b.is_alive(self.step) for b in buffers)

    def _operate(self, job):
        """Check what a job needs, then mark what it writes."""
        model, scratch = job.model, self._scratch(job)
        writes = job.turns(job.turn)
        reads = job.reads(writes)
        if job.is_copy:
            ((copy, wanted),) = writes.items()
            there = [self._marks(model, t, e) for t, turns in reads.items() for e in turns]
            marks = [self._marks(model, copy, e) for e in wanted]
            is_equal = sorted(map(str, there)) == sorted(map(str, marks))
            demand(is_equal, f"{job.what} copies other values than those of tensor {model.value[copy]}")
        for t, turns in reads.items():
            self._check(model, t, turns)
        writes = writes if job.is_last else {}
        read, written = self._turns_of_bytes(model, reads), self._turns_of_bytes(model, writes)
        size = sum(len(turns) * model.tensor[t].width for t, turns in writes.items())
        demand(len(written) == size, f"{job.what} writes two elements to one place")
        new_loads = self._loads(read, [] if job.sums else scratch)  # outputs may be where sums were
        self._check_scratch(job, [b for b, _ in scratch], read, written)
        for at, (turn, element, t) in read.items():
            if at in written and written[at][0] < turn:
                if job.kind == "OTHER":
                    raise NotCovered(f"{job.what} whose output overlaps what it reads")
                place = f"element {element} of tensor {model.value[t]} at {at[0]}+{at[1]}"
                raise Wrong(f"{job.what} overwrites {place} before it has read it for the last time")
        for t, turns in writes.items():
            self._write(model, t, turns)
        for pool, load in new_loads.items():
            load.written = self._turns_of_marks(pool, written)
        self.loads |= new_loads

    def _turns_of_bytes(self, model, turns_of):
        """Return {place: (last turn, element, tensor)}, given {tensor: {element: turn}}."""
        found = {}
        for t, turns in turns_of.items():
            for element, places in self._find(model, t, turns):
                merge(found, dict.fromkeys(places, (turns[element], element, t)))
        return found

    def _loads(self, read, scratch):
        """Return {pool: its load} when the operator begins whose step a certificate names."""
        loads = {}
        for pool, step in self.proven_at.items():
            if step == self.step and pool not in self.loads:
                held = {mark for (where, _), mark in self.arena.items() if where == pool}
                Fuel.spend(len(held))
                scratch_bytes = sum(size for b, size in scratch if b.pool == pool)
                kept_bytes = sum(where == pool for where, _ in self.kept)
                loads[pool] = Load(held, self._turns_of_marks(pool, read), scratch_bytes + kept_bytes)
        return loads

    def _turns_of_marks(self, pool, turns):
        return {self.arena[at]: turn for at, (turn, *_) in turns.items() if at[0] == pool}

    def _scratch(self, job):
        """Return pairs of an operator's scratch buffers and the bytes that it needs of each."""
        needed, name, number = job.scratch(), job.model.name, job.record["operator"]
        for each in job.record["scratch"]:
            demand(each in self.buffers, f'{job.what} has scratch "{each}", which is no buffer')
        buffers = [self.buffers[each] for each in job.record["scratch"]]
        if len(needed) == 3 and len(buffers) == 2:  # detection has no best scores of all classes then
            needed = [needed[0], needed[2]]
            self.unchecked.add(f"{name}: that operator {number} picks boxes of each class by itself")
        pairs = [*zip(buffers, needed, strict=False)]
        fits = all(b.size >= n and b.offset % unit == 0 and b.alignment % unit == 0 for b, (n, unit) in pairs)
        if fits and len(buffers) == len(needed):
            return [(b, size) for b, (size, _) in pairs]
        wanted = " and ".join(f"{size} bytes at a multiple of {unit}" for size, unit in needed) or "no bytes"
        demand(self.has_others, f"{job.what} needs scratch of {wanted}")
        self.unchecked.add(f"{name}: scratch of operator {number}, which may be of another library")
        job.sums = 0  # it is not known what is there
        return [(b, b.size) for b in buffers]

    def _check_scratch(self, job, buffers, read, written):
        """Scratch is written when the operator begins.  Sums stay from the first row to the last, which reads them."""
        width = job.scratch()[0][1] if job.sums else 1  # bytes of a sum
        seen, turns = set(), {}  # turns that read sums for the last time
        for turn, element, _ in written.values():
            merge(turns, {element % max(1, job.sums): turn})
        for b in buffers:
            self._touch(job.model, b)
            marks = {at: (job.model.name, b.name, 0, byte) for byte, at in enumerate(b.places())}
            is_there = all(self.arena.get(at) == mark for at, mark in marks.items())
            is_begun = job.adds_up and not job.is_first
            demand(is_there or not is_begun, f'{job.what} needs its sums in "{b.name}", which were overwritten')
            self._put(job.model, marks)
            demand(not seen & marks.keys(), f"{job.what} has scratch twice")
            for at in read.keys() & marks.keys():
                raise Wrong(f"{job.what} reads tensor {read[at][-1]} where its scratch is")
            seen.update(marks)
            for at in written.keys() & marks.keys():
                if not job.sums:
                    raise NotCovered(f"{job.what} whose output overlaps its scratch")
                number, turn = marks[at][-1] // width, written[at][0]
                demand(turns.get(number, -inf) <= turn, f"{job.what} overwrites sum {number} before it is read")


class Load:
    """What a pool holds in one step: marks from before, those that turns read and write, and bytes `besides`."""

    def __init__(self, held, read, besides):
        self.held, self.read, self.written, self.besides, self.needed = held, read, {}, besides, set()

    def later(self, marks):
        """Note what is read after the step."""
        self.needed.update(mark for mark in marks if mark in self.held or mark in self.written)

    def most(self):
        """Return the bytes needed at the fullest turn; what a turn reads is read before it writes."""
        changes = [(turn, -1) for mark, turn in self.read.items() if mark not in self.needed]
        unread = len(changes)
        changes += [(turn, 1) for mark, turn in self.written.items() if mark in self.needed]
        most = max(accumulate((change for _, change in sorted(changes)), initial=unread))
        return len(self.needed & self.held) + self.besides + most
