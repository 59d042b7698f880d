"""The files of an export: the models, what the interpreter needs of memory and operators, and a sketch of their use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from usmp_build.emitters.render import render
from usmp_build.ir.graph import Model
from usmp_build.ir.options import VarHandle
from usmp_build.output.bundle import Bundle, OutputFile
from usmp_build.tflm.resolver import Registration, registrations


@dataclass(frozen=True)
class Exported:
    """A model as it is written."""

    model: Model
    data: bytes
    """The .tflite file."""
    before: int
    """Bytes of the arena's head without our plan."""
    head: int
    """Bytes of it as written."""
    reason: str = ""
    """Why it has no plan of ours, as a clause; empty where it has one."""
    tail: int = 0
    """Bytes of the rest of the arena, as measured; 0: not measured."""
    arena: int = 0
    """Bytes of an arena that works, as measured; 0: not measured."""

    @property
    def name(self) -> str:
        """The name of the model in C."""
        return self.model.name

    @property
    def variables(self) -> int:
        """The number of variables that operators access by name."""
        return len(
            {name for graph in self.model.subgraphs for op in graph.operators if (name := _variable(op.options))}
        )


def _variable(options: object) -> tuple[str, ...]:
    return (options.container, options.shared_name) if isinstance(options, VarHandle) else ()


def files(models: Sequence[Exported], measured_by: str) -> Bundle:
    """Return the files; `measured_by` names the interpreter, and is empty where nothing was measured."""
    needed = registrations(model.model for model in models)
    return Bundle.collect(
        [
            *(OutputFile(f"{model.name}.tflite", model.data) for model in models),
            *_sources(models, needed, measured_by),
        ]
    )


def shared_arena(models: Sequence[Exported]) -> int:
    """Return the bytes of one arena for all models, which run in turn; 0 where one was not measured.

    The tails, which outlive a run, add up; of the rest, the largest is enough.
    """
    if not all(model.arena for model in models):
        return 0
    return sum(model.tail for model in models) + max(model.arena - model.tail for model in models)


def _sources(models: Sequence[Exported], needed: Sequence[Registration], measured_by: str) -> Iterator[OutputFile]:
    values = {
        "models": models,
        "registrations": needed,
        "measured_by": measured_by,
        "shared": shared_arena(models),
        "largest": max(model.head for model in models),
    }
    for name in ("tflm_memory.h", "tflm_resolver.h", "tflm_models.cc"):
        yield OutputFile(name, render(f"{name}.j2", **values))
