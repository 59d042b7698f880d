"""Looks up how close the buffers of a step may be, as its kernel declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import chain, product

from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Absent, Derived, Input, Kernel, Operand, Output
from usmp_build.interfaces.operands import buffer_of, offset_of
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import Model, Operator, OperatorRef, TensorRef, operator_at, tensor_at
from usmp_build.ir.lifetimes import Survivors
from usmp_build.ir.schedule import Call, Direction, Node, RowRef, Scope, Sequence, Step, Value, steps
from usmp_build.ir.storage import Storage
from usmp_build.passes.separations.distances import Distance, distances, row_distances
from usmp_build.request import Request

Pair = tuple[int, int]
"""Buffers: written, read."""


def straight(node: Node, at: int) -> Iterator[tuple[Step, int]]:
    """Yield the steps outside loops and branches, each with its position on the timeline; `at` is the node's."""
    match node:
        case Step():
            yield node, at
        case Sequence(body):
            for child in body:
                yield from straight(child, at)
                at += sum(1 for _ in steps(child))
        case Call(_, body) | Scope(_, body):
            yield from straight(body, at)


@frozen
class Allowed:
    """The distance that a step allows for a pair of buffers, and why."""

    distance: Distance
    operator: OperatorRef | str
    """Of a program, the name of the statement."""
    direction: Direction


_NearRows = tuple[Mapping[tuple[Operand, Operand], Distance], dict[int, list[Operand]]]
"""The distances between rows of operands, and the operands that each tensor is."""


class AllowedDistances:
    """The pairs of buffers that each step lets come closer, and how close; remembered for each operator."""

    def __init__(
        self, request: Request, models: tuple[Model, ...], kernels: Kernels, storage: Storage, survivors: Survivors
    ) -> None:
        self._request = request
        self._models = models
        self._kernels = kernels
        self.storage = storage
        self._survivors = survivors
        self._distances: dict[tuple[OperatorRef, Direction], dict[Pair, Distance]] = {}
        self._by_operator: dict[tuple[OperatorRef, Direction], tuple[tuple[Pair, Allowed], ...]] = {}
        self._near_rows: dict[tuple[OperatorRef, Direction], _NearRows] = {}
        self._by_job: dict[int, tuple[Step, tuple[tuple[RowRef, RowRef, Distance], ...]]] = {}
        """By the identity of the step, which the entry keeps alive."""

    def at(self, step: Step) -> tuple[tuple[Pair, Allowed], ...]:
        """Return the distances that the kernel of a step allows, or the statement, for pairs of buffers."""
        if step.elementwise and self._request.overlap:
            return tuple(self._of_statement(step))
        if step.move is not None:
            return tuple(self._of_move(step, *step.move))
        if step.operator is None:
            return ()
        if step.job is None:
            return self.of(step.operator, step.direction)
        return tuple(self._of_job(step, step.operator)) if self._may_come_closer(step.operator) else ()

    def of(self, operator: OperatorRef, direction: Direction) -> tuple[tuple[Pair, Allowed], ...]:
        """Return the distances that an operator allows where it runs as a whole."""
        key = operator, direction
        if key not in self._by_operator:
            self._by_operator[key] = tuple(self._of_operator(*key)) if self._may_come_closer(operator) else ()
        return self._by_operator[key]

    def _may_come_closer(self, operator: OperatorRef) -> bool:
        """Tell whether anything that an operator touches may overlap."""
        return self._request.overlap and operator not in self.storage.transfers

    def _of_move(self, step: Step, source: RowRef, target: RowRef) -> Iterator[tuple[Pair, Allowed]]:
        """A row may move to where it partly is."""
        pair = self.storage.buffers_of(target).start, self.storage.buffers_of(source).start
        if self.may_overlap(*pair):
            yield pair, Allowed(Distance(None, None), step.name, step.direction)

    def _of_statement(self, step: Step) -> Iterator[tuple[Pair, Allowed]]:
        for written, read, bytes_ in step.elementwise:
            lower, upper = self.storage.tensors.get(written), self.storage.tensors.get(read)
            if lower is not None and upper is not None and self.may_overlap(lower, upper):
                apart = self.storage.buffers[upper].extent
                yield (lower, upper), Allowed(Distance(bytes_, apart), step.name, step.direction)

    def _of_operator(self, operator: OperatorRef, direction: Direction) -> Iterator[tuple[Pair, Allowed]]:
        nearest: dict[Pair, Distance] = {}
        for each in [Direction.FORWARD, Direction.BACKWARD] if direction is Direction.EITHER else [direction]:
            pairs = self._in_direction(operator, each)
            nearest |= {pair: _nearer(nearest.get(pair, near), near) for pair, near in pairs.items()}
        for pair, distance in nearest.items():
            yield pair, Allowed(distance, operator, direction)

    def of_rows(self, step: Step) -> tuple[tuple[RowRef, RowRef, Distance], ...]:
        """Return the rows that a job writes, each with a row that it reads, and how close they may be."""
        if step.operator is None or step.job is None:
            return ()
        known, pairs = self._by_job.get(id(step), (None, ()))
        if known is not step:
            pairs = tuple(self._rows_of(step, step.operator))
            self._by_job[id(step)] = step, pairs
        return pairs

    def _rows_of(self, step: Step, operator: OperatorRef) -> Iterator[tuple[RowRef, RowRef, Distance]]:
        key = operator, step.direction
        if key not in self._near_rows:
            kernel = self._kernels[operator]
            assert isinstance(kernel, Kernel)
            by_tensor = self._single_operands(operator, kernel)
            self._near_rows[key] = row_distances(kernel.towards(step.direction)), by_tensor
        nearest, operands = self._near_rows[key]
        for read, written in product(dict.fromkeys(_rows(step.reads)), _rows((*step.writes, *step.updates))):
            pairs = product(operands.get(written.tensor.tensor, ()), operands.get(read.tensor.tensor, ()))
            allowed = [nearest.get(pair) for pair in pairs]
            if allowed and None not in allowed:
                distance = reduce(_farther, (each for each in allowed if each is not None), Distance(None, None))
                yield written, read, distance

    def _single_operands(self, operator: OperatorRef, kernel: Kernel) -> dict[int, list[Operand]]:
        """Return the operands that each tensor is whose rows are those of the kernel.

        Rows of long edges, and those in which signals arrive, are several of these (see `passes.rows`).
        """
        jobs, op, graph = row_jobs(kernel), operator_at(self._models, operator), self._models[operator.model].main
        assert jobs is not None
        operands = dict[int, list[Operand]]()
        for operand, (_, elements) in jobs.shapes.items():
            if isinstance(operand, Input | Output):
                tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
                root = -1 if tensor is None else graph.root(tensor)
                if self._is_single(TensorRef(operator.model, 0, root), elements):
                    operands.setdefault(root, []).append(operand)
        return operands

    def _is_single(self, ref: TensorRef, elements: int) -> bool:
        """Tell whether a row of a tensor has as many elements as one of a kernel."""
        buffer = self.storage.tensors.get(ref)
        if buffer is None:
            return True
        bits = tensor_at(self._models, ref).dtype.bits
        return self.storage.buffers[buffer].size == elements * bits // 8 * self.storage.edges.get(buffer, 1)

    def _of_job(self, step: Step, operator: OperatorRef) -> Iterator[tuple[Pair, Allowed]]:
        for written, read, distance in self.of_rows(step):
            pair = self.storage.buffers_of(written).start, self.storage.buffers_of(read).start
            if self.storage.edges.keys().isdisjoint(pair) and self.may_overlap(*pair):
                yield pair, Allowed(distance, operator, step.direction)

    def edges(self) -> dict[int, int]:
        """Return the edges that hold data in one run only, each with its number of rows."""
        persistent = self._survivors.always.union(*self._survivors.before, *self._survivors.after)
        return {edge: rows for edge, rows in self.storage.edges.items() if edge not in persistent}

    def may_overlap(self, one: int, other: int) -> bool:
        """Tell whether two buffers may share bytes while both are alive, as far as it depends on their kinds."""
        return self._may_share(one) and self._may_share(other) and not self._may_run_together(one, other)

    def _in_direction(self, operator: OperatorRef, direction: Direction) -> dict[Pair, Distance]:
        key = operator, direction
        if key not in self._distances:
            kernel = self._kernels.get(operator)
            pairs = self._pairs(operator, kernel.towards(direction)) if isinstance(kernel, Kernel) else {}
            self._distances[key] = pairs
        return self._distances[key]

    def _buffers(self, ref: OperatorRef, op: Operator, kernel: Kernel) -> dict[Operand, int]:
        """Return the buffers of a kernel's operands that may share bytes."""
        buffers: dict[Operand, int] = {}
        for operand in dict.fromkeys(operand for call in kernel.calls for operand in call.operands):
            if not isinstance(operand, Derived | Absent):
                buffer = buffer_of(operand, ref, op, self.storage)
                if buffer is not None and self._may_share(buffer):
                    buffers[operand] = buffer
        return buffers

    def _pairs(self, ref: OperatorRef, kernel: Kernel) -> dict[Pair, Distance]:
        """Return the distances of buffers; if several operands are in one buffer, all need access declarations."""
        op = operator_at(self._models, ref)
        buffers = self._buffers(ref, op, kernel)
        start = partial(offset_of, ref=ref, op=op, offsets=self.storage.offsets)
        declared_distances = distances(kernel) or {}
        declared = set(chain.from_iterable(declared_distances))
        undeclared = {buffer for operand, buffer in buffers.items() if operand not in declared}
        farthest: dict[Pair, Distance] = {}
        for (written, read), distance in declared_distances.items():
            if written in buffers and read in buffers:
                pair = buffers[written], buffers[read]
                if pair[0] != pair[1] and undeclared.isdisjoint(pair) and not self._may_run_together(*pair):
                    distance = _between_buffers(distance, start(written), start(read))
                    farthest[pair] = _farther(farthest[pair], distance) if pair in farthest else distance
        return farthest

    def _may_share(self, index: int) -> bool:
        buffer = self.storage.buffers[index]
        in_pages = any(self._request.pools[pool].page for pool in buffer.pools)
        return not (index in self._survivors.always or in_pages or buffer.cache_line or buffer.copies > 1)

    def _may_run_together(self, one: int, other: int) -> bool:
        users = self.storage.buffers[one].models, self.storage.buffers[other].models
        return any((min(pair), max(pair)) in self._request.concurrent for pair in product(*users))


def _rows(values: Iterable[Value]) -> list[RowRef]:
    return [value for value in values if isinstance(value, RowRef)]


def _between_buffers(distance: Distance, written: int, read: int) -> Distance:
    """Return the distance of two buffers, given that of two tensors and the offsets of these in their buffers."""
    below, above = distance.written_below, distance.written_above
    return Distance(
        None if below is None else below + written - read,
        None if above is None else above + read - written,
    )


def _farther(one: Distance, other: Distance) -> Distance:
    return Distance(
        _most(one.written_below, other.written_below),
        _most(one.written_above, other.written_above),
    )


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _nearer(one: Distance, other: Distance) -> Distance:
    return Distance(
        _least(one.written_below, other.written_below),
        _least(one.written_above, other.written_above),
    )


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)
