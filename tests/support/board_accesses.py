"""What the counting plugin saw of each operator, beside what the plan says of it: buffer by buffer.

Every pool is cut where any buffer begins or ends.  A piece belongs to the buffers of the operator that lie on it.
Buffers of an operator that overlap are counted together, for nobody can tell whose byte was read or written there.
Apart from those an operator may touch code, with its tables, and the stack, and read a few variables of the C library;
everything else is astray.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from operator import not_
from pathlib import Path
from typing import TypeAlias

from tests.support import counting, firmware, image
from tests.support.counting import Interval, Range
from tests.support.image import Image
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel, Reduce, Traffic
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.ir.schedule import Direction, steps
from usmp_build.selftest.harness import Run, observed_steps
from usmp_build.selftest.inputs import Sample

FACTOR = 1.1
"""By which the bytes read of a buffer may differ from what its kernel declares, whatever its form: compilers may keep
a value in a register, or read it again.  Bytes written may not differ at all."""
LAST_PLACE = 4 * 15
"""What backward kernels read besides of the axes along which operands are stretched: all, to find where they begin."""

ESTIMATED = {"CUSTOM:SignalStacker", "CUSTOM:TFLite_Detection_PostProcess"}
"""Kinds whose traffic is an estimate: it depends on the data, or on what happened in earlier runs."""
READ_IN_PART = {"LOGISTIC", "TANH", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"}
"""Kinds that may read less than they declare: of a table, where their input leaves it; of numbers of 64 bits, the half
that decides."""
STATEFUL = {
    *("lstm_f32", "lstm_s16", "lstm_s8", "svdf_f32", "svdf_s8_s16", "svdf_s8_s8"),
    *("signal_delay", "signal_framer", "signal_overlap_add_f32", "signal_overlap_add_s16"),
    *("circular_buffer", "circular_buffer_valid"),
    *("signal_stacker", "signal_subtraction"),
}
"""C functions that run in models that remember only: in test_every_tensor.py and test_accesses.py."""
_SUMS = [
    f"{kind}_2d_sums_{dtype}" for kind in ("average_pool", "conv", "depthwise_conv") for dtype in ("s8", "s16", "f32")
]
BY_ROWS = {
    f"{function}_{part}"
    for function in (*_SUMS, "reduce_max_rows_s8", "reduce_max_rows_f32")
    for part in ("begin", "row", "finish")
} | {"depth_to_space_row", "pad_row"}
"""C functions that only kernels by rows call, which run in place of the others in test_kernels.py."""

DYNAMIC = {"conv_2d_dynamic", "depthwise_conv_2d_dynamic"}
"""C functions of operators that TensorFlow Lite Micro does not have: in test_kernels.py, too."""

Pieces: TypeAlias = list[list[str]]
"""For each buffer of the plan the names of the pieces that it consists of."""

_MEMORIES = ("code", "stack")
"""What any operator may touch, from `__code_start` to `__code_end`."""
_VARIABLES = ("__fdlib_version", "one", "two", "tiny")
"""What it may read, where the program has it: Newlib's expf() looks up how to report errors, and picolibc keeps numbers
for tanhf() in RAM."""
_HOOKS = {"usmp_hook", "usmp_hook_pixels", "usmp_hook_row"}
"""What is called after each operator, or row of it: with a tensor whose bytes lie side by side, pixel by pixel, or with
one of its rows."""
_HARNESS = ("harness_", "host_", "usmp_hook")
"""How functions begin that are not part of what is measured."""


@dataclass(frozen=True)
class Moved:
    """One buffer of one operator, or several that overlap."""

    buffer: str
    """Its name, or their names with "and"."""
    pool: str
    declared: Traffic
    counted: Traffic


@dataclass(frozen=True)
class Counted:
    """One operator of a run."""

    name: str
    form: str
    """"whole", "rows" or "reduce"."""
    instructions: int
    is_backward: bool
    moved: tuple[Moved, ...]
    astray: Mapping[str, Traffic]
    """In pieces of pools that are in none of its buffers, or only in those that it does not write, or does not read;
    and `nowhere`, in no memory that it may touch at all."""

    @property
    def kind(self) -> str:
        """The kind of operator."""
        return self.name.partition(": ")[2].rpartition(" ")[0]


def count(
    board_image: Image, inputs: Sequence[Sequence[Sample]], plugin: Path
) -> tuple[list[list[Run]], list[list[Counted]]]:
    """Run every model once; return what `image.run` returns, and what each operator did, by model."""
    symbols = firmware.symbols(board_image.board, board_image.elf)
    cuts = _cuts(board_image)
    regions = {name: _between(symbols, f"__{name}") for name in _MEMORIES}
    regions |= {name: symbols[name] for name in _VARIABLES if name in symbols}
    for pool, places in cuts.items():
        base, _ = symbols[f"__usmp_{pool}_start"]
        regions |= {f"{pool}+{start}": (base + start, stop - start) for start, stop in pairwise(places)}
    hooks = sorted(_HOOKS & symbols.keys())  # the linker drops one that no model calls
    marks = {name: symbols[name][0] for name in ("harness_begin", *hooks, "harness_end")}
    ignored = [place for name, place in symbols.items() if name.startswith(_HARNESS)]
    out = board_image.folder / "accesses.json"
    results = image.run(board_image, inputs, counting.plugin_arguments(plugin, out, regions, marks, ignored))
    return results, list(_by_model(board_image, _pieces(board_image, cuts), iter(counting.read_intervals(out))))


def problems(runs: Sequence[Sequence[Counted]]) -> list[str]:
    """Say what operators did that the plan does not say."""
    return [f"{op.name} ({op.form}) {problem}" for run in runs for op in run for problem in _problems(op)]


def _problems(operator: Counted) -> Iterator[str]:
    for name, traffic in operator.astray.items():
        yield f"touches {name}: {traffic}"
    for moved in operator.moved if operator.kind not in ESTIMATED else ():
        declared, counted = moved.declared, moved.counted
        if counted.written != declared.written:
            yield f"writes {counted.written} bytes of {moved.buffer} instead of {declared.written}"
        if operator.kind in READ_IN_PART and counted.read < declared.read:
            continue
        most = declared.read * FACTOR
        if operator.is_backward and moved.buffer.endswith(".axes"):
            most += LAST_PLACE
        if not declared.read / FACTOR <= counted.read <= most:
            yield f"reads {counted.read} bytes of {moved.buffer} instead of {declared.read}"


def _between(symbols: Mapping[str, Range], name: str) -> Range:
    start, end = symbols[f"{name}_start"][0], symbols[f"{name}_end"][0]
    return start, end - start


def _cuts(firmware: Image) -> dict[str, list[int]]:
    """For every pool the offsets at which a piece begins or ends."""
    cuts = {pool.name: {0, pool.size} for pool in firmware.layout.summary.pools if pool.size}
    for row in firmware.layout.summary.buffers:
        if row.size:
            cuts[row.pool] |= {row.offset, row.offset + row.size}
    return {name: sorted(offsets) for name, offsets in cuts.items()}


def _pieces(firmware: Image, cuts: Mapping[str, Sequence[int]]) -> Pieces:
    pools, buffers = firmware.layout.summary.pools, firmware.planned.analysis.storage.buffers
    pieces = []
    for buffer, place in zip(buffers, firmware.planned.plan.allocations, strict=True):
        name, inside = pools[place.pool].name, range(place.offset, place.offset + buffer.size)
        pieces.append([f"{name}+{start}" for start in cuts.get(name, ()) if start in inside])
    return pieces


def _by_model(firmware: Image, pieces: Pieces, intervals: Iterator[Interval]) -> Iterator[list[Counted]]:
    """Everything from begin to end of a run is between two marks; the hook is called once for each trace."""
    schedule = firmware.planned.analysis.schedule
    for index, (program, (_, code)) in enumerate(zip(schedule.programs, firmware.layout.models, strict=True)):
        assert next(intervals).mark == "harness_begin"
        for _ in code.views:
            _check_idle(next(intervals), "usmp_hook")
        seen: dict[OperatorRef, list[Interval]] = {}
        moves: list[Interval] = []
        observed = [step for step in steps(program) if step.operator or step.arrival or step.move]
        for step, shown in zip(observed, observed_steps(firmware.planned, firmware.layout, index, 0), strict=True):
            of_step = seen.setdefault(step.operator, []) if step.operator else moves
            of_step.extend(next(intervals) for _ in range(shown["traces"]))
        operators = [_operator(firmware, ref, pieces, of_operator) for ref, of_operator in seen.items()]
        yield [*operators, *map(_row_that_moves, moves)]
        _check_idle(next(intervals), "harness_end")


def _row_that_moves(interval: Interval) -> Counted:
    """Return a move of a row, which is read once and written once, in one pool."""
    touched = {name: each for name, each in interval.regions.items() if "+" in name}
    (pool,) = {name.rpartition("+")[0] for name in touched}
    total = Traffic(sum(each.read for each in touched.values()), sum(each.written for each in touched.values()))
    declared = Traffic(total.written, total.written)
    return Counted("row that moves", "move", interval.instructions, False, (Moved("row", pool, declared, total),), {})


def _check_idle(interval: Interval, mark: str) -> None:
    """Before and behind operators nothing touches a pool."""
    assert interval.mark == mark
    assert interval.outside == Traffic()
    assert interval.regions.keys() <= {*_MEMORIES}


def _operator(firmware: Image, ref: OperatorRef, pieces: Pieces, intervals: Sequence[Interval]) -> Counted:
    assert {interval.mark for interval in intervals} <= _HOOKS
    analysis = firmware.planned.analysis
    operator, kernel, declared = operator_at(analysis.models, ref), analysis.kernels[ref], analysis.traffic[ref]
    assert isinstance(kernel, Kernel)
    seen, groups = _sum(intervals), _overlapping(_tensors(analysis, declared), pieces)
    own = {*_MEMORIES, *(piece for buffer in declared for piece in pieces[buffer])}
    return Counted(
        name=f"{firmware.layout.models[ref.model][0].name}: {operator.kind} {operator.position}",
        form=type(kernel.calls[0].form).__name__.lower(),
        instructions=sum(interval.instructions for interval in intervals),
        is_backward=analysis.directions[ref] is Direction.BACKWARD,
        moved=tuple(_moved(firmware, group, declared, pieces, seen) for group in groups),
        astray={
            **{name: t for name, t in seen.items() if name not in own and (t.written or name not in _VARIABLES)},
            **dict(_undeclared(declared, pieces, seen)),
        },
    )


def _sum(intervals: Sequence[Interval]) -> dict[str, Traffic]:
    """What was touched, and how much."""
    seen: dict[str, Traffic] = {}
    for interval in intervals:
        for name, traffic in (*interval.regions.items(), ("nowhere", interval.outside)):
            seen[name] = seen.get(name, Traffic()) + traffic
    return {name: traffic for name, traffic in seen.items() if traffic != Traffic()}


def _overlapping(tensors: Iterable[list[int]], pieces: Pieces) -> list[list[int]]:
    """Part tensors into groups, each of those that share pieces with others of the group; most are alone."""
    groups: list[list[int]] = []
    for buffers in tensors:
        shares = [not _covered(buffers, pieces).keys().isdisjoint(_covered(group, pieces)) for group in groups]
        joined = [*chain.from_iterable(compress(groups, shares)), *buffers]
        groups = [*compress(groups, map(not_, shares)), joined]
    return groups


def _tensors(analysis: Analysis, buffers: Iterable[int]) -> list[list[int]]:
    """Put the rows of each tensor together: what is declared of it counts for all of them."""
    by_name: dict[str, list[int]] = {}
    for buffer in buffers:
        by_name.setdefault(analysis.tensor_name(buffer), []).append(buffer)
    return list(by_name.values())


def _covered(group: Iterable[int], pieces: Pieces) -> dict[str, None]:
    """The pieces that buffers consist of, each once."""
    return dict.fromkeys(chain.from_iterable(pieces[buffer] for buffer in group))


def _undeclared(
    declared: Mapping[int, Traffic], pieces: Pieces, seen: Mapping[str, Traffic]
) -> Iterator[tuple[str, Traffic]]:
    """Yield what was written where all buffers are only read, and what was read where all are only written."""
    for piece in _covered(declared, pieces):
        may = sum((declared[buffer] for buffer in declared if piece in pieces[buffer]), Traffic())
        did = seen.get(piece, Traffic())
        wrong = Traffic(0 if may.read else did.read, 0 if may.written else did.written)
        if wrong != Traffic():
            yield piece, wrong


def _moved(
    firmware: Image, group: Sequence[int], declared: Mapping[int, Traffic], pieces: Pieces, seen: Mapping[str, Traffic]
) -> Moved:
    name = " and ".join(firmware.planned.analysis.storage.buffers[buffer].name for buffer in group)
    pool = firmware.layout.summary.pools[firmware.planned.plan.allocations[group[0]].pool].name
    counted = sum((seen.get(piece, Traffic()) for piece in _covered(group, pieces)), Traffic())
    return Moved(name, pool, sum((declared[buffer] for buffer in group), Traffic()), counted)


def called(firmware: Image) -> set[str]:
    """The C functions that run in an image."""
    return functions_of(firmware.planned.analysis.kernels.values())


def functions_of(kernels: Iterable[Kernel | NoKernel | None]) -> set[str]:
    """The C functions that kernels call."""
    calls = [call for kernel in kernels if isinstance(kernel, Kernel) for call in kernel.calls]
    return {
        call.function + part
        for call in calls
        for part in (("_begin", "_row", "_finish") if isinstance(call.form, Reduce) else ("",))
    }
