"""Coverage-guided fuzzing of what reads untrusted files, with atheris (of PyPI).

    python -m tests.fuzz tflite CORPUS -max_total_time=3600

The first word is a target of `TARGETS`, the second a folder, which is given files of the tests to begin with, and keeps
what reaches further; all other words are libFuzzer's.  It ends at the first exception that is no error of ours, or when
an input takes a minute, and leaves that input in a file.

    python -m tests.fuzz --each SECONDS

gives each target that long, two at a time, each with a corpus of only the files of the tests.  All of them are
instrumented once, which takes longer than some of them run.
"""

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["usmp_build", "checker"]):
    from checker import main as checker
    from tests.support.cases import FOLDER
    from tests.support.cli import DATA, call
    from tests.support.linked_images import link, plan
    from tests.support.road import request
    from tests.support.spoiled_json import spoiled
    from tests.support.tree import ROOT
    from usmp_build import pipeline
    from usmp_build.cli.diff_markdown import markdown
    from usmp_build.errors import UsageError, UsmpError
    from usmp_build.image_check.check import check
    from usmp_build.image_check.elf import read_elf
    from usmp_build.image_check.map_file import read_map
    from usmp_build.importers.program import import_program
    from usmp_build.importers.text import import_text
    from usmp_build.importers.tflite import import_tflite
    from usmp_build.ir.graph import Model
    from usmp_build.layout.plan_json import read_plan
    from usmp_build.manifest import load, resolve
    from usmp_build.planner.problems.plan_file import read_plan as read_solution
    from usmp_build.planner.problems.read import read_problem
    from usmp_build.report.plan_diff import plan_difference
    from usmp_build.textual.text import write

WORK = Path(tempfile.mkdtemp())
BUILT = link(WORK, machine="arm")
PLAN = call("plan", DATA / "odd_even.tflite", "--json").out.encode()
LARGEST = 50
"""Operators of models that are also planned and generated: these run often."""


def generate(model: Model) -> None:
    if sum(len(graph.operators) for graph in model.subgraphs) <= LARGEST:
        quick = replace(request("m"), algorithm="greedy_by_size")
        pipeline.emit(pipeline.lay_out(pipeline.plan_models(quick, (model,))))


def compare(data: bytes) -> None:
    """As `diff` and `check` do."""
    plan, old = (read_plan(text, "plan.json", UsageError, "U204", "") for text in (data, PLAN))
    for before, after in ((old, plan), (plan, old)):
        list(markdown(plan_difference(before, after)))
    check(plan, BUILT.image)


def check_alone(plan_text: bytes, model: bytes) -> None:
    plan_file, model_file = (WORK / f"{os.getpid()}.{end}" for end in ("json", "tflite"))
    plan_file.write_bytes(plan_text)
    model_file.write_bytes(model)
    with contextlib.redirect_stdout(io.StringIO()):
        code = checker.main([str(plan_file), str(model_file)])
    assert code in (0, 1, 3)


def check_alone_model(data: bytes) -> None:
    """A plan that claims to be of these bytes."""
    document = json.loads(PLAN)
    document["models"][0]["sha256"] = hashlib.sha256(data).hexdigest()
    check_alone(json.dumps(document).encode(), data)


def files(folder: Path, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


MODELS = files(DATA, "*.tflite")
PROBLEMS = files(ROOT / "tests" / "cases" / "problems", "*.[cj]s*[vn]")
TARGETS: dict[str, tuple[Callable[[bytes], object], Sequence[bytes]]] = {
    "tflite": (lambda data: import_tflite(data, "m", "m.tflite"), MODELS),
    "generate": (lambda data: generate(import_tflite(data, "m", "m.tflite")), MODELS),
    "text": (
        lambda data: import_text(data, "m", "m.model.txt"),
        [write(import_tflite(data, "m", "")).encode() for data in MODELS],
    ),
    "program": (lambda data: generate(import_program(data, "m", "m.program.json")), files(FOLDER, "*.json")),
    "manifest": (lambda data: resolve(load(data, "usmp.toml")), files(ROOT / "tests" / "errors", "*/usmp.toml")),
    "problem": (lambda data: read_problem(data, "problem"), PROBLEMS),
    "solution": (lambda data: read_solution(data, "plan"), PROBLEMS),
    "elf": (lambda data: check(plan(), read_elf(data, "image.elf")), [BUILT.elf]),
    "map": (lambda data: check(plan(), BUILT.image, read_map(data, "image.map")), [BUILT.map]),
    "plan": (compare, [PLAN]),
    "checker": (lambda data: check_alone(data, (DATA / "odd_even.tflite").read_bytes()), [PLAN]),
    "checker_model": (check_alone_model, [(DATA / "odd_even.tflite").read_bytes()]),
}


def mutated(data: bytes, size: int, seed: int) -> bytes:
    """Spoil JSON as JSON most of the time; do anything to anything else."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(data)
        if isinstance(value, dict | list) and seed % 4:
            return json.dumps(spoiled(value, Random(seed))).encode()[:size]
    return bytes(atheris.Mutate(data, size))


def each(seconds: str) -> int:
    """Fuzz all targets in processes of their own; return how many reported a fault."""
    left, failed, running = [*TARGETS], 0, set[int]()
    while left or running:
        if left and len(running) < 2:
            target = left.pop(0)
            sys.stdout.flush()
            process = os.fork()
            if process == 0:
                main(target, str(WORK / target), f"-max_total_time={seconds}", "-verbosity=0")
                os._exit(1)  # libFuzzer does not return
            running.add(process)
            continue
        process, status = os.wait()
        running.discard(process)
        failed += status != 0
    return failed


def main(target: str, corpus: str, *options: str) -> None:
    """Fuzz until something is wrong, or the time is over."""
    run, seeds = TARGETS[target]

    def once(data: bytes) -> None:
        with contextlib.suppress(UsmpError):
            run(data)

    Path(corpus).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (Path(corpus) / f"seed{number}").write_bytes(seed)
    arguments = [sys.argv[0], corpus, "-timeout=60", "-max_len=50000", *options]
    atheris.Setup(arguments, once, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--each"]:
        sys.exit(each(sys.argv[2]))
    main(*sys.argv[1:])
