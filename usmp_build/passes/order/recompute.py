"""Orders of jobs in which rows are computed again, so that fewer of them are alive.

A wide row is dropped when a job has read it, and computed again from narrow rows that are kept.  With expand (1x1,
wide rows e), depthwise (3x3, rows d) and project (1x1, narrow rows p):

    once     e0 e1 d0 p0   e2 d1 p1         e3 d2 p2            two rows of e stay from each d to the next one
    again    e0 e1 d0 p0   e0 e1 e2 d1 p1   e1 e2 e3 d2 p2      none stays: other layers use the memory in between

Jobs run when they are needed: the last ones of the model first have what they need computed.  That leaves two choices
for each tensor, its `Policy`: how many of its rows stay, and whether all are computed before one is read.  The search
changes them one by one, each time for a tensor that is alive at the fullest job.

Rows that may be:  those of a tensor with a buffer for each, which a kernel computes from other rows by itself; no sums
                   over rows, and no input or output of the model
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import OperatorRef
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.demand import OrderMaker
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.states import Jobs, States
from usmp_build.passes.rewrite.work import operator_macs
from usmp_build.request import Request

_KEPT = (0, 1, 2)
"""How many rows may stay of a tensor that drops the others."""
_UNLIMITED = 1 << 62
_Value = tuple[float, float]
"""What a change is worth: the more the better."""


@frozen
class RepeatableRows:
    """The rows that may be computed again."""

    tensors: Mapping[int, range]
    """First row of a tensor → all of its rows, as buffers."""
    writers: Mapping[int, int]
    """Row → the job that computes it."""
    work: Sequence[int]
    """Multiplications of each job of the model; a job without any counts its output elements."""


@frozen
class Policy:
    """When rows of tensors are dropped and computed; a tensor is named by its first row."""

    kept: Mapping[int, int] = field(default_factory=dict)
    """Tensor → how many of its rows stay when a job has read it, the last ones; those of others stay while they are
    needed."""
    complete: frozenset[int] = frozenset()
    """Tensors of which all rows are computed before one is read."""

    def keeping(self, tensor: int, count: int | None) -> Policy:
        """Return the policy in which a tensor keeps so many rows; None: all that are needed."""
        others = {each: kept for each, kept in self.kept.items() if each != tensor}
        return replace(self, kept=others if count is None else {**others, tensor: count})


@frozen
class Repeated:
    """An order in which jobs may occur several times."""

    order: tuple[int, ...]
    policy: Policy
    peak: int
    """Bytes alive at its fullest job, where overlapping bytes count once."""
    crowd: int
    """Bytes by which jobs come near that peak, added up: of equal peaks, the fewer the better."""
    work: int
    at_peak: int
    """The buffers alive at the fullest job."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The smaller the better."""
        return self.peak, self.crowd, self.work


def recomputed_order(jobs: Jobs, rows: RepeatableRows, most: int) -> Repeated | None:
    """Return the order with the lowest peak that the search arrives at, with at most this work; None: it has none.

    First the lowest peak is searched at any price, beginning with all wide rows dropped.  Then rows are kept again,
    those first that cost the fewest bytes for the work that they save, until the work is allowed; then it goes on.
    """
    search = _Search(jobs, rows, most)
    order = search.of(Policy(dict.fromkeys(_wide(jobs, rows), 1)), _UNLIMITED)
    if order is not None:
        order = search.with_less_work(search.improved(order, _UNLIMITED))
        search.improved(order, most)
    return search.best


def _wide(jobs: Jobs, rows: RepeatableRows) -> Iterator[int]:
    """Yield the tensors whose rows are read by several jobs, and are larger than what they are computed from."""
    for tensor, span in rows.tensors.items():
        row = span[len(span) // 2]
        readers = sum(job.needs >> row & 1 for job in jobs.jobs)
        source = sum(jobs.sizes[buffer] for buffer in members_of(jobs.jobs[rows.writers[row]].needs))
        if readers > 1 and jobs.sizes[row] > source:
            yield tensor


class _Search:
    def __init__(self, jobs: Jobs, rows: RepeatableRows, most: int) -> None:
        self.best: Repeated | None = None
        """The best of all orders so far with work of at most `most`."""
        self._jobs = jobs
        self._rows = rows
        self._most = most
        self._states = States(jobs)
        self._demand = OrderMaker(jobs, rows.tensors, rows.writers)
        self._left = 0

    def of(self, policy: Policy, most: int) -> Repeated | None:
        """Return the order of a policy; None if its work is more than `most`."""
        numbers = self._demand.order(policy.kept, policy.complete)
        self._left -= len(numbers or self._jobs.jobs)
        work = sum(self._rows.work[number] for number in numbers or ())
        if numbers is None or work > most:
            return None
        order = self._measured(numbers, policy, work)
        if work <= self._most and (self.best is None or order.rank < self.best.rank):
            self.best = order
        return order

    def improved(self, order: Repeated, most: int) -> Repeated:
        """Change the policy of one tensor after the other, as long as that is better."""
        self._left = effort.RECOMPUTED_JOBS
        while better := self._best(order, self._changes(order), most, _saving):
            order = better
        return order

    def with_less_work(self, order: Repeated) -> Repeated:
        """Keep more rows until the work is allowed, or no change or effort is left."""
        self._left = effort.RECOMPUTED_JOBS
        while order.work > self._most and (less := self._best(order, _more_kept(order), order.work - 1, _price)):
            order = less
        return order

    def _best(
        self,
        order: Repeated,
        changes: Iterator[Policy],
        most: int,
        value: Callable[[Repeated, Repeated], _Value | None],
    ) -> Repeated | None:
        """Return the order with the highest value of those that changed policies give, as far as the effort allows."""
        best: tuple[_Value, Repeated] | None = None
        for policy in changes:
            if self._left <= 0:
                break
            changed = self.of(policy, most)
            worth = value(order, changed) if changed else None
            if changed and worth is not None and (best is None or worth > best[0]):
                best = worth, changed
        return best[1] if best else None

    def _changes(self, order: Repeated) -> Iterator[Policy]:
        """Yield policies with a change for one tensor that is alive at the fullest job; or another one is complete."""
        policy, tensors = order.policy, self._rows.tensors
        alive = [each for each, span in tensors.items() if order.at_peak >> span.start & ((1 << len(span)) - 1)]
        for tensor in alive:
            yield replace(policy, complete=policy.complete ^ {tensor})
            kept = policy.kept.get(tensor)
            yield from (policy.keeping(tensor, count) for count in (None, *_KEPT) if count != kept)
        for tensor in sorted(policy.complete.intersection(alive)):
            yield from (replace(policy, complete=policy.complete ^ {tensor, other}) for other in tensors)

    def _measured(self, order: tuple[int, ...], policy: Policy, work: int) -> Repeated:
        """Return an order with its figures: what a job writes is alive until it is read for the last time."""
        live = self._jobs.after
        size = self._bytes(live)
        alive: list[int] = []
        peak, at_peak = 0, 0
        for number in reversed(order):
            job = self._jobs.jobs[number]
            dying, born = job.needs & ~live, live & job.writes & ~job.needs
            after, live = live, live & ~born | dying
            size -= self._bytes(born)
            alive.append(size + self._states.beside(number, dying, live))
            size += self._bytes(dying)
            if alive[-1] > peak:
                peak, at_peak = alive[-1], live | after | job.touches
        crowd = sum(max(0, each - peak * 7 // 8) for each in alive)
        return Repeated(order, policy, peak, crowd, work, at_peak)

    def _bytes(self, buffers: int) -> int:
        return sum(self._jobs.sizes[buffer] for buffer in members_of(buffers))


def _more_kept(order: Repeated) -> Iterator[Policy]:
    for tensor, kept in order.policy.kept.items():
        yield from (order.policy.keeping(tensor, count) for count in (None, *range(kept + 1, 1 + max(_KEPT))))


def _saving(order: Repeated, changed: Repeated) -> _Value | None:
    """Return the bytes saved for each unit of work more; None where nothing is better."""
    if changed.rank >= order.rank:
        return None
    price = max(1, changed.work - order.work)
    return (order.peak - changed.peak) / price, (order.crowd - changed.crowd) / price


def _price(order: Repeated, changed: Repeated) -> _Value | None:
    """Return the bytes that each unit of work costs that is saved, less than 0."""
    saved = order.work - changed.work
    return (order.peak - changed.peak) / saved, (order.crowd - changed.crowd) / saved


@frozen
class Recomputed:
    """An order in which a model computes rows again."""

    operators: tuple[int, ...]
    numbers: tuple[int, ...]
    """For each operator in the order which of its jobs it is."""
    peak: int
    """The bytes alive at its fullest job, without persistent buffers."""
    more: Fraction
    """The work of jobs that run again, as a part of that of all jobs."""


def recomputed(request: Request, analysis: Analysis, index: int) -> Recomputed | None:
    """Return an order in which a model computes rows again, for as much more work as its request allows.

    None where the search has none.  `analysis` must be row by row, in the order of the file.
    """
    jobs, operators = jobs_of(analysis, index)
    rows = recomputable_rows(analysis, index, jobs, operators)
    all_work = sum(rows.work)
    order = recomputed_order(jobs, rows, all_work * (100 + request.models[index].recompute) // 100)
    if order is None:
        return None
    return Recomputed(*numbered(operators, order.order), order.peak, Fraction(order.work - all_work, max(1, all_work)))


def recomputable_rows(analysis: Analysis, index: int, jobs: Jobs, operators: tuple[int, ...]) -> RepeatableRows:
    """Return the rows of a model that may be computed again; `operators` are those of its jobs."""
    tensors = {rows.start: rows for rows in _rows(analysis, index)}
    work = tuple(_work(analysis, OperatorRef(index, 0, operator)) for operator in operators)
    return RepeatableRows(tensors, _writers(jobs, tensors), work)


def numbered(operators: tuple[int, ...], order: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return an order of jobs as operators and numbers; `operators` are those of all jobs, in turn."""
    counts: Counter[int] = Counter()
    numbers = []
    for operator in operators:
        numbers.append(counts[operator])
        counts[operator] += 1
    return tuple(operators[job] for job in order), tuple(numbers[job] for job in order)


def _rows(analysis: Analysis, index: int) -> Iterator[range]:
    graph = analysis.models[index].main
    for tensor in analysis.choices.by_rows.tables:
        if tensor.model == index:
            producer = graph.producers[tensor.tensor]
            kernel = analysis.kernel_of(OperatorRef(index, 0, producer))
            jobs = row_jobs(kernel) if isinstance(kernel, Kernel) else None
            makes_others = len(graph.operators[producer].outputs) > 1  # whose rows would be written again, too
            if jobs is not None and not jobs.adds_up and not makes_others:
                yield analysis.storage.buffers_of(tensor)


def _writers(jobs: Jobs, tensors: dict[int, range]) -> dict[int, int]:
    rows = sum(((1 << len(span)) - 1) << first for first, span in tensors.items())
    return {row: number for number, job in enumerate(jobs.jobs) for row in members_of(job.writes & rows)}


def _work(analysis: Analysis, ref: OperatorRef) -> int:
    """Return the multiplications of each job of an operator; of one without any, the elements of its outputs."""
    graph = analysis.models[ref.model].main
    op = graph.operators[ref.operator]
    elements = sum(graph.tensors[tensor].elements for tensor in op.outputs)
    return (operator_macs(op, graph) or elements) // analysis.choices.jobs(ref)
