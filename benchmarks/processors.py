"""Every operator on every processor, for each set of instructions that it can run: instructions, flash, stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks import board, cmsis_nn, cortex, size, stack
from benchmarks.figures import Figures
from benchmarks.layers import layers_of
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
    Isa.SCALAR: ("M3", "RISC-V"),
    Isa.DSP: ("M4", "M33", "M55"),
    Isa.MVE: ("M55",),
}
"""Which processors run what."""
COMPILED = {Isa.PORTABLE: "M4", Isa.SCALAR: "M3", Isa.DSP: "M4", Isa.MVE: "M55"}
"""The processors whose flash and stack are measured."""


class Place(NamedTuple):
    """Where something ran."""

    processor: str
    isa: Isa


@dataclass(frozen=True)
class Group:
    """Operators of a kind, such as `CONV_2D 3x3`, or equal layers, and their multiply-accumulates, padding included."""

    operators: int
    macs: int
    instructions: dict[Place, int]
    cmsis_nn: dict[str, int] = field(default_factory=dict)
    """Processor → instructions of CMSIS-NN for the same layers."""


@dataclass(frozen=True)
class Profile:
    """What one model costs everywhere."""

    totals: dict[Place, int]
    kinds: dict[str, Group]
    layers: dict[str, Group]
    """Those whose instructions with CMSIS-NN are known, as they are in the model file."""
    flash: dict[Isa, Figures]
    chains: dict[Isa, stack.Stack]
    """The deepest ones."""


def profile(path: Path, folder: Path, runs: Mapping[Isa, Sequence[str]] = RUNS) -> tuple[Profile, list[str]]:
    """Build and run a model for each `isa` on these processors, and say what could not be."""
    notes: list[str] = []
    counts: dict[Place, Counter[int]] = {}
    flash: dict[Isa, Figures] = {}
    chains: dict[Isa, stack.Stack] = {}
    graph: Subgraph | None = None
    for isa, processors in runs.items():
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
    kinds = _kinds(graph, counts) if graph else {}
    return Profile(totals, kinds, _layers(path, counts), flash, chains), notes


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _kinds(graph: Subgraph, counts: Mapping[Place, Counter[int]]) -> dict[str, Group]:
    """Return the kinds of operators, in the order of the first one of each; what the file has not is `added`."""
    operators = {operator.position: operator for operator in graph.operators}
    names: dict[str, list[int]] = {}
    for position in sorted(set().union(*counts.values())):
        operator = operators.get(position)
        names.setdefault(name_of(operator, graph) if operator else "added by the plan", []).append(position)
    return {
        name: Group(
            len(positions),
            sum(operator_macs(operators[at], graph) for at in positions if at in operators),
            _instructions(positions, counts),
        )
        for name, positions in names.items()
    }


def _layers(path: Path, counts: Mapping[Place, Counter[int]]) -> dict[str, Group]:
    known, run = cmsis_nn.known(), set().union(*counts.values())
    layers: dict[str, list[int]] = {}
    macs: dict[str, int] = {}
    for position, (name, each) in layers_of(path).items() if run else ():
        if position in run and name in known:
            layers.setdefault(name, []).append(position)
            macs[name] = each
    return {
        name: Group(
            len(positions),
            len(positions) * macs[name],
            _instructions(positions, counts),
            {processor: len(positions) * count for processor, count in known[name].items()},
        )
        for name, positions in layers.items()
    }


def _instructions(positions: Sequence[int], counts: Mapping[Place, Counter[int]]) -> dict[Place, int]:
    return {place: sum(count[at] for at in positions) for place, count in counts.items()}


def name_of(operator: Operator, graph: Subgraph) -> str:
    """Return the kind of an operator; of convolutions also their window, and whether they are the first layer."""
    if operator.kind not in ("CONV_2D", "DEPTHWISE_CONV_2D") or operator.inputs[1] is None:
        return operator.kind
    _, height, width, channels = graph.tensors[operator.inputs[1]].shape
    first = " of the first layer" if operator.kind == "CONV_2D" and channels <= 3 else ""
    return f"{operator.kind} {height}x{width}{first}"
