"""Print the result of one compiler stage, as text or JSON."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from itertools import groupby
from typing import Any

from usmp_build import plugins
from usmp_build.cli.inspect_stages import (
    connection_lines,
    kernel_lines,
    kernel_records,
    place_cost_lines,
    scope_lines,
    survivor_lines,
)
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.cli.table import columns
from usmp_build.errors import one_line
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.ir.graph import TensorRef, operator_at, tensor_at
from usmp_build.ir.labels import short_label
from usmp_build.ir.rewritten import Saving
from usmp_build.ir.schedule import (
    Branch,
    Call,
    Direction,
    Loop,
    Node,
    Repeat,
    RowRef,
    Scope,
    ScratchRef,
    Sequence,
    Step,
    Value,
    without_rows,
)
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.problems import problem_json
from usmp_build.request import Request
from usmp_build.search.replanner import Replanner
from usmp_build.search.strips import choose
from usmp_build.textual import text
from usmp_build.units import show_bytes

_ABOUT = {
    "model": "the models, as text that reads back",
    "rewrite": "what each rewrite removed, which channels are left, and which axes moved",
    "kernels": "the functions that run each operator, and why not faster ones",
    "scopes": "which pools each tensor may be in, and the copies where two users agree on none",
    "axes": "rows of tensors in banked memory",
    "connections": "outputs of models that are inputs of others",
    "schedule": "what runs when, and in which direction",
    "storage": "tensors, scratch and constants as buffers",
    "survivors": "what holds data between runs",
    "lifetimes": "the steps at which each buffer is alive",
    "traffic": "the bytes that each operator reads and writes",
    "separations": "pairs of buffers that may overlap, and how closely",
    "costs": "what each buffer costs in each pool",
    "problem": "what the planner gets: sizes, pools and conflicts",
}
"""The stages, in the order of the road."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("stage", choices=sorted(_ABOUT), metavar="STAGE", help="one of the stages below")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["stages:", *(f"  {stage:12} {about}" for stage, about in _ABOUT.items())])
    manifest_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", action="store_true", help="model: print constants in full, so that it can run again")
    parser.add_argument("--imported", action="store_true", help="model: as imported, before any rewrite")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    request, files = read_request(parsed)
    models = tuple(plugins.import_model(model, files) for model in request.models)
    if parsed.stage == "model":
        shown = models if parsed.imported else Replanner.of(_without_parts(request), models).analyze().models
        written = "\n".join(text.write(model, data="full" if parsed.data else "short") for model in shown)
        value, lines = shown, iter([written.removesuffix("\n")])
    else:
        with Progress(parsed):
            analysis = choose(Replanner.of(request, models)).analysis
        value, lines = _result(analysis, parsed.stage), _STAGES[parsed.stage](request, analysis)
    print(_json(value) if parsed.json else "\n".join(lines))
    return 0


def _json(value: Any) -> str:
    """Return the values of a stage as JSON; a problem as `solve` reads it."""
    return problem_json(value).rstrip() if isinstance(value, Problem) else json.dumps(_plain(value), indent=1)


def _without_parts(request: Request) -> Request:
    """Return the request without concat aliasing: models that are read again must not have parts, see `ir.check`."""
    return replace(
        request,
        models=tuple(replace(model, rewrites_off=model.rewrites_off | {"parts"}) for model in request.models),
    )


def _rewrites(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield what each rewrite removed, then the tensors that lost channels, and those whose axes moved."""
    head = ("model", "rewrite", "operators", "channels", "weights", "MACs", "constant bytes")
    names = [model.name for model in analysis.models]
    rows = [
        (name, saving.rewrite, *(f"{count:,}" for count in _counts(saving)))
        for name, rewritten in zip(names, analysis.rewrites, strict=True)
        for saving in rewritten.savings
    ]
    yield from columns(head, rows, "<<>>>>>")
    for name, rewritten in zip(names, analysis.rewrites, strict=True):
        for (subgraph, tensor), kept in sorted(rewritten.channels.items()):
            value = _value(TensorRef(0, subgraph, tensor))
            yield f"{name} {value} keeps {len(kept)} channels: {_ranges(kept)}"
        for (subgraph, tensor), order in sorted(rewritten.axes.items()):
            yield f"{name} {_value(TensorRef(0, subgraph, tensor))} has the axes {' '.join(map(str, order))}"


def _counts(saving: Saving) -> tuple[int, ...]:
    return saving.operators, saving.channels, saving.weights, saving.macs, saving.constant_bytes


def _ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as text, consecutive ones as `4-11`."""
    runs = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ends = ([number for _, number in run] for _, run in runs)
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in ends)


def _schedule(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each step with its number; indentation shows the structure."""
    numbers = iter(range(analysis.schedule.length))

    def lines(node: Node, depth: int) -> Iterator[str]:
        pad = "  " * depth
        match node:
            case Step():
                kept = f", keeps {_values(node.keeps)}" if node.keeps else ""
                way = f", {node.direction.value}" if node.direction is not Direction.FORWARD else ""
                yield f"{next(numbers):6}  {pad}{node.name}  {_values(node.reads)} -> {_written(node)}{kept}{way}"
            case Sequence(body):
                for child in body:
                    yield from lines(child, depth)
            case Branch(arms):
                for index, arm in enumerate(arms):
                    yield f"        {pad}arm {index}"
                    yield from lines(arm, depth + 1)
            case Loop(test, body):
                yield f"        {pad}loop test"
                yield from lines(test, depth + 1)
                yield f"        {pad}loop body"
                yield from lines(body, depth + 1)
            case Repeat(body) | Scope(_, body) | Call(_, body):
                yield f"        {pad}{_heading(node)}"
                yield from lines(body, depth + 1)

    return lines(analysis.schedule.root, 0)


def _heading(node: Repeat | Scope | Call) -> str:
    match node:
        case Repeat(_, rounds, parallel, workers):
            by = f" by {workers:,} workers" if workers else ""
            kind = f"in parallel{by}" if parallel else "in turn"
            return f"{'?' if rounds is None else f'{rounds:,}'} rounds {kind}"
        case Scope(values):
            return f"scope of {_values(values)}"
        case Call(callee):
            return f"call {json.dumps(callee)}"


def _values(values: Iterable[Value]) -> str:
    """Name values: tensors of other subgraphs than main with their number; scratch by its position."""
    return " ".join(map(_value, values)) or "-"


def _value(value: Value) -> str:
    match value:
        case ScratchRef(_, position):
            return f"scratch {position}"
        case RowRef(tensor, row):
            return f"{_value(tensor)}[{row}]"
        case TensorRef(_, subgraph, number):
            return f"%{number}" if not subgraph else f"{subgraph}:%{number}"


def _written(step: Step) -> str:
    """Name the values that a step writes; those written in part have a `+` in front."""
    partly = (f"+{_value(value)}" for value in step.updates)
    return " ".join((*map(_value, step.writes), *partly)) or "-"


def _storage(_: Request, analysis: Analysis) -> Iterator[str]:
    tensors: dict[int, list[str]] = {}
    for ref, buffer in analysis.storage.tensors.items():
        offset = analysis.storage.offsets.get(ref, 0)
        tensors.setdefault(buffer, []).append(_value(ref) + (f"+{offset}" if offset else ""))
    rows = [
        (name, b.kind.value, show_bytes(b.size), str(b.alignment), " ".join(tensors.get(i, ["-"])), b.reason)
        for i, (name, b) in enumerate(zip(_row_ranges(analysis), analysis.storage.buffers, strict=True))
        if not analysis.row_numbers.get(i)
    ]
    yield from columns(("buffer", "kind", "size", "align", "tensors", "reason"), rows, "<<>><<")
    names = [model.name for model in analysis.models]
    yield from (f"{names[ref.model]} {_value(ref)} is in the caller's array" for ref in analysis.storage.arguments)
    for ref in analysis.storage.on_demand:
        yield f"{names[ref.model]} {_value(ref)} is left to the application's allocator"


def _row_ranges(analysis: Analysis) -> list[str]:
    """Return the names of buffers; for the first row of a tensor that is computed row by row, one for all its rows."""
    names = [buffer.name for buffer in analysis.storage.buffers]
    for buffer, number in analysis.row_numbers.items():
        if buffer in analysis.moved_rows:
            continue
        first = buffer - number
        names[first] = f"{analysis.tensor_name(first)}[0-{number}]"
    return names


def _axes(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each tensor that has planned bytes in banked memory."""
    rows = []
    planned = {ref for ref, buffer in analysis.storage.tensors.items() if buffer in analysis.storage.rows}
    for ref, table in ((ref, table) for ref, table in analysis.axes.items() if ref in planned):
        tensor = tensor_at(analysis.models, ref)
        pages = table.rows * (table.row_size(tensor.dtype.bits) // table.page)
        name = f"{analysis.models[ref.model].name}.{short_label(tensor.name, ref.tensor)}"
        shape, physical = (f"[{', '.join(map(str, extents))}]" for extents in (tensor.shape, table.shape))
        rows.append((name, shape, physical, f"{pages} of {show_bytes(table.page)} bytes", table.why))
    yield from columns(("tensor", "shape", "rows", "pages", "by"), rows, "<<<<<")


def _lifetimes(_: Request, analysis: Analysis) -> Iterator[str]:
    rows = [
        (buffer.name, " ".join(f"[{i.start}, {i.stop})" for i in intervals) or "never")
        for buffer, intervals in zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    ]
    yield from columns(("buffer", "steps"), rows, "<<")


def _traffic(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each buffer that an operator touches; all its jobs, and all rows of a tensor, are one line."""
    rows = []
    for step in without_rows(analysis.schedule.root):
        if step.operator is None:
            continue
        operator = step.name if step.job is None else step.name.rpartition(", row")[0]
        total: dict[str, Traffic] = {}
        for buffer, moved in analysis.traffic[step.operator].items():
            name = analysis.tensor_name(buffer)
            total[name] = total.get(name, Traffic()) + moved
        rows += [(operator, name, show_bytes(moved.read), show_bytes(moved.written)) for name, moved in total.items()]
    yield from columns(("operator", "buffer", "read", "written"), rows, "<<>>")


def _problem(_: Request, analysis: Analysis) -> Iterator[str]:
    problem = analysis.problem
    pools = [(p.name, show_bytes(p.limit) if p.limit is not None else "-") for p in problem.pools]
    yield from columns(("pool", "limit"), pools, "<>")
    yield ""
    rows = []
    for buffer, conflicts in zip(problem.buffers, problem.conflicts, strict=True):
        candidates = " ".join(problem.pools[pool].name for pool in buffer.pools)
        costs = " ".join(map(str, buffer.costs)) or "0"
        rows.append(
            (buffer.name, show_bytes(buffer.size), str(buffer.alignment), candidates, costs, str(len(conflicts)))
        )
    yield from columns(("buffer", "size", "align", "pools", "costs", "conflicts"), rows, "<>><<>")
    if problem.separations:
        yield f"{len(problem.separations):,} separations: two in conflict, closer than the lower one is long"


def _separations(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each pair (below, above): the least distance between their starts, in bytes."""
    names = [buffer.name for buffer in analysis.storage.buffers]
    rows = []
    for (below, above), allowed in analysis.separations.pairs.items():
        if isinstance(allowed.operator, str):
            by = one_line(allowed.operator)
        else:
            op = operator_at(analysis.models, allowed.operator)
            by = f"{analysis.models[allowed.operator.model].name}: {op.kind} {op.position}"
        rows.append((names[below], names[above], show_bytes(allowed.bytes), by, allowed.direction.value))
    yield from columns(("below", "above", "bytes", "operator", "direction"), rows, "<<><<")


_STAGES: Mapping[str, Callable[[Request, Analysis], Iterator[str]]] = {
    "rewrite": _rewrites,
    "kernels": kernel_lines,
    "scopes": scope_lines,
    "axes": _axes,
    "connections": connection_lines,
    "schedule": _schedule,
    "storage": _storage,
    "survivors": survivor_lines,
    "lifetimes": _lifetimes,
    "traffic": _traffic,
    "separations": _separations,
    "costs": place_cost_lines,
    "problem": _problem,
}


def _result(analysis: Analysis, stage: str) -> Any:
    """Return the result of a stage; for `rewrite` without the models, which have a separate stage."""
    if stage == "kernels":
        return kernel_records(analysis)
    if stage == "rewrite":
        return [{"channels": r.channels, "axes": r.axes, "savings": r.savings} for r in analysis.rewrites]
    return getattr(analysis, stage)


def _plain(value: Any) -> Any:
    """Return the values of a stage as JSON types; constants are named by their digest."""
    match value:
        case Enum():
            return value.name
        case bytes():
            return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
        case frozenset():
            return [*map(_plain, sorted(value))]
        case Fraction():
            return str(value)
        case tuple() if hasattr(value, "_asdict"):
            return _plain(value._asdict())
        case tuple() | list():
            return [*map(_plain, value)]
        case Mapping():
            pairs = [(_plain(key), _plain(item)) for key, item in value.items()]
            return dict(pairs) if all(isinstance(key, str) for key in value) else pairs
    if dataclasses.is_dataclass(value):
        kind = {"node": type(value).__name__} if isinstance(value, Node) else {}
        names = [field.name for field in dataclasses.fields(value)]
        return kind | dict(zip(names, map(_plain, [getattr(value, name) for name in names]), strict=True))
    return value
