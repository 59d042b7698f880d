"""Build the generated code for this machine and compare tensors with TensorFlow Lite Micro's or TVM's.

The models of the plan run one after the other, producers before consumers, on extreme and on random inputs; connected
inputs hold what other models wrote.  The program poisons all bytes that hold no live buffer, before each run and at
every step, and what the manifest keeps between runs must be intact; with --sanitize, the compiler's sanitizers watch
these bytes and those around the pools.  --source names files with kernels and functions of the application.  With
--accesses, each operator runs once instead, and the program traces every access, of rows in each position: how closely
buffers may lie must follow from these accesses, too.

The reference is TensorFlow Lite Micro, if the package `tflite-micro` is installed, LiteRT for operators that only that
runs, and TVM for models that it imported.  Undefined elements, and runs on which a reference aborts, are counted and
not compared.  Without a reference, and for programs, results must not depend on the poison.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from usmp_build import pipeline
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.output import writer
from usmp_build.pipeline import Planned
from usmp_build.selftest.accesses import check_accesses
from usmp_build.selftest.asking import MODELS
from usmp_build.selftest.between import is_late
from usmp_build.selftest.compare import comparable_tensors, compare, our_tensors, rewritten, undefined_elements
from usmp_build.selftest.externs import at_fault, check_sources
from usmp_build.selftest.harness import Mark, Run, build, harness, run_all
from usmp_build.selftest.inputs import Sample, samples
from usmp_build.selftest.intact import check_intact, inputs_at_start
from usmp_build.selftest.oracle import Answers, oracle_tensors

_NOT_ALL = 6
"""The exit code of --strict where runs could not be compared."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument("--runs", type=_count, default=10, metavar="N", help="inputs per model (default: 10)")
    parser.add_argument("--seed", type=_count, default=1, metavar="N", help="seed of the random inputs (default: 1)")
    parser.add_argument("--sanitize", action="store_true", help="compile with the address and undefined sanitizers")
    parser.add_argument(
        "--accesses",
        action="store_true",
        help="trace every access instead, and check how closely buffers of an operator may lie",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help=f"exit {_NOT_ALL} if runs could not be compared, for an interpreter aborts on them or is not installed",
    )
    parser.add_argument("--cc", default="", metavar="COMPILER", help="the C compiler (default: $CC, else cc)")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="FILE",
        help="a C file of the application, with kernels that the plan calls; may be given again",
    )
    parser.add_argument("--keep", metavar="FOLDER", help="leave the built program in this folder")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    request, files = read_request(parsed, has_isa_note=False)
    with Progress(parsed) as progress:
        progress("planning")
        planned = pipeline.plan(request, files, progress.step)
    if parsed.accesses:
        print("\n".join(check_accesses(planned, parsed)))
        return 0
    layout = pipeline.lay_out(planned)
    check_sources(layout, parsed.source)
    inputs = [samples(model, parsed.runs, parsed.seed) for model in planned.analysis.models]
    with Progress(parsed) as progress, tempfile.TemporaryDirectory(prefix="usmp-selftest-") as scratch:
        progress("building and running")
        folder = Path(parsed.keep or scratch)
        writer.write(pipeline.emit(layout), folder)
        writer.write(harness(planned, layout), folder)
        program = build(folder, layout, parsed.cc, parsed.sanitize, parsed.source)
        results = run_all(program, planned, inputs, garbage=0, period=parsed.runs)
        repeated = _repeated(program, planned, inputs, parsed.runs)
    start_inputs = [
        inputs_at_start(planned, index, *runs) for index, runs in enumerate(zip(inputs, results, strict=True))
    ]
    check_intact(planned, start_inputs, results)
    is_all = True
    for index, model in enumerate(request.models):
        _same_in_other_garbage(planned, index, results[index], repeated[index])
        data = files.read(model.path, model.span) if model.path.lower().endswith(MODELS) else None
        lines, is_whole = _compared(planned, index, results[index], start_inputs[index], data, parsed.seed)
        print("\n".join(lines))
        is_all &= is_whole
    return 0 if is_all or not parsed.strict else _NOT_ALL


def _compared(
    planned: Planned, index: int, runs: list[Run], start_inputs: list[Sample], data: bytes | None, seed: int
) -> tuple[list[str], bool]:
    """Compare the runs of a model with TensorFlow Lite Micro; say what was compared, and whether that is all.

    `data` is the model's file, if an interpreter reads such.  Raises CheckFailed where a tensor differs, or
    nothing at all could be compared.
    """
    model, is_stateful = planned.request.models[index], planned.summary.models[index].state > 0
    runs = [[record for record in run if record.step >= Mark.OUTPUT] for run in runs]
    answers = None
    if data is not None:
        wanted, ours = comparable_tensors(planned, index, runs), our_tensors(planned, index, runs)
        answers = oracle_tensors(model, data, start_inputs, wanted, is_stateful, ours)
    if answers is None:
        against = "a second run with other poison"
        if data is not None:
            against += " (to compare with TensorFlow Lite Micro: pip install 'usmp_build[oracle]')"
        count = len({record.tensor for record in runs[0]})
        return [_equal(planned, index, count, _runs(len(runs)), against)], data is None
    if not answers.compared:
        message = f'nothing of model "{model.name}" was compared: {_not_compared(answers, seed)}'
        help_ = "try other inputs, by --seed or more --runs, or compare on the target"
        raise CheckFailed(Diagnostic("S640", message, model.path, help_))
    count = compare(planned, index, runs, answers.runs, answers.inexact)
    part = f"{answers.compared} of " if answers.aborted else ""
    lines = [_equal(planned, index, count, f"{part}{_runs(len(runs))}", answers.by)]
    lines += undefined_elements(planned, index, answers.runs)
    if answers.aborted:
        lines.append(f"{model.name}: not compared: {_not_compared(answers, seed)}")
    return lines, not answers.aborted


def _equal(planned: Planned, index: int, count: int, runs: str, against: str) -> str:
    tensors = f"{count} tensors{rewritten(planned, index)}"
    return f"{planned.request.models[index].name}: {tensors}, {runs}, all equal to those of {against}"


def _not_compared(answers: Answers, seed: int) -> str:
    """Say which runs there is no answer for; the number of a run and the seed make its inputs again."""
    numbers = ", ".join(map(str, answers.aborted))
    which = f"run{'s' if len(answers.aborted) > 1 else ''} {numbers} of --seed {seed}"
    lost = f", and was not asked about the {_runs(answers.untried)} after that" if answers.untried else ""
    return f"{answers.aborts} aborts on the inputs of {which}{lost}"


def _runs(count: int) -> str:
    return f"{count} run{'s' if count != 1 else ''}"


def _repeated(program: Path, planned: Planned, inputs: list[list[Sample]], runs: int) -> list[list[Run]]:
    """Run everything with other garbage in memory; where a model keeps state, once more after that and a reset.

    Not so where models begin with what others left in the round before: no reset takes that back.
    """
    is_history = any(is_late(planned, connection) for connection in planned.analysis.connections)
    if is_history or not any(model.state for model in planned.summary.models):
        return run_all(program, planned, inputs, garbage=1, period=runs)
    return run_all(program, planned, [[*samples, *samples] for samples in inputs], garbage=1, period=runs)


def _same_in_other_garbage(planned: Planned, index: int, runs: list[Run], others: list[Run]) -> None:
    """A result that depends on what was in the pools before is wrong, whatever it is.

    What the run before left in outputs is not a result: after a reset, it is that of the last run.
    """
    for number, other in enumerate(others):
        both = ([record for record in run if record.step != Mark.FILLED] for run in (runs[number % len(runs)], other))
        for one, two in zip(*both, strict=True):
            if one != two:
                who = "a function" if planned.analysis.models[index].is_program else f"operator {one.step}"
                message = f"{who} reads bytes that were never written: {one.name} depends on them"
                path, help_ = planned.request.models[index].path, at_fault(planned.summary.models[index])
                raise CheckFailed(Diagnostic("S605", message, path, help_))


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from 1 on')
    return int(text)
