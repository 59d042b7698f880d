"""docs/programs.md is so: its example in both forms, its picture, its C."""

import json
import re
from dataclasses import replace
from pathlib import Path

from benchmarks import programs
from tests.support.cases import conflicts, plan_case, plan_program, read_case
from tests.support.cli import succeed
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.importers.program import import_program
from usmp_build.importers.program.records import STATEMENTS, FunctionRecord, ParameterRecord, ProgramRecord
from usmp_build.importers.text import import_text
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.pipeline import Planned

EXAMPLE = DiskFiles(ROOT / "examples" / "program")
PAGE = (ROOT / "docs" / "programs.md").read_text("utf-8")


PICTURE = Page("docs/programs.md#how-long-buffers-live").take("text").text
FUNCTION = Page("docs/programs.md#a-program-as-json").take("json").text.encode()

THEIRS = ["430,848", "1,117,718", "1,117,718", "11,424", "1,233,408", "7,200,256"]
"""Bytes of workspace of TVM's cases, by their names."""


@runs("docs/programs.md#the-same-as-text")
def test_both_forms_say_the_same(page: Page) -> None:
    from_json = import_program(FUNCTION, "net", "net.program.json")
    from_text = import_text(page.take("model").text.encode(), "net", "net.model.txt")
    for ours, theirs in zip(from_json.subgraphs, from_text.subgraphs, strict=True):
        assert sorted(t.name for t in ours.tensors) == sorted(t.name for t in theirs.tensors)
    assert from_json == replace(from_text, name="net")


@runs("docs/programs.md#a-program-as-json")
def test_the_program_is_planned(page: Page) -> None:
    assert plan_program(page.take("json").text.encode(), "pool").summary.pools


@runs("docs/programs.md#c-for-programs")
def test_the_functions_of_a_program_are_declared(page: Page, tmp_path: Path) -> None:
    succeed("generate", ROOT / "examples" / "program" / "usmp.toml", "--out", tmp_path)
    assert page.take("c").text in (tmp_path / "vision.h").read_text("utf-8")


def test_every_key_is_told() -> None:
    tables = dict(re.findall(r"(?m)^\| `?(\w+)`? \| `([^`]*)` \|", PAGE))
    told = {name: {key.rstrip("?"): not key.endswith("?") for key in keys.split()} for name, keys in tables.items()}
    known = {"program": ProgramRecord, "function": FunctionRecord, "parameter": ParameterRecord, **STATEMENTS}
    assert told == {
        name: {field.alias or key: field.is_required() for key, field in record.model_fields.items() if key != "op"}
        for name, record in known.items()
    }


def lifetimes(planned: Planned) -> dict[str, list[int]]:
    """Workspace buffer → the steps at which it is alive."""
    lives = zip(planned.analysis.storage.buffers, planned.analysis.lifetimes.intervals, strict=True)
    return {
        buffer.name.rpartition(".")[2]: [step for start, stop in intervals for step in range(start, stop)]
        for buffer, intervals in lives
        if buffer.kind is not Kind.CONSTANT
    }


def test_the_picture_is_the_example() -> None:
    planned = pipeline.plan(pipeline.read("usmp.toml", EXAMPLE), EXAMPLE)
    alive = lifetimes(planned)
    columns = sorted(alive, key=lambda name: (alive[name][0], name))
    names = [step.name.partition(": ")[2] for step in steps(planned.analysis.schedule.root)]
    width = max(map(len, names)) + 1
    expected = [f"  step{' ' * width}{'  '.join(columns)}"]
    for number, name in enumerate(names):
        bars = "  ".join(("█" if number in alive[column] else "").ljust(len(column)) for column in columns)
        expected.append(f"  {number}  {name:{width}} {bars}".rstrip())
    assert PICTURE.splitlines() == expected, "\n".join(["draw it so:", *expected])


def test_the_picture_is_as_described() -> None:
    planned = pipeline.plan(pipeline.read("usmp.toml", EXAMPLE), EXAMPLE)
    buffers, allocations = planned.analysis.storage.buffers, planned.plan.allocations
    sizes = {buffer.name.rpartition(".")[2]: buffer.size for buffer in buffers}
    offsets = {b.name.rpartition(".")[2]: place.offset for b, place in zip(buffers, allocations, strict=True)}
    alive = lifetimes(planned)
    most = max(sum(sizes[name] for name, at in alive.items() if step in at) for step in range(10))
    assert sizes["PaddedInput"] + sizes["DepthwiseConv2d"] + sizes["blurred"] == planned.summary.pools[0].size
    assert (planned.summary.pools[0].size, most) == (2_080, 1_824)
    assert (offsets["edges"], offsets["mean"]) == (offsets["PaddedInput"], offsets["DepthwiseConv2d"])


def test_what_a_parallel_loop_touches_lives_throughout() -> None:
    alive = lifetimes(plan_program(FUNCTION, "pool"))
    assert all({2, 3} <= set(alive[name]) for name in ("padded", "sum", "a"))
    assert "alive in both stores of the second loop" in " ".join(PAGE.split())


def test_what_planning_all_functions_together_saves() -> None:
    """In TVM's cases functions sum a row at a time: the padding fills nearly all of the workspace."""
    first, *others = programs.table()[2:]
    assert first == "| depthwise | 132,160 | 113,728 | 13.9 % |"
    assert [line.split(" | ")[1:] for line in others] == [[bytes_, bytes_, "0.0 % |"] for bytes_ in THEIRS]


def test_global_planning_is_never_worse() -> None:
    for name in ("linear", "resnet_subgraph"):
        program = json.dumps({"program": read_case(name)["program"]}).encode()
        local, together = programs.figures(programs.analyze(program))
        assert together <= local


def test_the_number_of_conflicts_that_usmp_has_more() -> None:
    name = "multiple_calls_same_function"
    constants = {"sid_21", "sid_22", "sid_23"}
    theirs, ours = read_case(name)["conflicts"], conflicts(plan_case(name))
    total, fewer = (sum(len(o) for k, o in side.items() if k not in constants) // 2 for side in (theirs, ours))
    assert (total - fewer, total) == (4, 72)


def test_the_example_is_planned() -> None:
    planned = plan_program((ROOT / "tests" / "data" / "depthwise.program.json").read_bytes())
    assert planned.summary.is_at_bound
