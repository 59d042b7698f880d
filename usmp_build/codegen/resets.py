"""Turns the variables of a model into the lines of its `reset`: the values before the first run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.codegen.buffers import first_tensors
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import tensor_at
from usmp_build.ir.storage import Kind
from usmp_build.layout.code import BufferCode, ResetRow


def resets(
    analysis: Analysis, index: int, buffer_codes: Mapping[int, BufferCode], constants: Mapping[int, str]
) -> Iterator[ResetRow]:
    """Yield how each variable of model `index` gets its initial value; `constants` are the expressions of constants."""
    tensors = first_tensors(analysis, index)
    for number, code in buffer_codes.items():
        if analysis.storage.buffers[number].kind is Kind.VARIABLE:
            tensor = tensor_at(analysis.models, tensors[number])
            value = tensor.initial[0] if tensor.initial else tensor.initial_byte
            source = analysis.storage.initial.get(number)
            yield ResetRow(code, constants[source] if source is not None else "", value)
