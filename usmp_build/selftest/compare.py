"""Compares the tensors that the generated code computed with reference values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.ir.graph import DType, Subgraph, Tensor
from usmp_build.ir.labels import tensor_label
from usmp_build.ir.options import Order
from usmp_build.ir.ports import show_type
from usmp_build.ir.rewritten import Strip
from usmp_build.ir.variables import run_by
from usmp_build.operators.uint8 import SHIFT
from usmp_build.pipeline import Planned
from usmp_build.selftest.asking import Ours
from usmp_build.selftest.externs import at_fault
from usmp_build.selftest.harness import Mark, Record, Run
from usmp_build.selftest.oracle import Answer
from usmp_build.selftest.undefined import Undefined

_TOLERANCE = 1e-4
"""Tolerance relative to the larger of 1 and the reference: floats are summed in another order."""
_LITERT_TOLERANCE = 1 / 64
"""LiteRT's, relative to the largest element: what it quantizes at run time may become the integer next to ours."""
_LITERT_STEPS = 2
"""By so many steps integers may differ from LiteRT's, which rounds elsewhere."""


def compare(
    planned: Planned, model: int, runs: list[Run], reference: list[Answer], inexact: Collection[int] = ()
) -> int:
    """Compare every tensor of every run that has an answer; return how many there were.

    Integers are compared bit for bit, unless they are `inexact`.  Tensors that lost channels are compared in the
    remaining ones, strips with the columns that they have, variables that several operators change after the last of
    them, and masked elements and frames that are not complete not at all.  Raises CheckFailed that names the first
    operator whose result differs.
    """
    graph = planned.analysis.models[model].main
    remaining, moved = planned.analysis.rewrites[model].channels, planned.analysis.rewrites[model].axes
    copied = _copied_outputs(planned, model).items()
    strips = planned.analysis.rewrites[model].strips
    loose = {*inexact, *(copy for copy, output in copied if output in inexact)}
    loose.update(compress(strips, (strip.whole in inexact for strip in strips.values())))
    undefined = Undefined(graph)

    def expected_of(answer: dict[int, NDArray[Any]]) -> dict[int, NDArray[Any]]:
        defined = answer.keys() - undefined.after(answer)
        values = {
            index: _remaining(
                _as_here(answer[index], graph.tensors[index], moved.get((0, index))), remaining.get((0, index))
            )
            for index in sorted(defined)
        }
        return values | _of_strips(values, strips) | {copy: values[o] for copy, o in copied if o in values}

    answered = [
        (number, run, expected_of(answer))
        for number, (run, answer) in enumerate(zip(runs, reference, strict=True))
        if answer is not None
    ]
    seen: set[int] = set()
    for number, run, expected in answered:
        seen |= _compared(planned, model, number, run, expected, loose)
    for index, folded in _folded(planned, model):
        constant = Record(Mark.OUTPUT, index, folded.data or b"")
        if any(_differing(folded, constant, expected[index], index not in loose) for _, _, expected in answered):
            raise CheckFailed(_report(planned, model, 0, constant, "the constant that was computed at build time"))
        seen.add(index)
    return len(seen)


def _of_strips(values: Mapping[int, NDArray[Any]], strips: Mapping[int, Strip]) -> dict[int, NDArray[Any]]:
    """Return the values of tensors that have some columns of others."""
    return {t: values[strip.whole][:, :, strip.columns] for t, strip in strips.items() if strip.whole in values}


def _compared(
    planned: Planned, model: int, number: int, run: Run, expected: Mapping[int, NDArray[Any]], loose: Collection[int]
) -> set[int]:
    """Compare the tensors of one run; return which there were."""
    graph = planned.analysis.models[model].main
    last = {record.tensor: record for record in run}
    seen = set()
    for record in run:
        tensor = graph.tensors[record.tensor]
        if record.tensor not in expected or (tensor.is_variable and record is not last[record.tensor]):
            continue
        is_exact = record.tensor not in loose
        wrong = _differing(tensor, record, expected[record.tensor], is_exact)
        if wrong:
            raise CheckFailed(_report(planned, model, number, record, wrong, is_exact))
        seen.add(record.tensor)
    for record in _incomplete(run, expected):
        raise CheckFailed(_report(planned, model, number, record, "it was not computed"))
    return seen


def our_tensors(planned: Planned, model: int, runs: list[Run]) -> Ours:
    """Return the tensors of the file that each run computed as a whole."""
    channels = {
        tensor: kept for (graph, tensor), kept in planned.analysis.rewrites[model].channels.items() if not graph
    }
    outputs = _copied_outputs(planned, model)
    moved = planned.analysis.rewrites[model].axes
    whole = (_whole(planned.analysis.models[model].main, run) for run in runs)
    values = (
        {t: value.transpose(np.argsort(moved[0, t])) if (0, t) in moved else value for t, value in each.items()}
        for each in whole
    )
    return Ours([{outputs.get(tensor, tensor): value for tensor, value in each.items()} for each in values], channels)


def _whole(graph: Subgraph, run: Run) -> dict[int, NDArray[Any]]:
    """Return the last value of each tensor of which the program showed all rows."""
    rows_of: dict[int, dict[int, bytes]] = {}
    for record in run:
        rows = rows_of.setdefault(record.tensor, {})
        if record.row is None:
            rows.clear()
        rows[record.row or 0] = record.data
    data = {tensor: b"".join(rows[row] for row in sorted(rows)) for tensor, rows in rows_of.items()}
    return {
        index: np.frombuffer(data[index], tensor.dtype.numpy).reshape(tensor.shape)
        for index, tensor in enumerate(graph.tensors)
        if tensor.dtype.numpy and len(data.get(index, b"")) == tensor.size > 0
    }


def rewritten(planned: Planned, model: int) -> str:
    """Return how many tensors of the file are not compared as they are, or not at all, and why, as text."""
    before, after = planned.imported[model].main, planned.analysis.models[model].main
    fewer = sum(subgraph == 0 for subgraph, _ in planned.analysis.rewrites[model].channels)
    folded = {index for index, _ in _folded(planned, model)}
    values = {t for t in before.producers if before.tensors[t].dtype is not DType.RESOURCE}
    values -= {strip.whole for strip in planned.analysis.rewrites[model].strips.values()}
    updated = {t for t in values if after.tensors[t].is_variable}
    gone = len(values - after.producers.keys() - updated - folded)
    called = len(run_by(planned.analysis.models[model], *after.operators))
    parts = [
        f", {fewer} with fewer channels" * bool(fewer),
        f", {gone} more gone by rewrites" * bool(gone),
        f", those of {called} subgraph{'s' * (called > 1)} not compared" * bool(called),
    ]
    return "".join(parts)


def undefined_elements(planned: Planned, model: int, answers: list[Answer]) -> Iterator[str]:
    """Say how many elements were left out, of all runs that have an answer."""
    main = planned.imported[model].main
    answered = [answer for answer in answers if answer is not None]
    for tensor in sorted({t for answer in answered for t, value in answer.items() if np.ma.is_masked(value)}):
        masks = [np.ma.getmaskarray(answer[tensor]) for answer in answered]
        count = f"{sum(int(mask.sum()) for mask in masks)} of {sum(mask.size for mask in masks)} elements"
        is_quotient = main.operators[main.producers[tensor]].kind == "DIV"
        why = "TensorFlow Lite Micro shifts them by more than 31 bits"
        why = why if is_quotient else "they are read from a variable that nothing assigns"
        label = tensor_label(0, tensor, main.tensors[tensor].name)
        yield f"{planned.request.models[model].name}: not compared: {count} of {label}, which are undefined: {why}"


def comparable_tensors(planned: Planned, model: int, runs: list[Run]) -> list[int]:
    """Return the tensors that can be compared: those of the file that a step wrote, or that were computed before.

    In place of a variable that has a name the file has its handle.
    """
    count = len(planned.imported[model].main.tensors)
    tensors = planned.analysis.models[model].main.tensors
    strips = {strip.whole for strip in planned.analysis.rewrites[model].strips.values()}
    recorded = {record.tensor for run in runs for record in run if record.tensor < count} | strips
    written = {tensor for tensor in recorded if not tensors[tensor].resource}
    copied = set(_copied_outputs(planned, model).values())
    return sorted(written | copied | {index for index, _ in _folded(planned, model)})


def _copied_outputs(planned: Planned, model: int) -> dict[int, int]:
    """Return the outputs that are copies in arrays of the caller, each with the tensor of the file that it copies."""
    before, after = planned.imported[model].main, planned.analysis.models[model].main
    pairs = zip(after.outputs, before.outputs, strict=True)
    return {copy: output for copy, output in pairs if copy >= len(before.tensors)}


def _folded(planned: Planned, model: int) -> list[tuple[int, Tensor]]:
    before, after = planned.imported[model].main.tensors, planned.analysis.models[model].main.tensors
    pairs = enumerate(zip(before, after, strict=False))  # copies come after the tensors of the file
    return [(i, new) for i, (old, new) in pairs if old.data is None and new.data is not None]


def _as_here(value: NDArray[Any], tensor: Tensor, axes: Order | None) -> NDArray[Any]:
    """Return a value as rewrites have its tensor: uint8 as int8, 128 less, and with axes in another order."""
    here = value if axes is None else value.transpose(axes)
    return (here ^ SHIFT).view(np.int8) if here.dtype == np.uint8 and tensor.dtype is DType.INT8 else here


def _remaining(value: NDArray[Any], channels: tuple[int, ...] | None) -> NDArray[Any]:
    return value if channels is None else value[..., list(channels)]


def _incomplete(run: Run, expected: Mapping[int, NDArray[Any]]) -> Iterator[Record]:
    """Yield a record for a row that is missing, without data, if a tensor was shown row by row and has more rows."""
    shown: dict[tuple[int, int], dict[int, Record]] = {}
    for record in run:
        if record.row is not None and record.tensor in expected:
            shown.setdefault((record.step, record.tensor), {})[record.row] = record
    for (step, tensor), rows in shown.items():
        if sum(len(record.data) for record in rows.values()) < expected[tensor].nbytes:
            yield Record(step, tensor, b"", next(row for row in range(len(rows) + 1) if row not in rows))


def _differing(tensor: Tensor, record: Record, expected: NDArray[Any], is_exact: bool) -> str:
    """Return in words how a tensor or row differs; empty when it does not, or not beyond the tolerance."""
    kind = np.dtype(tensor.dtype.numpy or "uint8")
    got, want = np.frombuffer(record.data, kind), np.frombuffer(np.ma.getdata(expected).tobytes(), kind)
    is_undefined = np.ma.getmaskarray(expected).ravel() if np.ma.is_masked(expected) else np.zeros(want.size, np.bool_)
    if record.row is not None:
        row = slice(record.row * got.size, (record.row + 1) * got.size)
        want, is_undefined = want[row], is_undefined[row]
    if got.size != want.size:
        return f"{got.size} elements instead of {want.size}"
    unlike = (got != want) & ~is_undefined
    if kind.kind == "f":
        with np.errstate(invalid="ignore"):
            largest = 0.0 if is_exact else np.nanmax(np.abs(expected), initial=0) * _LITERT_TOLERANCE
            unlike &= ~(np.abs(got - want) <= np.maximum(largest, _TOLERANCE * np.maximum(1.0, np.abs(want))))
        unlike &= ~(np.isnan(got) & np.isnan(want))
    elif not is_exact and kind in (np.int8, np.int16):
        unlike &= np.abs(got.astype(np.int32) - want) > _LITERT_STEPS
    if not unlike.any():
        return ""
    first = int(np.argmax(unlike))
    count = f"{int(unlike.sum())} of {got.size} elements differ"
    return f"{count}, first element {first}: {got[first]} instead of {want[first]}"


def _report(planned: Planned, model: int, run: int, record: Record, wrong: str, is_exact: bool = True) -> Diagnostic:
    graph = planned.analysis.models[model].main
    tensor = graph.tensors[record.tensor]
    kinds = {op.position: op.kind for op in graph.operators}
    who = f"operator {record.step} ({kinds[record.step]})" if record.step >= 0 else "the output after the run"
    what = f'{record.name} "{tensor.name}" {show_type(tensor)}'
    message = f'model "{planned.request.models[model].name}", run {run}, {who}, {what}: {wrong}'
    help_ = at_fault(planned.summary.models[model], how=" with the model, or with usmp-build inspect model --data")
    if not is_exact:
        help_ = f"LiteRT rounds elsewhere, but not by so much: {help_}"
    return Diagnostic("S604", message, planned.request.models[model].path, help_)
