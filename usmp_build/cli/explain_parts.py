"""`explain`: tensors that are a buffer's bytes under another name, or some of them, and channels that are gone.

They have the names that they would have as buffers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.ir.labels import short_label
from usmp_build.units import show_bytes


def whole_of(analysis: Analysis, name: str) -> str:
    """Return the name of the buffer that holds a tensor of this name; the name itself where there is none."""
    buffers = analysis.storage.buffers
    if any(buffer.name == name for buffer in buffers):
        return name
    return next((buffers[buffer].name for ref, buffer in _inside(analysis) if _name(analysis, ref) == name), name)


def part_lines(analysis: Analysis, whole: str) -> list[str]:
    """Return a line for each part of a buffer, by where it begins, then one for each view of all its bytes."""
    storage = analysis.storage
    parts: list[tuple[int, str, str]] = []
    views: list[str] = []
    for ref, buffer in _inside(analysis):
        name, size = _name(analysis, ref), tensor_at(analysis.models, ref).size
        if storage.buffers[buffer].name != whole or name == whole:
            continue
        if size < storage.buffers[buffer].size:
            parts.append((storage.offsets.get(ref, 0), name, _bytes(analysis, ref)))
        else:
            views.append(name)
    lines = [f"  part    {where}: {name}" for _, name, where in sorted(parts)]
    return lines + [f"  view    {name}, the same bytes in another shape" for name in sorted(views)]


def _bytes(analysis: Analysis, ref: TensorRef) -> str:
    """Return which bytes of its buffer a part is."""
    tensor, begin = tensor_at(analysis.models, ref), analysis.storage.offsets.get(ref, 0)
    pitch = analysis.storage.pitches.get(ref, 0)
    size = tensor.shape[-1] * tensor.dtype.bits // 8 if pitch else tensor.size
    every = f" and so on every {show_bytes(pitch)} bytes" if pitch else ""
    return f"bytes [{show_bytes(begin)}, {show_bytes(begin + size)}){every}"


def channel_lines(analysis: Analysis, imported: tuple[Model, ...], whole: str) -> list[str]:
    """Return a line for each tensor of a buffer that lost channels."""
    lines = []
    for index, rewritten in enumerate(analysis.rewrites):
        for (subgraph, tensor), kept in sorted(rewritten.channels.items()):
            ref = TensorRef(index, subgraph, tensor)
            buffer = analysis.storage.tensors.get(ref)
            if buffer is not None and analysis.tensor_name(buffer) == whole:
                all_ = tensor_at(imported, ref).shape[-1]
                left = " ".join(map(str, kept))
                lines.append(f"  left    {len(kept)} of {all_} channels, by the rewrite constant_channels: {left}")
    return lines


def _inside(analysis: Analysis) -> Iterator[tuple[TensorRef, int]]:
    for ref, buffer in analysis.storage.tensors.items():
        if ref.tensor in analysis.models[ref.model].subgraphs[ref.subgraph].homes:
            yield ref, buffer


def _name(analysis: Analysis, ref: TensorRef) -> str:
    return f"{analysis.models[ref.model].name}.{short_label(tensor_at(analysis.models, ref).name, ref.tensor)}"
