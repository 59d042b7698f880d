"""Assigns every tensor to a buffer, and creates the buffers that have no tensor, such as scratch.

Only tensors that must coincide share a buffer: a view and its source, the parts of a concatenated tensor, an output and
the inputs that it feeds.  Everything else has a separate buffer, including scratch and derived constants of kernels:
the planner sees one global problem, and nothing is decided locally.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel
from usmp_build.interfaces.operands import buffer_of
from usmp_build.ir.axes import Axes
from usmp_build.ir.by_rows import LAYER_BY_LAYER, ByRows
from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import DType, Model, Operator, OperatorRef, TensorRef, operator_at, tensor_at
from usmp_build.ir.schedule import Schedule, Step, without_rows
from usmp_build.ir.scopes import COPY, Scopes
from usmp_build.ir.seal import SEAL_BYTES
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.passes.operands import ruled_alignments
from usmp_build.passes.rows.ports import caller_ports
from usmp_build.passes.select import inputs_read
from usmp_build.passes.storage.buffers import Buffers
from usmp_build.passes.storage.program_facts import program_facts
from usmp_build.passes.storage.tensors import TensorFacts
from usmp_build.request import Request


def storage(
    request: Request,
    models: tuple[Model, ...],
    schedule: Schedule,
    kernels: Kernels,
    scopes: Scopes,
    axes: Axes,
    connections: tuple[Connection, ...],
    by_rows: ByRows = LAYER_BY_LAYER,
) -> Storage:
    """Return the buffers of all tensors that the schedule touches, and of all kernels.

    Raises ModelError for a tensor whose size is unknown before the model runs.
    """
    facts = TensorFacts(request, models, scopes, connections, program_facts(request, models, schedule))
    builder = _Builder(facts, kernels, {**axes, **by_rows.tables}, by_rows.edges)
    for step in _distinct(schedule):
        builder.add(step)
    builder.add_untouched()
    builder.add_seals()
    return builder.storage()


def _distinct(schedule: Schedule) -> Iterator[Step]:
    """Yield each step once: a body that is called repeatedly appears repeatedly on the timeline.

    Of an operator that runs row by row, the step of its first job stands for all.
    """
    return iter({id(step): step for step in without_rows(schedule.root)}.values())


@dataclass
class _Builder:
    """Collects buffers step by step; the maps are those of `Storage`."""

    facts: TensorFacts
    kernels: Kernels
    axes: Axes
    edges: Axes
    """Tensors that stay in one piece, with the rows that operators touch one at a time."""
    buffers: Buffers = field(init=False)
    variables: Variables = field(init=False)
    arguments: dict[TensorRef, TensorRef] = field(init=False)
    tensors: dict[TensorRef, int] = field(default_factory=dict, init=False)
    scratch: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict, init=False)
    derived: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict, init=False)
    seals: dict[int, int] = field(default_factory=dict, init=False)
    initial: dict[int, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Start without any buffers."""
        self.buffers = Buffers(self.facts.request)
        self.variables = Variables(self.facts.request, self.facts.models)
        self.arguments = arguments(self.facts.request, self.facts.models)

    def storage(self) -> Storage:
        for consumer, producer in self.facts.connected.items():
            self._share(consumer, producer)
        for view, root in self.facts.views():
            self._share(view, root)
        return Storage(
            buffers=self.buffers.finished(),
            tensors=self.tensors,
            scratch=self.scratch,
            derived=self.derived,
            arguments=self.arguments,
            rows=self.buffers.rows,
            edges={self.tensors[ref]: table.rows for ref, table in self.edges.items() if ref in self.tensors},
            on_demand=self.facts.programs.on_demand,
            seals=self.seals,
            initial=self.initial,
            offsets=self.facts.offsets(),
            pitches=self.facts.pitches(),
        )

    def add_untouched(self) -> None:
        for ref in self.facts.programs.copies:
            self._activation(ref, "never touched", 1)

    def add_seals(self) -> None:
        for pool, seal in seals(self.facts.request):
            self.seals[pool] = self.buffers.add(seal)

    def add(self, step: Step) -> None:
        """Add buffers for everything that a step touches, in access order."""
        alignment, needed = 1, None
        if step.operator is not None:
            kernel = self.kernels[step.operator]
            op = operator_at(self.facts.models, step.operator)
            needed = {op.inputs[position] for position in inputs_read(kernel, len(op.inputs))}
            alignment = kernel.alignment if isinstance(kernel, Kernel) else 1
        for ref in step.tensors:
            if not tensor_at(self.facts.models, ref).is_constant:
                self._activation(ref, self._why(step, ref), alignment)
            elif needed is None or ref.tensor in needed:
                self._constant(ref, alignment)
        if step.operator is not None:
            self._kernel_buffers(step.operator, op)
            self._apply_rules(step.operator, op)

    def _why(self, step: Step, ref: TensorRef) -> str:
        """Return the reason for a buffer that `step` touches first; for a copy, the rule that restricts its pools."""
        models, operator = self.facts.models, step.operator
        if operator is not None and ref in step.writes and operator_at(models, operator).kind == COPY:
            return self.facts.scopes.reasons[ref]
        name = step.name.partition(": ")[2]
        return f"written by {name.partition(', row')[0] if step.job is not None else name}"

    def _activation(self, ref: TensorRef, reason: str, alignment: int) -> None:
        if ref in self.facts.programs.elsewhere:
            return
        home = self.variables.representative(self.facts.root(ref))
        root = self.facts.connected.get(home, home)
        if root in self.arguments:
            self.arguments[ref] = self.arguments[root]
            return
        if root not in self.tensors:
            buffer = self.buffers.add_tensor(self.facts.new_activation(root, reason), self.axes.get(root))
            self.tensors[root] = buffer
            if initial := self.variables.initial(root, self.facts.name(root)):
                self.initial[buffer] = self.buffers.add(initial)
        self._share(home, root)  # before its views: in C, a buffer is named after its first tensor
        self._share(ref, root)
        element = tensor_at(self.facts.models, ref).dtype.alignment
        self.buffers.align(self.tensors[ref], max(alignment, element, self.facts.programs.alignment(ref)))

    def _constant(self, ref: TensorRef, alignment: int) -> None:
        if ref not in self.tensors:
            self.tensors[ref] = self.buffers.add(self.facts.new_constant(ref))
        self.buffers.align(self.tensors[ref], max(alignment, self.facts.programs.alignment(ref)))

    def _kernel_buffers(self, ref: OperatorRef, op: Operator) -> None:
        kernel = self.kernels[ref]
        if isinstance(kernel, Kernel):
            scopes, prefix = self.facts.scopes, self.facts.name_prefix(ref, op)
            if kernel.scratch:
                scratch = _scratch_buffers(kernel, ref.model, op, prefix, scopes.scratch[ref])
                self.scratch[ref] = tuple(map(self.buffers.add, scratch))
            derived = _derived_buffers(kernel, ref.model, op, prefix, scopes.derived.get(ref, ()))
            self.derived[ref] = tuple(map(self.buffers.add, derived))
            for operand, count in kernel.beyond:
                buffer = buffer_of(operand, ref, op, self)
                if buffer is not None:
                    self.buffers.read_beyond(buffer, count)

    def _apply_rules(self, ref: OperatorRef, op: Operator) -> None:
        """Align the operands that the rules of the operator's target apply to."""
        graph = self.facts.models[ref.model].subgraphs[ref.subgraph]
        rules = self.facts.request.targets[self.facts.scopes.targets[ref]].rules
        for operand, alignment in ruled_alignments(rules, op, graph, self.kernels[ref]):
            buffer = buffer_of(operand, ref, op, self)
            if buffer is not None:
                self.buffers.align(buffer, alignment)

    def _share(self, view: TensorRef, root: TensorRef) -> None:
        if root in self.tensors:
            self.tensors[view] = self.tensors[root]
        elif root in self.arguments:
            self.arguments[view] = self.arguments[root]


def arguments(request: Request, models: tuple[Model, ...]) -> dict[TensorRef, TensorRef]:
    """Return the root of each such port → the input or output whose array holds it.

    No two of them share bytes: where they do in the model, `scopes` made copies.
    """
    ports: dict[TensorRef, TensorRef] = {}
    for index, (model_request, model) in enumerate(zip(request.models, models, strict=True)):
        main, in_arrays = model.main, caller_ports(model_request, model.main)
        for port in (tensor for tensor in (*main.inputs, *main.outputs) if tensor in in_arrays):
            ports[TensorRef(index, 0, main.roots.get(port, port))] = TensorRef(index, 0, port)
    return ports


def seals(request: Request) -> Iterator[tuple[int, StorageBuffer]]:
    """Yield the position and the seal of each constant pool owned by the application that a model may use."""
    for position, pool in enumerate(request.pools):
        models = tuple(m for m, model in enumerate(request.models) if position in model.constant_pools)
        if models and pool.is_sealed:
            yield (
                position,
                StorageBuffer(
                    name=f"{request.project}.{pool.name}_seal",
                    kind=Kind.CONSTANT,
                    models=models,
                    size=SEAL_BYTES,
                    alignment=DType.UINT32.alignment,
                    dtype=DType.UINT32,
                    pools=(position,),
                    reason="says which code the pool belongs to",
                    data=bytes(SEAL_BYTES),
                    stays_apart=True,
                ),
            )


def _scratch_buffers(
    kernel: Kernel, model: int, op: Operator, prefix: str, pools: tuple[int, ...]
) -> Iterator[StorageBuffer]:
    """Yield the scratch of an operator, in the kernel's order; their names begin with `prefix`."""
    for scratch in kernel.scratch:
        yield StorageBuffer(
            name=f"{prefix}.{scratch.name}",
            kind=Kind.SCRATCH,
            models=(model,),
            size=scratch.size,
            alignment=max(scratch.dtype.alignment, kernel.alignment),
            dtype=scratch.dtype,
            pools=pools,
            reason=f"scratch of {op.kind} {op.position}",
        )


def _derived_buffers(
    kernel: Kernel, model: int, op: Operator, prefix: str, pools: tuple[int, ...]
) -> Iterator[StorageBuffer]:
    """Yield the constants that a kernel derives (multipliers, tables), in its order."""
    for derived in kernel.constants:
        yield StorageBuffer(
            name=f"{prefix}.{derived.name}",
            kind=Kind.CONSTANT,
            models=(model,),
            size=len(derived.data),
            alignment=derived.dtype.alignment,
            dtype=derived.dtype,
            pools=pools,
            reason=f"derived for {op.kind} {op.position}",
            data=derived.data,
        )


@dataclass
class Variables:
    """The variables of all models, collected step by step."""

    request: Request
    models: tuple[Model, ...]
    representatives: dict[tuple[int, str], TensorRef] = field(default_factory=dict, init=False)
    """Model and name of a variable → the first of its tensors that a step touches."""

    def representative(self, ref: TensorRef) -> TensorRef:
        """Return the representative of all tensors of one variable: the first one that a step touches."""
        name = tensor_at(self.models, ref).resource
        return self.representatives.setdefault((ref.model, name), ref) if name else ref

    def initial(self, ref: TensorRef, name: str) -> StorageBuffer | None:
        """Return a constant with the initial value of variable `name`; None if all bytes of that are equal.

        Raises ManifestError when target 0, which resets variables, cannot read any of the model's constant pools.
        """
        tensor = tensor_at(self.models, ref)
        if not tensor.is_variable or tensor.initial is None or len(set(tensor.initial)) < 2:
            return None
        return StorageBuffer(
            name=f"{name}.initial",
            kind=Kind.CONSTANT,
            models=(ref.model,),
            size=len(tensor.initial),
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            pools=self._read_by_target_0(ref),
            reason=f"what {tensor.name} holds at first",
            data=tensor.initial,
        )

    def _read_by_target_0(self, ref: TensorRef) -> tuple[int, ...]:
        """Return the constant pools that target 0 reads, which resets variables."""
        model, pools = self.request.models[ref.model], self.request.pools
        readable = tuple(pool for pool in model.constant_pools if 0 in pools[pool].readers and not pools[pool].page)
        if not readable:
            name, cpu = tensor_at(self.models, ref).name, self.request.targets[0].name
            message = (
                f'the initial value of variable "{name}" of model "{model.name}" has no pool: target "{cpu}" reads '
                "none of its constant_pools"
            )
            help_ = f'let target "{cpu}" reach one of the constant_pools of the model (`targets` of a pool)'
            raise ManifestError(Diagnostic("P381", message, model.path, help_))
        return readable
