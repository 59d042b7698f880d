"""The names that `MicroMutableOpResolver` has for operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from usmp_build import naming
from usmp_build.ir.graph import Model
from usmp_build.operators.table import OPERATORS

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


@dataclass(frozen=True, slots=True)
class Registration:
    """One operator that a resolver has to know."""

    kind: str
    method: str
    """The method that adds it, without "Add"; empty for a custom operator of the application."""
    custom: str = ""
    """The name of that operator in model files."""
    function: str = ""
    """The function of the application that returns the registration of its operator."""


def registrations(models: Iterable[Model]) -> tuple[Registration, ...]:
    """Return what the operators of all models need, sorted by kind."""
    kinds = sorted({op.kind for model in models for subgraph in model.subgraphs for op in subgraph.operators})
    methods = {kind: _method(kind) for kind in kinds}
    customs = [kind.removeprefix(_CUSTOM) for kind in kinds if not methods[kind]]
    functions = iter(naming.unique(f"Register_{naming.c_identifier(name)}" for name in customs))
    return tuple(
        Registration(kind, method) if method else Registration(kind, "", kind.removeprefix(_CUSTOM), next(functions))
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
