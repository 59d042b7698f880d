"""Explain where a tensor is placed, when it is live, with whom it shares bytes, and why."""

from __future__ import annotations

import argparse
import re

from usmp_build import pipeline
from usmp_build.cli.explain_gone import without_buffer
from usmp_build.cli.explain_names import names_of
from usmp_build.cli.explain_overlaps import overlap_lines
from usmp_build.cli.explain_parts import channel_lines, part_lines, whole_of
from usmp_build.cli.explain_rows import rows_lines
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.document.suggest import closest, listed, quoted
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.layout import BufferRow, Summary
from usmp_build.units import show_bytes

_MEANT = 2
"""Most tensors that are suggested for a name that there is not."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "tensor",
        help="a buffer as the plan names it (kws.conv/Relu), or a tensor as the file does; else a part of their names",
    )
    manifest_arguments(parser)


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
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
    names = names or names_of(planned.analysis, planned.imported, query)
    if explanations := [each for name in names for each in _explanations(planned, name)]:
        return explanations
    bare = {"", *(f"{model.name}." for model in planned.summary.models)}
    inside = [row for row in buffers if query and query in row.name.partition(".")[2]]
    containing = inside or [row for row in buffers if query in row.name and query not in bare]
    constants = [row.name for row in containing if row.kind == "constant"]
    others = [row for row in containing if row.kind != "constant"]
    names = [*dict.fromkeys(row.tensor if query in row.tensor else row.name for row in others or containing)]
    also = [f"also constants: {listed(constants)}"] if others and constants else []
    return [each for name in names for each in _of_buffers(planned, name)] + also


def _explanations(planned: pipeline.Planned, name: str) -> list[str]:
    """Return explanations of the buffer, or tensor without one, of exactly this name; empty if there is none."""
    name = whole_of(planned.analysis, name)
    explanations = _of_buffers(planned, name)
    gone = without_buffer(planned.analysis, planned.imported, name)
    return ["\n".join(gone)] if gone and not explanations else explanations


def _of_buffers(planned: pipeline.Planned, name: str) -> list[str]:
    """Return the explanation of a buffer, or of all rows of a tensor, of exactly this name; empty if there is none."""
    analysis, summary = planned.analysis, planned.summary
    explained = [_explain(summary, row) for row in summary.buffers if row.name == name] or [rows_lines(summary, name)]
    inside = channel_lines(analysis, planned.imported, name) + part_lines(analysis, name)
    return ["\n".join([*lines, *inside]) for lines in explained if lines]


def _unknown(summary: Summary, name: str) -> Diagnostic:
    tensors = list(dict.fromkeys(row.tensor for row in summary.buffers if row.kind != "constant"))
    model = name.partition(".")[0]
    tensors = [each for each in tensors if each.startswith(f"{model}.")] or tensors
    known = sorted({word for tensor in tensors for word in _words(tensor)})
    meant = {word if word in known else closest(word, known) for word in _words(name)}
    shared = [len(meant & _words(tensor)) for tensor in tensors]
    most = max(shared, default=0)
    close = [tensor for tensor, count in zip(tensors, shared, strict=True) if count == most > 0]
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
        f"  place   pool {row.pool}, bytes [{show_bytes(row.offset)}, {show_bytes(end)}) of {show_bytes(pool.size)}",
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
