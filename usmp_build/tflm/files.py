"""The files of an export: the models, what the interpreter needs of memory and operators, and a sketch of their use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from usmp_build import naming
from usmp_build.emitters.render import render
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model
from usmp_build.ir.options import VarHandle
from usmp_build.operators.table import OPERATORS
from usmp_build.output.bundle import Bundle, OutputFile

_CUSTOM = "CUSTOM:"
_SIGNAL = f"{_CUSTOM}Signal"
_EXCEPTIONS = {
    "BATCH_MATMUL": "BatchMatMul",
    "CUMSUM": "CumSum",
    "PADV2": "PadV2",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTM",
    "CUSTOM:CIRCULAR_BUFFER": "CircularBuffer",
    "CUSTOM:TFLM_DECODE": "Decode",
    "CUSTOM:TFLite_Detection_PostProcess": "DetectionPostprocess",
    "CUSTOM:ethos-u": "EthosU",
}
"""Methods that are not called like the operator in camel case, or like the signal operator without "Signal"."""


@frozen
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


def _sources(models: Sequence[Exported], needed: Sequence[_Registration], measured_by: str) -> Iterator[OutputFile]:
    values = {
        "models": models,
        "registrations": needed,
        "measured_by": measured_by,
        "shared": shared_arena(models),
        "largest": max(model.head for model in models),
    }
    for name in ("tflm_memory.h", "tflm_resolver.h", "tflm_models.cc"):
        yield OutputFile(name, render(f"{name}.j2", **values))


@frozen
class _Registration:
    """One operator that a resolver has to know."""

    kind: str
    method: str
    """The method that adds it, without "Add"; empty for a custom operator of the application."""
    custom: str = ""
    """The name of that operator in model files."""
    function: str = ""
    """The function of the application that returns the registration of its operator."""


def registrations(models: Iterable[Model]) -> tuple[_Registration, ...]:
    """Return what the operators of all models need, sorted by kind."""
    kinds = sorted({op.kind for model in models for subgraph in model.subgraphs for op in subgraph.operators})
    methods = {kind: _method(kind) for kind in kinds}
    customs = [kind.removeprefix(_CUSTOM) for kind in kinds if not methods[kind]]
    functions = iter(naming.unique(f"Register_{naming.c_identifier(name)}" for name in customs))
    return tuple(
        _Registration(kind, method) if method else _Registration(kind, "", kind.removeprefix(_CUSTOM), next(functions))
        for kind, method in methods.items()
    )


def _method(kind: str) -> str:
    if kind in _EXCEPTIONS:
        return _EXCEPTIONS[kind]
    if kind in OPERATORS and kind.startswith(_SIGNAL):
        return kind.removeprefix(_SIGNAL)
    if kind.startswith(_CUSTOM):
        return ""
    return "".join(word.capitalize() if word[:1].isalpha() else word for word in kind.split("_"))
