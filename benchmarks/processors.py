"""Every operator on every processor, for each set of instructions that it can run: instructions, flash, stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks import board, cortex, size, stack
from benchmarks.figures import Figures
from benchmarks.subject import generate, prepare
from benchmarks.tools import Unmeasured
from tests.support.firmware import BOARDS
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.passes.rewrite.work import operator_macs
from usmp_build.request import Isa

PROCESSORS = {"M3": "m3", "M4": "m4", "M33": "m33", "M55": "m55", "RISC-V": "riscv"}
"""Names of columns, and of the boards of examples/firmware."""
RUNS: dict[Isa, tuple[str, ...]] = {
    Isa.PORTABLE: tuple(PROCESSORS),
    Isa.DSP: ("M4", "M33", "M55"),
    Isa.MVE: ("M55",),
}
"""Which processors run what."""
COMPILED = {Isa.PORTABLE: "M4", Isa.DSP: "M4", Isa.MVE: "M55"}
"""The processors whose flash and stack are measured."""


class Place(NamedTuple):
    """Where something ran."""

    processor: str
    isa: Isa


@dataclass(frozen=True)
class Kind:
    """Operators of a kind, such as `CONV_2D 3x3`, and their multiply-accumulates; padding counts like pixels."""

    operators: int
    macs: int
    instructions: dict[Place, int]


@dataclass(frozen=True)
class Profile:
    """What one model costs everywhere."""

    totals: dict[Place, int]
    kinds: dict[str, Kind]
    operators: dict[int, dict[Place, int]]
    """By position in the model file."""
    flash: dict[Isa, Figures]
    chains: dict[Isa, stack.Stack]
    """The deepest ones."""


def profile(path: Path, folder: Path) -> tuple[Profile, list[str]]:
    """Build and run everything, and say what could not be."""
    notes: list[str] = []
    counts: dict[Place, Counter[int]] = {}
    flash: dict[Isa, Figures] = {}
    chains: dict[Isa, stack.Stack] = {}
    graph: Subgraph | None = None
    for isa, processors in RUNS.items():
        try:
            subject = prepare(path, _new(folder / isa.value), isa=isa)
            generate(subject)
            graph = subject.planned.analysis.models[0].main
            objects = cortex.objects(subject, BOARDS[PROCESSORS[COMPILED[isa]]])
            chains[isa] = stack.deepest(objects)
            constants = subject.planned.summary.models[0].constants
            flash[isa] = {"constants": constants, **size.size(objects), "stack": chains[isa].bytes}
        except Unmeasured as why:
            notes.append(f"{isa.value}: {why}")
            continue
        for processor in processors:
            try:
                counts[Place(processor, isa)], touched = board.steps(subject, PROCESSORS[processor])
                if processor == COMPILED[isa]:
                    flash[isa]["stack seen"] = touched
            except Unmeasured as why:
                notes.append(f"{processor}, {isa.value}: {why}")
    totals = {place: sum(count.values()) for place, count in counts.items()}
    positions = sorted({position for count in counts.values() for position in count})
    operators = {at: {place: count[at] for place, count in counts.items()} for at in positions}
    kinds = dict(_kinds(graph, operators)) if graph else {}
    return Profile(totals, kinds, operators, flash, chains), notes


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _kinds(graph: Subgraph, counts: dict[int, dict[Place, int]]) -> Iterator[tuple[str, Kind]]:
    """Yield the kinds of operators, in the order of the first one of each; what the file has not is `added`."""
    by_position = {operator.position: operator for operator in graph.operators}
    names: dict[str, list[int]] = {}
    for position in counts:
        operator = by_position.get(position)
        names.setdefault(_name(operator, graph) if operator else "added by the plan", []).append(position)
    for name, positions in names.items():
        macs = sum(operator_macs(by_position[at], graph) for at in positions if at in by_position)
        instructions: Counter[Place] = Counter()
        for at in positions:
            instructions.update(counts[at])
        yield name, Kind(len(positions), macs, dict(instructions))


def _name(operator: Operator, graph: Subgraph) -> str:
    if operator.kind not in ("CONV_2D", "DEPTHWISE_CONV_2D") or operator.inputs[1] is None:
        return operator.kind
    _, height, width, channels = graph.tensors[operator.inputs[1]].shape
    first = " of the first layer" if operator.kind == "CONV_2D" and channels <= 3 else ""
    return f"{operator.kind} {height}x{width}{first}"
