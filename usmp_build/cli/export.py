"""Write models for another runtime, with our memory plan in them: TensorFlow Lite Micro.

Where its own plan is as good, a file is written as it is.  With tflite_micro installed, both are measured, and their
outputs compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from usmp_build import plugins
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.cli.table import columns
from usmp_build.cli.tflm_measure import Measured, NotMeasured, is_installed, measure
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ModelError, UsageError
from usmp_build.files import Files
from usmp_build.importers.tflite import import_stored, resizes
from usmp_build.importers.tflite.offline import ONLINE, stored_offsets
from usmp_build.importers.tflite.reader import decoded
from usmp_build.ir.graph import Model
from usmp_build.output import writer
from usmp_build.request import ModelRequest
from usmp_build.selftest.inputs import Sample, samples
from usmp_build.tflm.files import Exported, files, shared_arena
from usmp_build.tflm.lifetimes import demand, unplanned
from usmp_build.tflm.metadata import fixed, with_offsets
from usmp_build.tflm.planned import Offer, plan
from usmp_build.units import MAX_BYTES, show_bytes

_SUFFIX = ".tflite"
_RUNS = 4
_SEED = 1
_AS_GOOD = "TensorFlow Lite Micro's own plan is as good"
_LARGEST_ARENA = (1 << 31) - 1
"""Bytes."""
_PACKAGE = "tflite-micro"

Reserves = dict[str, tuple[int, ...]]
"""Operator kind → bytes of each scratch buffer."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("runtime", choices=["tflm"], help="tflm: TensorFlow Lite Micro")
    manifest_arguments(parser)
    parser.set_defaults(note=False)  # pools do not matter here, with or without a manifest
    parser.add_argument("--out", default="tflm", metavar="FOLDER", help="where to write (default: tflm)")
    parser.add_argument(
        "--reserve",
        action="append",
        default=[],
        metavar="OP=BYTES",
        help="keep bytes free while an operator of this kind runs, for scratch of the target's kernels: once for each "
        "scratch buffer; then heads are computed, not measured",
    )


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    request, read_files = read_request(parsed, has_isa_note=False)
    reserves = _reserves(parsed.reserve)
    with Progress(parsed) as progress:
        exported = []
        for number, model in enumerate(request.models, 1):
            progress(f"{number} of {len(request.models)}: planning and measuring {model.name}")
            exported.append(_export(model, read_files, reserves))
    _check_used(parsed.reserve, exported)
    writer.write(files(exported, _measured_by(exported)), parsed.out)
    print(*_shown(exported, parsed.out), sep="\n")
    return 0


def _reserves(words: Sequence[str]) -> Reserves:
    reserves: Reserves = {}
    for word in words:
        kind, _, size = word.rpartition("=")
        if not kind or not (size.isascii() and size.isdigit()) or not 0 < int(size[:20]) <= MAX_BYTES:
            help_ = "give an operator's kind and bytes: --reserve CONV_2D=2048"
            raise UsageError(Diagnostic("U268", f"--reserve {quoted(word)} is not OP=BYTES", help=help_))
        reserves[kind] = (*reserves.get(kind, ()), int(size))
    return reserves


def _check_used(words: Sequence[str], exported: Sequence[Exported]) -> None:
    """Raise UsageError for a kind that no model has: it is misspelt."""
    kinds = {op.kind for each in exported for graph in each.model.subgraphs for op in graph.operators}
    for kind in (word.rpartition("=")[0] for word in words):
        if kind not in kinds:
            help_ = f"their kinds are: {', '.join(sorted(kinds))}"
            raise UsageError(
                Diagnostic("U268", f"--reserve: no operator of these models is {quoted(kind)}", help=help_)
            )


def _export(request: ModelRequest, read_files: Files, reserves: Reserves) -> Exported:
    if not request.path.lower().endswith(_SUFFIX):
        message = f'model "{request.name}" is not a {_SUFFIX} file, and TensorFlow Lite Micro reads no other'
        raise ModelError(Diagnostic("T215", message, request.span, "export other models: --model NAME"))
    model = plugins.import_model(request, read_files, import_stored)
    data = read_files.read(request.path, request.span)
    if resizes(data):
        message = f'model "{request.name}" changes sizes of tensors in loops: TensorFlow Lite Micro writes beyond them'
        raise ModelError(Diagnostic("T247", message, request.span, "convert it again, with unroll=True for its layers"))
    inputs = _random(samples(model, _RUNS + 2, _SEED)) if is_installed() else []
    reason, offer = _offer(model, data, reserves)
    as_it_is = Exported(model, data, offer.before, offer.before, reason)
    written = with_offsets(data, len(model.subgraphs), offer.offsets) if not reason else data
    planned = as_it_is if reason else Exported(model, written, offer.before, offer.head)
    return _measured(as_it_is, planned, inputs, not reserves)


def _random(inputs: list[Sample]) -> list[Sample]:
    """Return samples without the lowest and the highest, on which TensorFlow Lite Micro aborts now and then."""
    return inputs[:1] + inputs[3:]


def _offer(model: Model, data: bytes, reserves: Reserves) -> tuple[str, Offer]:
    """Return our plan, and why it is not used: empty where it is."""
    if reason := unplanned(model) or fixed(data):
        return reason, Offer((), 0, 0)
    stored = dict(enumerate(stored_offsets(decoded(data))))
    offer = plan(demand(model, reserves), {number: at for number, at in stored.items() if at != ONLINE})
    if offer.head > _LARGEST_ARENA:
        return "its offsets do not fit into 32 bits", offer
    return "" if offer.head < offer.before else _AS_GOOD, offer


def _measured(as_it_is: Exported, planned: Exported, inputs: list[Sample], decides: bool) -> Exported:
    """Return a model as it is, or as planned: as what TensorFlow Lite Micro here `decides`, or only proves equal."""
    if not inputs:
        return planned
    count = len(as_it_is.model.main.outputs)
    try:
        before = measure(as_it_is.data, inputs, count)
        if planned is as_it_is:
            return _with_figures(as_it_is, before, before, decides)
        after = measure(planned.data, inputs, count)
    except NotMeasured as error:
        return replace(as_it_is, reason=f"TensorFlow Lite Micro does not run it here: {error}")
    if not _are_equal(before, after):
        return _with_figures(replace(as_it_is, reason="its outputs differ with our plan"), before, before, decides)
    if decides and (after.head >= before.head or after.arena > before.arena):
        return _with_figures(replace(as_it_is, reason=_AS_GOOD), before, before, decides)
    return _with_figures(planned, before, after, decides)


def _with_figures(exported: Exported, before: Measured, after: Measured, decides: bool) -> Exported:
    """Return an export with what was measured; with reserves that is of other kernels than the target's."""
    if not decides:
        return exported
    return replace(exported, before=before.head, head=after.head, tail=after.tail, arena=after.arena)


def _are_equal(before: Measured, after: Measured) -> bool:
    return before.outputs.keys() == after.outputs.keys() and all(
        np.array_equal(array.view(np.uint8), after.outputs[name].view(np.uint8))
        for name, array in before.outputs.items()
    )


def _measured_by(exported: Sequence[Exported]) -> str:
    return f"{_PACKAGE} {version(_PACKAGE)}" if any(each.arena for each in exported) else ""


def _shown(exported: Sequence[Exported], folder: str) -> Iterator[str]:
    rows = [
        (
            each.name,
            show_bytes(each.before) if each.before else "-",
            show_bytes(each.head) if each.head else "-",
            show_bytes(each.arena) if each.arena else "-",
            f"as it is: {each.reason}" if each.reason else "with our plan",
        )
        for each in exported
    ]
    yield from columns(("model", "head before", "head", "arena", "written"), rows, "<>>><")
    by = _measured_by(exported)
    if by:
        yield f"(bytes, measured with {by}, or computed where no arena is shown; outputs of {_RUNS} runs equal)"
    elif is_installed():
        yield f"(bytes, computed; outputs of {_RUNS} runs equal)"
    else:
        yield "(bytes, computed, not measured: pip install 'usmp_build[oracle]')"
    if len(exported) > 1 and (shared := shared_arena(exported)):
        yield f"one arena for all: {show_bytes(shared)} bytes"
    yield folder
