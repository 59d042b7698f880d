"""What keeps data longer than its use in one run of one model: variables, keys of models, connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.storage import Kind
from usmp_build.request import Inputs, Outputs, Request


def kept_for(request: Request, analysis: Analysis) -> Mapping[int, tuple[str, ...]]:
    """Return buffer → what keeps it, in a few words each; buffers that nothing keeps are not there."""
    words_by_buffer: dict[int, dict[str, None]] = {}
    for tensor, words in _reasons(request, analysis):
        buffer = analysis.storage.tensors.get(tensor)
        for row in analysis.storage.span(buffer) if buffer is not None else ():
            words_by_buffer.setdefault(row, {})[words] = None
    for index, buffer_ in enumerate(analysis.storage.buffers):
        if buffer_.kind is Kind.VARIABLE:
            words_by_buffer.setdefault(index, {})["between runs: a variable"] = None
    return {buffer: tuple(words) for buffer, words in words_by_buffer.items()}


def _reasons(request: Request, analysis: Analysis) -> Iterator[tuple[TensorRef, str]]:
    for connection in analysis.connections:
        yield connection.producer, f"for {connection.consumer_name}"
    for m, (settings, model) in enumerate(zip(request.models, analysis.models, strict=True)):
        if settings.inputs is not Inputs.CONSUMED:
            yield from _of_model(
                m, model.main.inputs, f'by inputs = "{settings.inputs.value}" of model "{settings.name}"'
            )
        if settings.outputs is Outputs.RESERVED:
            yield from _of_model(m, model.main.outputs, f'by outputs = "reserved" of model "{settings.name}"')


def _of_model(model: int, tensors: Iterable[int], words: str) -> Iterator[tuple[TensorRef, str]]:
    for tensor in tensors:
        yield TensorRef(model, 0, tensor), words
