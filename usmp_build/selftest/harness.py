"""The program that runs the generated code on this machine and shows every tensor.

Programs like it, for other machines, have `model_rows`, `input_stream` and `read_records` in common with it.
"""

from __future__ import annotations

import os
import shlex
import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path

from usmp_build.emitters.render import render
from usmp_build.errors import CheckFailed, Diagnostic, UsageError
from usmp_build.frozen import frozen
from usmp_build.ir import schedule
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.ir.storage import Kind
from usmp_build.layout import PoolRow
from usmp_build.layout.layout import Layout
from usmp_build.output.bundle import Bundle, OutputFile
from usmp_build.pipeline import Planned
from usmp_build.processes import Unfinished, run_program
from usmp_build.selftest import between
from usmp_build.selftest.externs import at_fault, refuse_missing
from usmp_build.selftest.inputs import Sample

_PROGRAM = "usmp_selftest"
_SECONDS = 600
_RECORD = struct.Struct("<5i")
"""Model, step, tensor, row or -1, bytes of data; the data follow."""
_ARRIVES, _MOVES = -1, -2
"""What the hook has in place of an operator's position where a row of an input arrives, and where one moves."""
_FLAGS = ("-std=c99", "-O1", "-g1", "-Wall", "-Wextra", "-DUSMP_HOOK", "-DUSMP_SECTION(name)=")
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
_TRACE = ("-O0", "-fsanitize=thread", *(f"-D{name}=usmp_traced_{name}" for name in ("memcpy", "memmove", "memset")))


class Mark(IntEnum):
    """What a record shows, instead of a tensor that the hook shows after a step."""

    OUTPUT = -1
    """An output after the run."""
    NEXT_RUN = -2
    """Nothing: a run of the model begins."""
    CONNECTED = -3
    """An input as another model left it."""
    AFTER = -4
    """What must be intact after a run, or after all."""
    FILLED = -5
    """An output of the run before, when inputs were filled for the next; of the first run it is nothing."""
    ARRIVAL = -7
    """A row of an input, when it has arrived."""
    ACCESSES = -6
    """When a step touched each byte of one of its buffers: an index of the table `touched` of accesses.h.j2."""


@frozen
class Record:
    """A tensor, or a row of it, as the program showed it; `step` is the operator's position, or a `Mark`."""

    step: int
    tensor: int
    data: bytes
    row: int | None = None
    """The number of the row; None: the whole tensor."""

    @property
    def name(self) -> str:
        """`tensor 3`, or `row 7 of tensor 3`."""
        return f"tensor {self.tensor}" if self.row is None else f"row {self.row} of tensor {self.tensor}"


Run = list[Record]


def harness(planned: Planned, layout: Layout, accesses: Sequence[Mapping[str, int | str]] = ()) -> Bundle:
    """Return the C of the program: it reads inputs from standard input, and writes records to standard output.

    With `accesses`, the locations of buffers that steps touch, it also shows when they do; pools are given by name.
    """
    models = model_rows(planned, layout)
    starts = planned.analysis.schedule.starts
    for index, row in enumerate(models):
        code = layout.models[index][1]  # functions do not report their progress, and branches are not known in advance
        is_seen = not code.functions and not code.has_flow
        steps = list(observed_steps(planned, layout, index, starts[index])) if is_seen else []
        row.update(
            between.facts(planned, layout, index),
            number=index,
            steps=steps,
            first=starts[index],
            last=starts[index + 1] - 1,
            is_seen=is_seen,
        )
    order = between.order(planned)
    pieces = _pieces(planned, layout, order) | {"accesses": bool(accesses)}
    text = render("selftest.c.j2", project=layout.summary.project, models=models, order=order, marks=Mark, **pieces)
    files = [OutputFile(f"{_PROGRAM}.c", text)]
    if accesses:
        position = _positions(layout)
        rows = [{**row, "pool": position[str(row["pool"])]} for row in accesses]
        files.append(OutputFile("usmp_accesses.h", render("accesses.h.j2", rows=rows, mark=Mark.ACCESSES.value)))
    return Bundle.collect(files)


def _pools(layout: Layout) -> list[PoolRow]:
    return [pool for pool in layout.summary.pools if pool.is_workspace and pool.size]


def _positions(layout: Layout) -> Mapping[str, int]:
    return {pool.name: number for number, pool in enumerate(_pools(layout))}


def _pieces(planned: Planned, layout: Layout, order: Sequence[int]) -> dict[str, object]:
    """Return for the template the memory of all models: pools, what is live in them, and when nothing is."""
    position = _positions(layout)
    rows = [
        (row, {"pool": position[row.pool], "offset": row.offset, "size": row.size})
        for row in layout.summary.buffers
        if row.kind != "constant" and row.size
    ]
    return {
        "pools": _pools(layout),
        "passed_constants": [each.pool for each in layout.pool_bytes if each.data],
        "live": [place | {"start": start, "stop": stop} for row, place in rows for start, stop in row.intervals],
        "idle": [(index, *gap) for index in order for gap in between.idle(planned, index, list(position))],
        "variables": [place for row, place in rows if row.kind == Kind.VARIABLE.value],
    }


def model_rows(planned: Planned, layout: Layout) -> list[dict[str, object]]:
    """Return for each model, for templates: `row`, `inputs`, and `outputs` as pairs of the tensor's index and port."""
    return [
        {"row": row, "inputs": code.inputs, "outputs": list(zip(model.main.outputs, code.outputs, strict=True))}
        for (row, code), model in zip(layout.models, planned.analysis.models, strict=True)
    ]


def build(folder: Path, layout: Layout, compiler: str, sanitize: bool, sources: Sequence[str] = ()) -> Path:
    """Compile the program, with C files of the application.  Raises CheckFailed when the compiler refuses."""
    flags = (*_FLAGS, *(_SANITIZE if sanitize else ()))
    files = [f"{_PROGRAM}.c", *_generated(layout), *(str(Path(source).resolve()) for source in sources)]
    option = "--sanitize" if sanitize else ""
    _compile(folder, layout, compiler, [*flags, "-iquote.", *files, "-o", _PROGRAM, "-lm"], sources, option)
    return folder / _PROGRAM


def build_traced(folder: Path, layout: Layout, compiler: str, sources: Sequence[str] = ()) -> Path:
    """Compile it so that every access of the generated code and of the application's files is noted."""
    pools, *files = _generated(layout)  # that of the pools has atomics, and touches no byte of them
    files += [str(Path(source).resolve()) for source in sources]
    _compile(folder, layout, compiler, [*_FLAGS, *_TRACE, "-iquote.", "-c", *files], sources, "--accesses")
    rest = [f"{_PROGRAM}.c", pools, *(f"{Path(file).stem}.o" for file in files)]
    _compile(folder, layout, compiler, [*_FLAGS, "-iquote.", *rest, "-o", _PROGRAM, "-lm"], sources)
    return folder / _PROGRAM


def _generated(layout: Layout) -> list[str]:
    project = layout.summary.project
    return [f"{name}.c" for name in (f"{project}_pools", f"{project}_kernels", *(row.name for row, _ in layout.models))]


def _compile(
    folder: Path, layout: Layout, compiler: str, arguments: Sequence[str], sources: Sequence[str], option: str = ""
) -> None:
    """Run the compiler; `option` is the command-line option that needs a sanitizer, if any."""
    command = _compiler(compiler)
    try:
        done = run_program([*command, *arguments], _SECONDS, folder=folder)
    except (OSError, Unfinished) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f'cannot run the C compiler "{command[0]}": {(reason or str(error)).lower()}'
        raise CheckFailed(Diagnostic("S601", message, help="install one, or name it with --cc")) from None
    if done.code or ("-c" not in arguments and not (folder / _PROGRAM).exists()):
        output = done.text or f"{command[0]} says nothing and makes no program"
        refuse_missing(layout, sources, output)
        help_ = _advice(sources, option)
        what = f"the generated code, with {' and '.join(sources)}," if sources else "the generated code"
        raise CheckFailed(Diagnostic("S601", f"{what} does not compile:\n{output}", help=help_))


def _advice(sources: Sequence[str], option: str) -> str:
    """Say what to do when the compiler refuses, the likeliest first."""
    advice = ["look at the application's files first"] if sources else []
    if option:
        advice.append(f"this compiler may lack sanitizers: name another with --cc, or leave {option} out")
    else:
        advice.append("if it is a C99 compiler, this is a fault of usmp_build: please report it")
    return "; otherwise, ".join(advice)


def _compiler(option: str) -> list[str]:
    """Split the compiler's name from its options, as a shell would."""
    text = option or os.environ.get("CC") or "cc"
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise UsageError(Diagnostic("U208", f"{text!r} is not a command", help="name a C compiler: --cc gcc"))
    return words


def run_all(program: Path, planned: Planned, inputs: list[list[Sample]], garbage: int, period: int) -> list[list[Run]]:
    """Run all models in turn on each of their inputs; return records by model, then run.

    All models are reset before the first run, and again whenever another `period` of runs is over.
    """
    runs = len(inputs[0]) if inputs else 0
    command = [str(program.resolve()), str(runs), str(garbage), str(period)]
    try:
        done = run_program(command, _SECONDS, said=_given(planned, inputs))
    except Unfinished as error:
        raise CheckFailed(Diagnostic("S602", f"the program: {error}")) from None
    if done.code:
        message = f"the program failed with code {done.code}:\n{done.text}"
        raise CheckFailed(Diagnostic("S602", message, help=at_fault(*planned.summary.models)))
    return read_records(done.out, len(planned.request.models))


def _given(planned: Planned, inputs: Sequence[Sequence[Sample]]) -> bytes:
    """Return what the program reads: inputs in the order of the models' runs, except those that other models fill."""
    inputs_to_send: list[list[Sample]] = []
    for index in between.order(planned):
        connected = between.connected(planned, index)
        late = between.by_rows(planned, index)
        order = sorted((i for i in range(len(inputs[index][0])) if i not in connected), key=lambda i: i in late)
        inputs_to_send.append([tuple(sample[i] for i in order) for sample in inputs[index]])
    return input_stream(inputs_to_send)


def input_stream(inputs: Sequence[Sequence[Sample]]) -> bytes:
    """Return what the program reads, from inputs by model, then run: run by run all models, as it runs them."""
    return b"".join(array.tobytes() for run in zip(*inputs, strict=True) for sample in run for array in sample)


def read_records(stream: bytes, models: int) -> list[list[Run]]:
    """Sort what the program wrote by model, then run."""
    results: list[list[Run]] = [[] for _ in range(models)]
    at = 0
    while at < len(stream):
        model, step, tensor, row, size = _RECORD.unpack_from(stream, at)
        at += _RECORD.size
        data = stream[at : at + size]
        at += size
        if step == Mark.NEXT_RUN:
            results[model].append([])
        elif row < 0:
            results[model][-1].append(Record(step, tensor, data))
        elif data:
            results[model][-1].append(Record(step, tensor, data, row))
    return results


def observed_steps(planned: Planned, layout: Layout, index: int, first: int) -> Iterator[dict[str, int]]:
    """For each operator, or row: its position in the file, its step on the timeline, and the calls of the hook."""
    analysis = planned.analysis
    code = layout.models[index][1]
    by_rows = {each.step: each for each in code.row_steps}
    numbers: dict[OperatorRef, int] = {}
    for time, step in enumerate(schedule.steps(analysis.schedule.programs[index]), first):
        if step.arrival:
            yield {"position": _ARRIVES, "time": time, "traces": 1}
        elif step.move:
            yield {"position": _MOVES, "time": time, "traces": 1}
        elif step.operator is not None:
            number = numbers.setdefault(step.operator, len(numbers))
            position = operator_at(analysis.models, step.operator).position
            traces = len(code.steps[number].traces)
            if number in by_rows and by_rows[number].row:
                traces = len(by_rows[number].traces) + traces * (step.job == by_rows[number].last)
            yield {"position": position, "time": time, "traces": traces}
