"""An image that runs every model of a manifest on a board, and tells the host every tensor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jinja2
import numpy as np

from tests.support import board_manifests, firmware
from tests.support.firmware import Board
from tests.support.planned import Shared, answered, generated
from tests.support.tree import ROOT
from usmp_build.layout.layout import Layout
from usmp_build.pipeline import Planned
from usmp_build.request import ModelRequest
from usmp_build.selftest.compare import comparable_tensors, compare
from usmp_build.selftest.harness import Mark, Run, input_stream, model_rows, observed_steps, read_records
from usmp_build.selftest.inputs import Sample
from usmp_build.selftest.oracle import Answer, oracle_tensors

_TEMPLATES = ROOT / "tests" / "firmware"
_PORTABLE = '\n[targets.cpu]\nisa = "portable"\n'
"""The plan that all boards share is for any processor; CMake would plan for the board's."""
RUNS = 2
"""Runs of each model, where a test does not ask for more."""
_PLANNED = f"-Dusmp_build_DIR={(_TEMPLATES / 'planned').as_posix()}"


@dataclass(frozen=True)
class Image:
    """What was built, and the plan that it was built from."""

    board: Board
    folder: Path
    elf: Path
    planned: Planned
    layout: Layout
    generated: Path
    """The folder of the generated files."""
    shared: Shared


def make(
    board: Board,
    folder: Path,
    manifest: str,
    runs: int,
    shared: Shared,
    application: str = "",
    interleaved: tuple[str, str] | None = None,
    find: str = "",
    build_type: str | None = None,
    include: Path | None = None,
) -> Image:
    """Plan, write the harness, and build everything with the example's CMake project.

    The plan is the one that all boards share; with `find`, CMake plans once more.  `application` is C of what the
    application supplies.  Of the models in `interleaved`, all of the second one runs after each operator of the first
    one, and no other runs.  `include` is CMake that is run before the example's.
    """
    prepared = generated(manifest, shared)
    planned, layout = prepared.planned, prepared.layout
    main = folder / "main.c"
    program = _interleaved(planned, layout, runs, *interleaved) if interleaved else harness(planned, layout, runs)
    main.write_text(application + program, encoding="utf-8")
    build = folder / "build"
    path = (folder if find else prepared.folder) / "usmp.toml"
    if find:
        path.write_text(manifest + _PORTABLE, encoding="utf-8")
    hook = ("USMP_HOOK",)
    how = {"find": find or _PLANNED, "build_type": build_type, "include": include}
    elf = firmware.build(board, build, manifest=path, main=main, definitions=hook, **how)
    return Image(
        board, folder, elf, planned, layout, build / "plan.usmp" if find else prepared.folder / "generated", shared
    )


def run(image: Image, inputs: Sequence[Sequence[Sample]], plugin_args: Sequence[str] = ()) -> list[list[Run]]:
    """Run all models in turn on each of their inputs; return records by model, then run."""
    (image.folder / "inputs.bin").write_bytes(input_stream(inputs))
    done = firmware.run(image.board, image.elf, image.folder, plugin_args=plugin_args)
    assert done.code == 0, done.out + done.err
    results = read_records((image.folder / "records.bin").read_bytes(), len(inputs))
    assert [len(runs) for runs in results] == [len(samples) for samples in inputs]
    return results


def check(image: Image, results: Sequence[list[Run]], inputs: Sequence[list[Sample]]) -> int:
    """Compare every tensor with TensorFlow Lite Micro; return how many there were.  Raises CheckFailed."""
    count = 0
    for index, model in enumerate(image.planned.request.models):
        tensors = comparable_tensors(image.planned, index, results[index])
        data = (image.folder / model.path).read_bytes()
        question = (data, input_stream([inputs[index]]), repr(tuple(tensors)).encode())
        answers = answered(question, partial(_oracle, model, data, inputs[index], tensors), image.shared)
        count += compare(image.planned, index, results[index], answers)
    return count


def _oracle(model: ModelRequest, data: bytes, inputs: Sequence[Sample], tensors: Sequence[int]) -> list[Answer]:
    reference = oracle_tensors(model, data, inputs, tensors)
    assert reference is not None, "tflite-micro is not installed"
    assert not reference.aborted, "TensorFlow Lite Micro aborts"
    return reference.runs


def misplaced(image: Image) -> list[str]:
    """Say of every pool that is not in its region, or not of its size."""
    symbols = firmware.symbols(image.board, image.elf)
    complaints = []
    for pool in image.layout.summary.pools:
        if not pool.size:
            continue
        start, stop = (symbols[f"__usmp_{pool.name}_{end}"][0] for end in ("start", "end"))
        there = {image.board.region_of(start), image.board.region_of(stop - 1)}
        if there != {pool.region}:
            complaints.append(f"pool {pool.name} is in {' and '.join(sorted(map(str, there)))}, not in {pool.region}")
        if stop - start != pool.size:
            complaints.append(f"pool {pool.name} has {stop - start} bytes, not {pool.size}")
    return complaints


def stored_inputs(planned: Planned, goldens: Mapping[str, Path], runs: int) -> list[list[Sample]]:
    """Read inputs of every model from its golden file: `input`, or `input_0`, `input_1` ..., ten runs each."""
    samples = []
    for request, model in zip(planned.request.models, planned.imported, strict=True):
        with np.load(goldens[request.name]) as stored:
            names = [f"input_{i}" if f"input_{i}" in stored else "input" for i in range(len(model.main.inputs))]
            arrays = [stored[name] for name in names]
        samples.append([tuple(array[run] for array in arrays) for run in range(runs)])
    return samples


def harness(planned: Planned, layout: Layout, runs: int) -> str:
    """Render the program that runs the models in turn, and puts garbage into what is dead after each operator."""
    pools = [pool for pool in layout.summary.pools if pool.size]
    variables = [row for row in layout.summary.buffers if row.kind == "variable" and row.size]
    rows, project = model_rows(planned, layout), layout.summary.project
    operators, dead = _dead(planned, layout)
    values = {"pools": pools, "variables": variables, "runs": runs, "operators": operators, "dead": dead}
    return _render("harness.c.j2", project=project, models=rows, **values)


def _dead(planned: Planned, layout: Layout) -> tuple[list[dict[str, int]], list[tuple[str, int, int]]]:
    """Return all operators, and what is dead after each of them: pieces of workspace pools, by offset and size."""
    operators, dead = [], []
    for model, start in enumerate(planned.analysis.schedule.starts[:-1]):
        for step in observed_steps(planned, layout, model, start):
            first = len(dead)
            dead += _idle(layout, step["time"] + 1)
            operators.append({**step, "model": model, "first": first, "stop": len(dead)})
    return operators, dead


def _idle(layout: Layout, time: int) -> Iterator[tuple[str, int, int]]:
    for pool in layout.summary.pools:
        if pool.is_workspace:
            here = (row for row in layout.summary.buffers if row.pool == pool.name)
            alive = [row for row in here if any(start <= time < stop for start, stop in row.intervals)]
            ends = sorted((row.offset, row.end) for row in alive)
            at = 0
            for low, high in [*ends, (pool.size, pool.size)]:
                if at < low:
                    yield pool.name, at, low - at
                at = max(at, high)


def _interleaved(planned: Planned, layout: Layout, runs: int, outer: str, inner: str) -> str:
    """Render the program that runs one model within another."""
    names = [model.name for model in planned.request.models]
    rows = [row | {"number": number} for number, row in enumerate(model_rows(planned, layout))]
    one, other = rows[names.index(outer)], rows[names.index(inner)]
    first, second = sorted((one, other), key=rows.index)
    return _render("interleaved.c.j2", outer=one, inner=other, first=first, second=second, runs=runs)


def _render(template: str, **values: object) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string((_TEMPLATES / template).read_text(encoding="utf-8")).render(marks=Mark, **values)


def all_equal(
    board: Board, folder: Path, models: dict[str, Path], manifest: str, shared: Shared, runs: int = RUNS
) -> Image:
    """Build, run and compare; then every tensor that an operator of the files makes was seen, if it is kept."""
    firmware = make(board, folder, manifest, runs, shared)
    inputs = stored_inputs(firmware.planned, board_manifests.goldens(models), runs)
    count = check(firmware, run(firmware, inputs), inputs)
    assert misplaced(firmware) == []
    assert count >= kept(firmware)
    return firmware


_GONE = {
    "ADD",
    "BATCH_MATMUL",
    "BATCH_TO_SPACE_ND",
    "LOGISTIC",
    "PAD",
    "RESHAPE",
    "SPACE_TO_BATCH_ND",
    "TILE",
    "TRANSPOSE",
}
"""Kinds whose outputs rewrites leave out: within look-ups and operators that were written as several, around heads that
are transposed, and of paddings that convolutions do."""


def kept(firmware: Image) -> int:
    """Count the tensors that operators of the files make, but for those of `_GONE`."""
    count = 0
    for before, after in zip(firmware.planned.imported, firmware.planned.analysis.models, strict=True):
        there = [op for op in before.main.operators if after.main.producers.keys() >= {*op.outputs}]
        gone = {op.kind for op in before.main.operators if op not in there}
        assert gone <= _GONE, gone
        count += sum(len(op.outputs) for op in there)
    return count
