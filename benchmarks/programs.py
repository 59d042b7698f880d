"""What planning all buffers of a program together is worth, against planning each function by itself first.

    python -m benchmarks.programs

Local first: the own buffers of every function are planned alone, and lumped into one workspace that is alive for the
whole of each call.  That is what lifting allocations out of functions does.  Global: what we do.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from usmp_build import pipeline, plugins
from usmp_build.files import DictFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.schedule import Call, Node, children, steps
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.search.replanner import Replanner
from usmp_build.units import show_bytes

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests" / "cases" / "programs"
EXAMPLE = ROOT / "tests" / "data" / "depthwise.program.json"
_MANIFEST = b"""
[project]
name = "t"
[pools.sram]
access = "rw"
[pools.flash]
access = "ro"
[models.m]
path = "m.program.json"
io = "application"
"""


def main() -> None:
    """Print the table."""
    print("\n".join(table()))


def table() -> list[str]:
    """Return the lines of the table."""
    lines = ["| program | local first | global | saved |", "|---|--:|--:|--:|"]
    for path in [EXAMPLE, *sorted(CASES.glob("*.json"))]:
        if path.stem == "io":
            continue
        local, together = figures(analyze(path.read_bytes()))
        saved = f"{100 * (local - together) / local:.1f} %"
        name = path.name.partition(".")[0]
        lines.append(f"| {name} | {show_bytes(local)} | {show_bytes(together)} | {saved} |")
    return lines


def analyze(program: bytes) -> Analysis:
    """Run all passes over a program."""
    files = DictFiles({"usmp.toml": _MANIFEST, "m.program.json": program})
    request = pipeline.read("usmp.toml", files)
    return Replanner.of(request, tuple(plugins.import_model(model, files) for model in request.models)).analyze()


def figures(analysis: Analysis) -> tuple[int, int]:
    """Return the bytes of a local-first plan, and of the global one; both are optimal for their question."""
    workspace = {i: b for i, b in enumerate(analysis.problem.buffers) if analysis.storage.buffers[i].data is None}
    owners = {buffer: ref.subgraph for ref, buffer in analysis.storage.tensors.items() if buffer in workspace}
    functions: dict[int, list[int]] = defaultdict(list)
    for buffer, function in sorted(owners.items()):
        functions[function].append(buffer)
    calls = _calls(analysis)
    names = [graph.name for graph in analysis.models[0].subgraphs]
    lumped = [_stated(workspace[i]) for i in functions.pop(0, [])]
    for function, own in functions.items():
        alone = _peak([_stated(workspace[i]) for i in own])
        lumped.append(Buffer(names[function], alone, (0,), (), 1, tuple(calls[names[function]])))
    return _peak(lumped), _peak([_stated(buffer) for buffer in workspace.values()])


def _stated(buffer: Buffer) -> Buffer:
    return Buffer(buffer.name, buffer.size, (0,), (), buffer.alignment, buffer.intervals)


def _peak(buffers: list[Buffer]) -> int:
    """Plan buffers into one pool, where two conflict when they are alive at one step."""
    alive = [{t for start, stop in buffer.intervals for t in range(start, stop)} for buffer in buffers]
    conflicts = tuple(
        tuple(j for j in range(len(buffers)) if i != j and not alive[i].isdisjoint(alive[j]))
        for i in range(len(buffers))
    )
    problem = Problem((Pool("sram", None),), tuple(buffers), conflicts)
    plan = Exact()(problem)
    assert plan is not None  # without a limit, there always is one
    return peaks(problem, plan)[0]


def _calls(analysis: Analysis) -> dict[str, list[tuple[int, int]]]:
    """Return for each function the steps of its calls."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def walk(node: Node, at: int) -> int:
        length = sum(1 for _ in steps(node))
        if isinstance(node, Call):
            found[node.callee].append((at, at + length))
        inside = at
        for child in children(node):
            inside = walk(child, inside)
        return at + length

    walk(analysis.schedule.root, 0)
    return found


if __name__ == "__main__":
    main()
