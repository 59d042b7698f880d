"""Explain where a tensor is placed, when it is live, and why; or what an error code means."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from usmp_build import pipeline
from usmp_build.cli.explain_code import explanation, is_code
from usmp_build.cli.explain_overlaps import overlap_lines
from usmp_build.cli.explain_rows import rows_lines
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.document.suggest import closest, listed, quoted
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.ir.labels import short_label
from usmp_build.layout import BufferRow, Summary
from usmp_build.units import show_bytes, show_range

_MEANT = 2
"""Most tensors that are suggested for a name that there is not."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "tensor",
        metavar="TENSOR|CODE",
        help="a buffer as the plan names it (kws.conv/Relu), or a tensor as the file does; else a part of their names; "
        "or, without a manifest, the code of an error (P502)",
    )
    manifest_arguments(parser)


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    if is_code(parsed.tensor) and not parsed.manifest:
        print(explanation(parsed.tensor))
        return 0
    request, files = read_request(parsed)
    with Progress(parsed) as progress:
        progress("planning")
        planned = pipeline.plan(request, files, progress.step)
        explanations = _find(planned, parsed.tensor)
    if not explanations:
        raise UsageError(_unknown(planned.summary, parsed.tensor))
    print("\n\n".join(explanations))
    return 0


def _find(planned: pipeline.Planned, query: str) -> list[str]:
    """Return explanations of the buffer, or tensor without one, of this name; else of all whose names contain it.

    The name may lack the model in front of it.  The name of a model alone does not count as part of a name.  Constants
    whose names contain it are explained only if nothing else has such a name: else a line lists them.
    """
    if explanations := _explanations(planned, query):
        return explanations
    buffers = planned.summary.buffers
    candidates = dict.fromkeys(name for row in buffers for name in (row.tensor, row.name))
    names = [name for name in candidates if name.partition(".")[2] == query]
    names = names or _names_of(planned.analysis, planned.imported, query)
    if explanations := [each for name in names for each in _explanations(planned, name)]:
        return explanations
    return _of_containing(planned, query)


def _of_containing(planned: pipeline.Planned, query: str) -> list[str]:
    """Return explanations of the buffers whose names contain this; of constants if there are no others."""
    containing = _containing(planned, query)
    constants = [row.name for row in containing if row.kind == "constant"]
    others = [row for row in containing if row.kind != "constant"]
    names = [*dict.fromkeys(row.tensor if query in row.tensor else row.name for row in others or containing)]
    also = [f"also constants: {listed(constants)}"] if others and constants else []
    return [each for name in names for each in _of_buffers(planned, name)] + also


def _containing(planned: pipeline.Planned, query: str) -> list[BufferRow]:
    """Return the buffers whose names contain this: behind the name of the model, if there are such."""
    buffers = planned.summary.buffers
    bare = {"", *(f"{model.name}." for model in planned.summary.models)}
    inside = [row for row in buffers if query and query in row.name.partition(".")[2]]
    return inside or [row for row in buffers if query in row.name and query not in bare]


def _explanations(planned: pipeline.Planned, name: str) -> list[str]:
    """Return explanations of the buffer, or tensor without one, of exactly this name; empty if there is none."""
    name = _whole_of(planned.analysis, name)
    explanations = _of_buffers(planned, name)
    gone = _without_buffer(planned.analysis, planned.imported, name)
    return ["\n".join(gone)] if gone and not explanations else explanations


def _of_buffers(planned: pipeline.Planned, name: str) -> list[str]:
    """Return the explanation of a buffer, or of all rows of a tensor, of exactly this name; empty if there is none."""
    analysis, summary = planned.analysis, planned.summary
    explained = [_explain(summary, row) for row in summary.buffers if row.name == name] or [rows_lines(summary, name)]
    inside = _channel_lines(analysis, planned.imported, name) + _part_lines(analysis, name)
    return ["\n".join([*lines, *inside]) for lines in explained if lines]


def _unknown(summary: Summary, name: str) -> Diagnostic:
    tensors = list(dict.fromkeys(row.tensor for row in summary.buffers if row.kind != "constant"))
    model = name.partition(".")[0]
    tensors = [each for each in tensors if each.startswith(f"{model}.")] or tensors
    known = sorted({word for tensor in tensors for word in _words(tensor)})
    meant = {word if word in known else closest(word, known) for word in _words(name)}
    shared = [len(meant & _words(tensor)) for tensor in tensors]
    most = max(shared, default=0)
    close = [tensor for tensor, count in zip(tensors, shared, strict=True) if count and count == most]
    hint = f"did you mean {' or '.join(map(quoted, close))}? Tensors" if 0 < len(close) <= _MEANT else "tensors"
    help_ = f'{hint}: {listed(tensors)}; "usmp-build inspect storage" lists all buffers'
    return Diagnostic("U203", f"no buffer is called {quoted(name)}", help=help_)


def _words(name: str) -> set[str]:
    """Return the words of a name that may be remembered: three letters or more, without the model in front."""
    return set(re.findall(r"[a-z]{3,}", (name.partition(".")[2] or name).lower()))


def _explain(summary: Summary, row: BufferRow) -> list[str]:
    pool = next(pool for pool in summary.pools if pool.name == row.pool)
    end = row.offset + row.size
    others = [other for other in summary.buffers if other is not row]
    lines = [
        f"{row.name}: {row.kind}, {row.reason}",
        f"  place   pool {row.pool}, bytes {show_range(row.offset, end)} of {show_bytes(pool.size)}",
        f"  size    {show_bytes(row.size)} bytes, aligned to {row.alignment}{_lines(row)}",
        *([f"  scope   {row.scope}"] if row.scope and row.scope != row.reason else []),
        *(f"  alive   {when}" for when in _alive(summary, row)),
        *(f"  kept    {why}" for why in row.kept),
    ]
    setters = pool.certificate.buffers if pool.certificate and pool.size == pool.bound else ()
    if row.name in setters:
        lines.append(f"  peak    one of the {len(setters)} buffers that set the size of {row.pool}")
    return [*lines, *overlap_lines(row, others)]


def _lines(row: BufferRow) -> str:
    return f", with cache lines of {row.cache_line} bytes to itself, for DMA" if row.cache_line else ""


def _alive(summary: Summary, row: BufferRow) -> list[str]:
    if row.kind in {"constant", "variable"}:
        return ["for ever"]
    steps = summary.steps
    return [f"[{start}, {stop}): from {steps[start].text} to {steps[stop - 1].text}" for start, stop in row.intervals]


def _without_buffer(analysis: Analysis, imported: tuple[Model, ...], name: str) -> list[str]:
    """Return a line for each tensor of this name that has no buffer: where it is, or which rewrite removed it."""
    return [f"{name}: {why}" for ref, why in _reasons(analysis) if _name(imported, ref) == name]


def _reasons(analysis: Analysis) -> Iterator[tuple[TensorRef, str]]:
    for ref in analysis.storage.arguments:
        yield ref, "in the caller's array, no pool holds it"
    for index, rewritten in enumerate(analysis.rewrites):
        for (subgraph, tensor), rewrite in rewritten.removed.items():
            yield TensorRef(index, subgraph, tensor), f"gone, the rewrite {rewrite} removed it"
        for tensor, declared in enumerate(analysis.models[index].main.tensors):
            ref = TensorRef(index, 0, tensor)
            if declared.is_constant and ref not in analysis.storage.tensors and (0, tensor) not in rewritten.removed:
                yield ref, "a constant that no kernel reads from memory"


def _name(models: tuple[Model, ...], ref: TensorRef) -> str:
    if ref.tensor >= len(models[ref.model].subgraphs[ref.subgraph].tensors):
        return ""
    return f"{models[ref.model].name}.{short_label(tensor_at(models, ref).name, ref.tensor)}"


def _names_of(analysis: Analysis, imported: tuple[Model, ...], name: str) -> list[str]:
    """Return the names of the buffers of all tensors called `name`, with their model in front or without.

    That may be the name in the model's file, its short form, or the number that `inspect` prints (%7).  A tensor
    without a buffer has the name that its buffer would have.
    """
    names = []
    for index, model in enumerate(imported):
        for number, tensor in enumerate(model.main.tensors):
            label, ref = short_label(tensor.name, number), TensorRef(index, 0, number)
            if name.removeprefix(f"{model.name}.") in {f"%{number}", label, tensor.name or label}:
                buffer = analysis.storage.tensors.get(ref)
                names.append(f"{model.name}.{label}" if buffer is None else analysis.tensor_name(buffer))
    return list(dict.fromkeys(names))


def _whole_of(analysis: Analysis, name: str) -> str:
    """Return the name of the buffer that holds a tensor of this name; the name itself where there is none."""
    buffers = analysis.storage.buffers
    if any(buffer.name == name for buffer in buffers):
        return name
    return next(
        (buffers[buffer].name for ref, buffer in _inside(analysis) if _name(analysis.models, ref) == name), name
    )


def _part_lines(analysis: Analysis, whole: str) -> list[str]:
    """Return a line for each part of a buffer, by where it begins, then one for each view of all its bytes."""
    storage = analysis.storage
    parts: list[tuple[int, str, str]] = []
    views: list[str] = []
    for ref, buffer in _inside(analysis):
        name, size = _name(analysis.models, ref), tensor_at(analysis.models, ref).size
        if storage.buffers[buffer].name != whole or name == whole:
            continue
        if size < storage.buffers[buffer].size:
            parts.append((storage.offsets.get(ref, 0), name, _bytes(analysis, ref)))
        else:
            views.append(name)
    lines = [f"  part    {where}: {name}" for _, name, where in sorted(parts)]
    return lines + [f"  view    {name}, the same bytes in another shape" for name in sorted(views)]


def _bytes(analysis: Analysis, ref: TensorRef) -> str:
    tensor, begin = tensor_at(analysis.models, ref), analysis.storage.offsets.get(ref, 0)
    pitch = analysis.storage.pitches.get(ref, 0)
    size = tensor.shape[-1] * tensor.dtype.bits // 8 if pitch else tensor.size
    every = f" and so on every {show_bytes(pitch)} bytes" if pitch else ""
    return f"bytes {show_range(begin, begin + size)}{every}"


def _channel_lines(analysis: Analysis, imported: tuple[Model, ...], whole: str) -> list[str]:
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
