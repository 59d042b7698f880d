"""How closely buffers may lie follows from what kernels declare, and, independently, from every access of their C."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.support import nets, parts
from tests.support.cli import RO, RW, call, manifest, one_model, succeed, tables
from tests.support.flatfile import flatfile
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.dynamic import KINDS, dynamic
from tests.support.kernels.faster import ISAS, faster
from tests.support.kernels.pictures import PICTURES, by_rows_only, pictures
from tests.support.kernels.rewritten import PRODUCERS, WINDOWS, clamped, padded
from tests.support.kernels.samples import draw
from tests.support.resized import resized
from tests.support.row_nets import WAYS, all_rows, drawn, replanned, residual
from tests.support.tools import few, needs_gcc
from usmp_build import pipeline, plugins
from usmp_build.files import DiskFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import KernelCall, KernelSources
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Direction
from usmp_build.kernels import nests_of_sums
from usmp_build.kernels.reference import Reference
from usmp_build.operators.decoding import DECODE
from usmp_build.pipeline import Planned
from usmp_build.request import REWRITES, Isa
from usmp_build.search import concat_aliasing
from usmp_build.search.analyze import redirect
from usmp_build.search.replanner import Replanner
from usmp_build.selftest.accesses import ComparedPair, compared

COUNT = 15
"""Random models of each kind, in one plan."""
UNDECLARED = {"EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "SHAPE", "SLICE", "ZEROS_LIKE"}
"""What these read depends on indices that come at run time, or is nothing: none of it is declared."""

APART = {"CUSTOM:SignalIrfft", "CUSTOM:SignalRfft", "CUSTOM:TFLite_Detection_PostProcess"}
"""Kinds whose output stays apart from their input, though some bytes of it could overlap."""

WITHOUT_INPUTS = {DECODE}
"""Kinds that read nothing but constants."""

TANH = """
    %0 "x" float32[4]
    %1 "y" float32[4]
    inputs %0
    outputs %1
    %1 = TANH(%0)
"""


def with_analysis(plan: Planned, analysis: Analysis) -> Planned:
    """Exchange what was analyzed."""
    return replace(plan, fitted=replace(plan.fitted, chosen=replace(plan.fitted.chosen, analysis=analysis)))


def planned(folder: Path, cases: Iterable[Case], isa: Isa = Isa.PORTABLE) -> Planned:
    """Plan models of one operator each."""
    models = {}
    for number, case in enumerate(cases):
        name = f"m{number}"
        (folder / f"{name}.tflite").write_bytes(flatfile(case.graph))
        models[name] = f'path = "{name}.tflite"\n'
    off = ", ".join(f"{name} = false" for name in REWRITES)
    plan = f"[plan]\nrewrites = {{ {off} }}\n"
    target = f'[targets.cpu]\nisa = "{isa.value}"\n'
    path = manifest(folder, plan + tables("t", {"sram": RW, "flash": RO}, models) + target)
    files = DiskFiles(path.parent)
    return pipeline.plan(pipeline.read(path.name, files), files)


def in_each_direction(plan: Planned) -> Iterator[tuple[Direction, Planned]]:
    """Yield the analysis with all kernels that have a choice forward, then backward: places are not planned again."""
    for direction in (Direction.FORWARD, Direction.BACKWARD):
        choices = plan.analysis.choices.towards(plan.analysis.kernels, direction)
        yield direction, with_analysis(plan, redirect(plan.request, plan.analysis, choices))


@pytest.mark.slow
@needs_gcc
@pytest.mark.drawn("operator")
@pytest.mark.parametrize("operator", few([kind for kind in CASES if kind not in WITHOUT_INPUTS], 6))
def test_declared_and_traced_distances_are_equal(operator: str, tmp_path: Path) -> None:
    check_distances(planned(tmp_path, draw(operator, COUNT)))


@pytest.mark.slow
@needs_gcc
def test_declared_and_traced_distances_of_inputs_that_are_quantized_are_equal(tmp_path: Path) -> None:
    """Scratch is not declared: it overlaps nothing."""
    for direction, plan in in_each_direction(planned(tmp_path, [case for kind in KINDS for case in dynamic(kind, 8)])):
        comparisons = [each for each in compared(plan) if each.declared is not None]
        assert comparisons, direction
        assert {each: each.planned for each in comparisons} == {each: bounded(plan, each) for each in comparisons}, (
            direction
        )


@needs_gcc
@pytest.mark.long
def test_declared_and_traced_distances_of_kernels_by_rows_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are planned, generated and run in place of the others."""
    monkeypatch.setattr(Reference, "kernel", by_rows_only)
    check_distances(planned(tmp_path, [case for kind in PICTURES for case in pictures(kind, 4)]))


@pytest.mark.slow
@needs_gcc
@pytest.mark.drawn("kernel")
@pytest.mark.parametrize("kernel", few([(isa, kind) for isa, kinds in ISAS.items() for kind in kinds], 3))
def test_kernels_for_other_instructions_keep_the_distances_they_declare(
    kernel: tuple[Isa, str], tmp_path: Path
) -> None:
    """Several turns at once need less."""
    isa, name = kernel
    cases = [case for case, _ in faster(isa, name, COUNT)]
    for direction, plan in in_each_direction(planned(tmp_path, cases, isa)):
        comparisons = [each for each in compared(plan) if each.declared is not None]
        assert comparisons, direction
        assert [each for each in comparisons if each.traced > each.planned] == [], direction


def check_distances(planned_once: Planned) -> None:
    """Compare what kernels declare with what their C does, in both directions."""
    for direction, plan in in_each_direction(planned_once):
        comparisons = compared(plan)
        assert comparisons, direction
        undeclared = [each for each in comparisons if each.declared is None and not is_read_throughout(plan, each)]
        assert {kind(each) for each in undeclared} <= UNDECLARED | APART, direction
        declared = [each for each in comparisons if each.declared is not None and kind(each) not in APART]
        exact = {each: bounded(plan, each) for each in declared}
        assert {each: each.planned for each in exact} == exact, direction
        assert all(each.traced <= each.planned for each in comparisons), direction


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_declared_and_traced_distances_of_channels_are_equal(dtype: str, tmp_path: Path) -> None:
    """Outputs lie in turn with others, and inputs too; what is in front of them and behind is not theirs."""
    for name, text in {"windows": parts.convolutions(dtype), "pools": parts.CHANNELS.replace("int8", dtype)}.items():
        (tmp_path / f"{name}.tflite").write_bytes(parts.tflite(text))
    models = {name: f'path = "{name}.tflite"\n' for name in ("windows", "pools")}
    path = manifest(tmp_path, "[plan]\n" + tables("t", {"sram": RW, "flash": RO}, models))
    request = pipeline.read(path.name, DiskFiles(path.parent))
    imported = tuple(plugins.import_model(model, DiskFiles(path.parent)) for model in request.models)
    plan = pipeline.plan(request, DiskFiles(path.parent))
    everywhere = Replanner.of(request, imported).analyze()
    assert len(concat_aliasing.operators_with_parts(everywhere.models)) == 6
    for direction, turned in in_each_direction(with_analysis(plan, everywhere)):
        pairs = turned.analysis.separations.pairs
        comparisons = [each for each in compared(turned) if (each.below, each.above) in pairs]
        assert comparisons, direction
        assert {each: each.planned for each in comparisons} == {each: bounded(turned, each) for each in comparisons}, (
            direction
        )


@needs_gcc
def test_selftest_says_that_accesses_agree(tmp_path: Path) -> None:
    done = succeed("selftest", "--accesses", manifest(tmp_path, one_model("digits")))
    assert "pairs of buffers may lie closer than they are long, and no access contradicts that" in done.out
    assert not done.out.startswith("0 ")
    assert done.out.count("\n") == 1


def test_selftest_of_a_model_that_touches_nothing_planned(tmp_path: Path) -> None:
    (tmp_path / "tanh.tflite").write_bytes(parts.tflite(TANH))
    done = succeed("selftest", "--accesses", manifest(tmp_path, one_model("m", 'io = "application"', "tanh.tflite")))
    assert done.out.startswith("0 pairs of buffers may lie closer")


@needs_gcc
def test_selftest_notes_what_is_declared_too_carefully(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of four channels of CONV_2D each was written by itself, before the next one reads its pixels again."""
    monkeypatch.setattr(nests_of_sums, "BLOCK", 1)
    done = succeed("selftest", "--accesses", manifest(tmp_path, one_model("digits")))
    _, note, *lines = done.out.splitlines()
    count = re.fullmatch(r"note: (\d+) could lie closer than their kernels declare; .*", note)
    assert count
    assert min(int(count[1]), 5) == sum("would do" in line for line in lines) > 0
    matches = re.findall(r"  \w+ \d+: \S+ at least (-?[\d,]+) bytes after the start of \S+, where (-?[\d,]+)", done.out)
    assert all(int(more.replace(",", "")) > int(less.replace(",", "")) for more, less in matches)


def in_rows(replanner: Replanner, analysis: Analysis, direction: Direction) -> Analysis:
    """Return the analysis with everything in rows, in the order of the file."""
    rows = all_rows(replanner, analysis)
    return replanner.retime(analysis, Choices({}, dict.fromkeys(rows.jobs, direction), rows))


def is_read_throughout(plan: Planned, each: ComparedPair) -> bool:
    """Whether one of two buffers holds weights, biases or a padding value: read until the end, and so kept apart."""
    names = (plan.analysis.storage.buffers[buffer].name for buffer in (each.below, each.above))
    return any(name.endswith((".weights", ".bias", ".value")) for name in names)


def kind(each: ComparedPair) -> str:
    return each.step.name.split()[1]


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("seeds", few([(4, 9), (0, 1, 5)], 1))
def test_each_row_touches_what_its_kernel_declares(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    """Rows of all kinds: the first one, the last one, those that have padding, rows in buffers and in one piece."""
    for seed in seeds:
        (tmp_path / f"net{seed}.tflite").write_bytes(drawn(seed))
    models = {f"net{seed}": f'path = "net{seed}.tflite"\n' for seed in seeds}
    path = manifest(tmp_path, "[plan]\nrows = true\n" + tables("t", {"sram": RW, "flash": RO}, models))
    plan = pipeline.plan(pipeline.read(path.name, DiskFiles(tmp_path)), DiskFiles(tmp_path))
    for direction in WAYS:
        turned = replanned(plan, partial(in_rows, direction=direction))
        of_rows = [each for each in compared(turned) if each.step.job is not None]
        assert all(each.traced <= each.planned for each in of_rows)
        declared = {each: each.declared for each in of_rows if each.declared is not None}
        assert {"CONV_2D", "DEPTHWISE_CONV_2D"} <= {kind(each) for each in declared}
        exact = {each: bounded(turned, each) for each in declared}
        assert all(declared[each] >= exact[each] for each in declared)
        assert [each for each in declared if declared[each] > exact[each] and kind(each) != "TRANSPOSE"] == []


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("dtype", few(["int8", "float32"], 1))
def test_each_row_of_resized_images_touches_what_its_kernel_declares(dtype: str, tmp_path: Path) -> None:
    """Several rows of the output are made of the same rows of the input, or one of several."""
    (tmp_path / "net.tflite").write_bytes(parts.tflite(resized(dtype)))
    path = manifest(tmp_path, one_model("net", path="net.tflite") + "[plan]\nrows = true\n")
    plan = pipeline.plan(pipeline.read(path.name, DiskFiles(tmp_path)), DiskFiles(tmp_path))
    for direction in WAYS:
        turned = replanned(plan, partial(in_rows, direction=direction))
        declared = {each: each.declared for each in compared(turned) if each.declared is not None}
        by_rows = {kind(each) for each in declared if each.step.job is not None}
        assert by_rows >= {"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_DEPTH"}
        exact = {each: bounded(turned, each) for each in declared}
        assert all(declared[each] >= exact[each] for each in declared)
        assert {kind(each) for each in declared if declared[each] > exact[each]} <= {"SPACE_TO_DEPTH"}


@needs_gcc
@pytest.mark.parametrize(
    ("plan", "touching"), [("[plan]\nrows = false\n", r"\w+ \d+"), ("[plan]\nrows = true\n", r"\w+ \d+, row \d+")]
)
def test_kernels_that_go_the_other_way_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: str, touching: str
) -> None:
    honest = Reference.sources

    def planted(self: Reference, calls: Iterable[KernelCall], prefix: str) -> KernelSources:
        sources = honest(self, calls, prefix)
        return replace(sources, source=sources.source.replace("p->direction)", "-p->direction)"))

    monkeypatch.setattr(Reference, "sources", planted)
    (tmp_path / "net.tflite").write_bytes(residual())
    done = call("selftest", "--accesses", manifest(tmp_path, one_model("m", path="net.tflite") + plan))
    assert done.code == 4
    message = rf"error\[S631\]: {touching} touches bytes in a different order than its kernel declares"
    assert re.search(message, done.err)


def rewritten() -> dict[str, bytes]:
    """Models that become windows with frames, averages over what padding counts as, and limits."""
    models = {}
    for make, kinds in ((padded, WINDOWS), (clamped, PRODUCERS)):
        for kind in kinds:
            for number in range(COUNT // 3):
                graph = make(kind, np.random.default_rng([len(models), 8])).graph
                models[f"{make.__name__}_{kind.lower()}_{number}"] = flatfile(graph)
    return models


def nets_by_name() -> dict[str, bytes]:
    return {name: make() for name, make in nets.NETS.items()}


def parts_by_name() -> dict[str, bytes]:
    return {name.replace(" ", "_"): parts.tflite(text) for name, text in parts.ALL.items()}


def features(plan: Planned) -> set[str]:
    """What TFLite does not have, and rewrites do."""
    options = [op.options for model in plan.analysis.models for op in model.main.operators]
    words = ("frame", "outside", "limits")
    names = {word for word in words if any(getattr(own, word, None) is not None for own in options)}
    names |= {"channels"} if any(rewritten_model.channels for rewritten_model in plan.analysis.rewrites) else set()
    storage = plan.analysis.storage
    return names | {word for word in ("offsets", "pitches") if any(getattr(storage, word).values())}


@needs_gcc
@pytest.mark.long
@pytest.mark.drawn("make", "expected")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (rewritten, {"frame", "outside", "limits"}),
        (nets_by_name, {"frame", "channels", "offsets"}),
        (parts_by_name, {"pitches", "offsets"}),
    ],
)
def test_declared_and_traced_distances_are_equal_after_rewrites(
    make: Callable[[], dict[str, bytes]], expected: set[str], tmp_path: Path
) -> None:
    """Frames, limits, fewer channels, parts at offsets and in turn: what operators declare, wherever buffers lie."""
    models = make()
    for name, data in models.items():
        (tmp_path / f"{name}.tflite").write_bytes(data)
    places = {name: f'path = "{name}.tflite"\n' for name in models}
    path = manifest(tmp_path, '[plan]\nalgorithm = "greedy_by_size"\n' + tables("t", {"sram": RW, "flash": RO}, places))
    plan = pipeline.plan(pipeline.read(path.name, DiskFiles(path.parent)), DiskFiles(path.parent))
    everywhere = plan.replanner.analyze()
    for direction, turned in in_each_direction(with_analysis(plan, everywhere)):
        assert expected <= features(turned)
        comparisons = [each for each in compared(turned) if each.declared is not None]
        assert len(comparisons) > len(models), direction
        assert {each: each.declared for each in comparisons} == {each: bounded(turned, each) for each in comparisons}, (
            direction
        )


def bounded(plan: Planned, each: ComparedPair) -> int:
    """What was traced; no buffer must be farther from the lower one than its end."""
    return min(each.traced, plan.analysis.storage.buffers[each.below].size)
