"""Print one stage of the road: model, schedule, storage, lifetimes, traffic or problem, as text or JSON."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from usmp_build import pipeline
from usmp_build.cli.common import manifest_arguments, read_request
from usmp_build.cli.table import columns
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir import text
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Sequence, Step, steps
from usmp_build.units import show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("stage", choices=sorted(_STAGES))
    manifest_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", action="store_true", help="model: print constants in full, so that it can run again")
    parser.add_argument("--imported", action="store_true", help="model: as imported, before any rewrite")


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    request, files = read_request(parsed)
    models = tuple(pipeline.import_model(model, files) for model in request.models)
    if parsed.stage == "model" and parsed.imported:
        shown: Any = models
    else:
        analysis = pipeline.analyze(request, models)
        shown = analysis.models if parsed.stage == "model" else analysis
    if parsed.json:
        value = shown if parsed.stage == "model" else getattr(shown, parsed.stage)
        print(json.dumps(_plain(value), indent=1))
    elif parsed.stage == "model":
        print("\n".join(text.write(model, data="full" if parsed.data else "short") for model in shown), end="")
    else:
        print("\n".join(_STAGES[parsed.stage](shown)))
    return 0


def _schedule(analysis: Analysis) -> Iterator[str]:
    """One line for each step with its number; structure by indentation."""
    numbers = iter(range(analysis.schedule.length))

    def lines(node: Node, depth: int) -> Iterator[str]:
        pad = "  " * depth
        match node:
            case Step():
                reads, writes = (" ".join(f"%{t.tensor}" for t in side) or "-" for side in (node.reads, node.writes))
                yield f"{next(numbers):6}  {pad}{node.name}  {reads} -> {writes}"
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
            case Call(callee, body):
                yield f"        {pad}call {json.dumps(callee)}"
                yield from lines(body, depth + 1)

    return lines(analysis.schedule.root, 0)


def _storage(analysis: Analysis) -> Iterator[str]:
    tensors: dict[int, list[str]] = {}
    for ref, buffer in analysis.storage.tensors.items():
        tensors.setdefault(buffer, []).append(f"%{ref.tensor}" if not ref.subgraph else f"{ref.subgraph}:%{ref.tensor}")
    rows = [
        (b.name, b.kind.value, show_bytes(b.size), str(b.alignment), " ".join(tensors.get(i, ["-"])), b.reason)
        for i, b in enumerate(analysis.storage.buffers)
    ]
    yield from columns(("buffer", "kind", "size", "align", "tensors", "reason"), rows, "<<>><<")
    yield from (f"{ref.tensor} is in the caller's array" for ref in analysis.storage.arguments)


def _lifetimes(analysis: Analysis) -> Iterator[str]:
    rows = [
        (buffer.name, " ".join(f"[{i.start}, {i.stop})" for i in intervals) or "never")
        for buffer, intervals in zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    ]
    yield from columns(("buffer", "steps"), rows, "<<")


def _traffic(analysis: Analysis) -> Iterator[str]:
    """One line for each buffer that an operator touches."""
    rows = []
    for step in steps(analysis.schedule.root):
        for buffer, moved in analysis.traffic[step.operator].items() if step.operator else ():
            name = analysis.storage.buffers[buffer].name
            rows.append((step.name, name, show_bytes(moved.read), show_bytes(moved.written)))
    yield from columns(("operator", "buffer", "read", "written"), rows, "<<>>")


def _problem(analysis: Analysis) -> Iterator[str]:
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


_STAGES: Mapping[str, Callable[[Analysis], Iterator[str]]] = {
    "model": lambda _: iter(()),
    "schedule": _schedule,
    "storage": _storage,
    "lifetimes": _lifetimes,
    "traffic": _traffic,
    "problem": _problem,
}


def _plain(value: Any) -> Any:
    """Turn the values of a stage into what JSON knows; constants are named by their digest."""
    match value:
        case Enum():
            return value.name
        case bytes():
            return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
        case tuple() if hasattr(value, "_asdict"):
            return _plain(value._asdict())
        case tuple() | list():
            return [_plain(item) for item in value]
        case Mapping():
            return (
                [[_plain(key), _plain(item)] for key, item in value.items()]
                if not _named(value)
                else {key: _plain(item) for key, item in value.items()}
            )
    if dataclasses.is_dataclass(value):
        kind = {"node": type(value).__name__} if isinstance(value, Step | Sequence | Branch | Loop | Call) else {}
        return kind | {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def _named(value: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, str) for key in value)
