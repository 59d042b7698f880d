"""Request + Analysis + Plan → for each model, what the plan says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from usmp_build.codegen.function_names import extern_functions, ports
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel, Traffic
from usmp_build.ir.graph import OperatorRef, TensorRef, operator_at
from usmp_build.ir.rewritten import Record
from usmp_build.ir.schedule import Direction, Step, steps
from usmp_build.ir.storage import Kind
from usmp_build.layout import (
    BufferRow,
    ModelRow,
    OperatorRecord,
    OverridesRecord,
    PoolRow,
    RewriteRecord,
    StepRecord,
    StripsRecord,
    TensorRecord,
    TrafficRecord,
)
from usmp_build.layout.plan_record import StepKind
from usmp_build.passes.rewrite.work import macs
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Access, InputOutput, Request


@frozen
class ModelRows:
    """Makes the rows; pools and buffers have theirs."""

    request: Request
    analysis: Analysis
    plan: Plan
    pools: tuple[PoolRow, ...]
    buffers: tuple[BufferRow, ...]

    def row(self, m: int, moved: Mapping[int, Traffic]) -> ModelRow:
        """Describe a model; `moved` is what one run of it moves of each buffer."""
        settings, name = self.request.models[m], self.request.models[m].name
        model, functions = self.analysis.models[m], extern_functions(self.analysis.models[m])
        without_kernel, declined = self._without(m)
        inputs, outputs = ports(settings, model, tuple(pool.name for pool in self.pools))
        seals = {self.analysis.storage.buffers[seal].name for seal in self.analysis.storage.seals.values()}
        mine = [row for row in self.buffers if name in row.models and row.name not in seals]
        used = {row.pool for row in mine if row.size}
        constants = [row for row in mine if row.kind == Kind.CONSTANT.value]
        return ModelRow(
            name=name,
            macro=name.upper(),
            sha256=model.sha256,
            tensors=tuple(tensors(self.analysis, m)),
            operators=tuple(operators(self.analysis, m)),
            budget=settings.budget,
            shared=_shared(self.buffers, name),
            constants=sum(row.size for row in constants),
            shared_constants=sum(row.size for row in constants if len(row.models) > 1),
            state=sum(row.size for row in mine if row.kind == Kind.VARIABLE.value),
            pools=tuple((p, _extent(mine, p)) for p in self.pools if p.name in used),
            traffic=self._traffic(moved),
            without_kernel=without_kernel,
            declined=declined,
            extern_functions=(*functions, *self._extern_kernels(m)),
            on_demand=self._on_demand(m),
            declared_in=f"{name}.h" if functions else f"{self.request.project}_kernels.h",
            application_io=settings.io is InputOutput.APPLICATION,
            inputs=inputs,
            outputs=outputs,
            inputs_by_rows=self._by_rows_among(m, model.main.inputs, inputs),
            outputs_by_rows=self._by_rows_among(m, model.main.outputs, outputs),
            rewrites=tuple(RewriteRecord(**asdict(saving)) for saving in self.analysis.rewrites[m].savings),
            order=self._order(m),
            backward=self._backward(m),
            by_rows=self._by_rows(m),
            strips=tuple(StripsRecord(*stage) for stage in self.analysis.rewrites[m].stages),
            recomputed_macs=self._recomputed(m),
            macs=macs(model.main) - self._recomputed(m),
            overrides=_overrides(settings.overrides),
        )

    def _order(self, m: int) -> tuple[int, ...]:
        operators = self.analysis.models[m].main.operators
        return tuple(operators[index].position for index in self.analysis.choices.orders.get(m, ()))

    def _by_rows(self, m: int) -> tuple[int, ...]:
        mine = (ref for ref in self.analysis.choices.by_rows.jobs if ref.model == m)
        return tuple(sorted(operator_at(self.analysis.models, ref).position for ref in mine))

    def _by_rows_among(self, m: int, tensors: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
        tables, root = self.analysis.choices.by_rows.tables, self.analysis.models[m].main.root
        named = zip(tensors, names, strict=True)
        return tuple(name for tensor, name in named if TensorRef(m, 0, root(tensor)) in tables)

    def _recomputed(self, m: int) -> int:
        """Return the multiplications of columns that are computed again, in strips."""
        return sum(-saving.macs for saving in self.analysis.rewrites[m].savings if saving.rewrite == "strips")

    def _backward(self, m: int) -> tuple[int, ...]:
        """Operators of the main subgraph, ascending."""
        models, directions = self.analysis.models, self.analysis.directions.items()
        mine = (ref for ref, way in directions if way is Direction.BACKWARD and ref[:2] == (m, 0))
        return tuple(sorted(operator_at(models, ref).position for ref in mine))

    def _traffic(self, moved: Mapping[int, Traffic]) -> tuple[TrafficRecord, ...]:
        """What one run of a model moves to and from each pool that it touches."""
        totals = [Traffic()] * len(self.pools)
        for buffer, traffic in moved.items():
            totals[self.plan.allocations[buffer].pool] += traffic
        rows = zip(self.pools, totals, strict=True)
        return tuple(TrafficRecord(pool.name, total.read, total.written) for pool, total in rows if total != Traffic())

    def _without(self, m: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Operators that run, with the reason why they have no kernel, and those why they have no faster one."""
        missing: list[str] = []
        declined: list[str] = []
        for ref, kernel in self.analysis.kernels.items():
            if ref.model == m and ref in self.analysis.directions:  # not in a subgraph that is never called
                op = operator_at(self.analysis.models, ref)
                reasons = (kernel.reason,) if isinstance(kernel, NoKernel) else kernel.declined
                listed = missing if isinstance(kernel, NoKernel) else declined
                listed += (f"{op.kind} {op.position}: {reason}" for reason in reasons)
        return tuple(missing), tuple(declined)

    def _extern_kernels(self, m: int) -> tuple[str, ...]:
        kernels = (self.analysis.kernel_of(ref) for ref in self.analysis.kernels if ref.model == m)
        calls = (call for kernel in kernels if isinstance(kernel, Kernel) for call in kernel.calls)
        names = {call.function for call in calls if call.prototype}
        return tuple(f"{self.request.project.lower()}_{name}" for name in sorted(names))

    def _on_demand(self, m: int) -> tuple[str, ...]:
        graphs = self.analysis.models[m].subgraphs
        mine = (ref for ref in self.analysis.storage.on_demand if ref.model == m)
        return tuple(f"{graphs[ref.subgraph].name}.{graphs[ref.subgraph].tensors[ref.tensor].name}" for ref in mine)


def _overrides(given: Mapping[str, tuple[str, ...]]) -> OverridesRecord:
    """State which overrides were given, and what they list."""
    return OverridesRecord(
        path=True if "path" in given else None,
        workspace_pools=given.get("workspace_pools"),
        constant_pools=given.get("constant_pools"),
        concurrent=given.get("concurrent"),
    )


def _extent(rows: Sequence[BufferRow], pool: PoolRow) -> int:
    """Up to where these buffers fill a workspace pool; the bytes of the constants in a constant pool.

    A constant pool of the application counts as a whole, with seal and padding, whichever model reads it.
    """
    mine = [row for row in rows if row.pool == pool.name]
    if pool.access == Access.CONSTANT.value:
        return pool.size if pool.is_passed else sum(row.size for row in mine)
    return max((row.end for row in mine), default=0)


def _shared(buffers: tuple[BufferRow, ...], model: str) -> int:
    """Count the bytes of workspace that lie under buffers of this model and of others; sweep over where they end."""
    edges: list[tuple[str, int, bool, int]] = []
    for row in buffers:
        if row.kind != Kind.CONSTANT.value and row.size:
            mine = model in row.models
            edges += [(row.pool, row.offset, mine, 1), (row.pool, row.offset + row.size, mine, -1)]
    edges.sort()
    covering = {True: 0, False: 0}
    total = previous = 0
    for _, offset, mine, change in edges:
        if covering[True] and covering[False]:
            total += offset - previous
        covering[mine] += change
        previous = offset
    return total


def tensors(analysis: Analysis, m: int) -> Iterator[TensorRecord]:
    """Yield the tensors of a model's main subgraph that are no constants, by index."""
    storage, rows, root = analysis.storage, analysis.choices.by_rows.tables, analysis.models[m].main.root
    record = analysis.rewrites[m] if analysis.rewrites else Record()
    for index, tensor in enumerate(analysis.models[m].main.tensors):
        ref = TensorRef(m, 0, index)
        buffer = storage.tensors.get(ref)
        if tensor.is_constant or (buffer is None and ref not in storage.arguments):
            continue
        name = "" if buffer is None else storage.buffers[buffer].name
        strip = record.strips.get(index)
        yield TensorRecord(
            tensor=index,
            buffer=name.rpartition("[")[0] if ref._replace(tensor=root(index)) in rows else name,
            offset=storage.offsets.get(ref, 0),
            pitch=storage.pitches.get(ref, 0),
            channels=record.channels.get((0, index if strip is None else strip.whole), ()),
            strip_of=None if strip is None else strip.whole,
            columns=() if strip is None else (strip.columns.start, strip.columns.stop),
            axes=record.axes.get((0, index), ()),
        )


def operators(analysis: Analysis, m: int) -> Iterator[OperatorRecord]:
    """Yield the operators of a model's main subgraph that run."""
    storage, graph = analysis.storage, analysis.models[m].main
    numbers = analysis.rewrites[m].strip_operators if analysis.rewrites else {}
    for index, op in enumerate(graph.operators):
        if op.runs:
            reads = dict.fromkeys(t for t in op.inputs if t is not None and not graph.tensors[t].is_constant)
            scratch = storage.scratch.get(OperatorRef(m, 0, index), ())
            names = tuple(storage.buffers[buffer].name for buffer in scratch)
            yield OperatorRecord(op.position, tuple(reads), op.outputs, names, strip_of=numbers.get(op.position))


def timeline(analysis: Analysis) -> Iterator[StepRecord]:
    """Yield all steps of all models, in order."""
    for number, step in enumerate(steps(analysis.schedule.root)):
        model, ref, arrival = analysis.models[step.model], step.operator, step.arrival
        operator = model.main.operators[ref.operator].position if ref is not None and ref.subgraph == 0 else None
        row, buffer = step.row if arrival is None else arrival.row, None
        if step.move is not None:
            _, target = step.move
            place = analysis.storage.buffers_of(target).start
            row, buffer = analysis.moved_rows[place], analysis.tensor_name(place)
        yield StepRecord(model.name, _kind(analysis, number, step), operator, row, step.name, buffer)


def _kind(analysis: Analysis, number: int, step: Step) -> StepKind:
    """Return what a step does.  Operators of other subgraphs are a part of control flow."""
    if step.operator is not None:
        return "operator" if step.operator.subgraph == 0 else "other"
    if step.arrival is not None:
        return "arrival"
    if step.move is not None:
        return "move"
    if number in analysis.schedule.starts:
        return "enter"
    return "leave" if number + 1 in analysis.schedule.starts else "other"
