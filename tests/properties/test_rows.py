"""Nets that run row by row: every tensor is TensorFlow Lite Micro's, in good orders of jobs and in bad ones.

The self-test fills the pools with garbage, and poisons between any two jobs what is not alive.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random

import pytest

from checker.main import check
from checker.model import Model
from tests.support.cli import manifest, planned, succeed, tables
from tests.support.road import request
from tests.support.row_nets import JOINED, all_rows, cut, drawn, replanned, shuffled
from tests.support.tools import few, needs_c
from usmp_build import pipeline, plugins
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import OperatorRef
from usmp_build.passes.rewrite.pins import NO_PINS
from usmp_build.passes.strips import Division, stages
from usmp_build.pipeline import Planned
from usmp_build.search import concat_aliasing, strips
from usmp_build.search.replanner import Replanner

COUNT = max(1, int(os.environ.get("USMP_CASES", "60")) // 15)
"""Nets in one program."""
FIRST = [*range(0, 4 * COUNT, COUNT), *range(JOINED, JOINED + 4 * COUNT, COUNT)]
"""The first seeds of programs."""


def written(folder: Path, seeds: Sequence[int], rows: bool = True) -> Path:
    """Write nets, each with a pool of its own, and their manifest."""
    pools, models = {}, {}
    for seed in seeds:
        path = folder / f"net{seed}.tflite"
        path.write_bytes(drawn(seed))
        pools[f"pool{seed}"] = 'access = "rw"\n'
        models[f"net{seed}"] = f'path = "{path.as_posix()}"\nworkspace_pools = ["pool{seed}"]\n'
    text = tables("p", pools, models) + f"[plan]\nrows = {str(rows).lower()}\n"
    return manifest(folder, text, f"rows_{rows}.toml")


@pytest.mark.slow
@needs_c
@pytest.mark.drawn("first")
@pytest.mark.parametrize("first", few(FIRST, 2))
def test_every_tensor_is_that_of_tensorflow_lite_micro(tmp_path: Path, first: int) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    seeds = range(first, first + COUNT)
    done = succeed("selftest", written(tmp_path, seeds), "--sanitize", "--runs", "2")
    for seed in seeds:
        assert f"net{seed}: " in done.out


@pytest.mark.slow
@needs_c
@pytest.mark.parametrize("change", few([shuffled, cut], 1))
@pytest.mark.drawn("first")
@pytest.mark.parametrize("first", few(FIRST, 2))
def test_so_it_is_in_any_order_of_jobs(
    tmp_path: Path, first: int, change: Callable[..., Analysis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with some operators as a whole."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    seeds = range(first, first + COUNT)
    text = written(tmp_path, seeds, rows=False)
    plan = pipeline.plan

    def in_any_order(*given: object) -> Planned:
        return replanned(plan(*given), partial(change, seed=first))  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "plan", in_any_order)
    done = succeed("selftest", text, "--sanitize", "--runs", "2")
    for seed in seeds:
        assert f"net{seed}: " in done.out


@pytest.mark.slow
@needs_c
@pytest.mark.drawn("first")
@pytest.mark.parametrize("first", few(FIRST, 2))
def test_so_it_is_in_strips(tmp_path: Path, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of columns, in stages that are drawn, whether they save anything or not."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    chance, count = Random(first), list[int]()

    def some(reached: Iterable[Division]) -> list[Division]:
        found = [*reached]
        return chance.sample(found, min(9, len(found)))

    def drawn_strips(replanner: Replanner, index: int) -> list[tuple[Division, Fraction]]:
        found = stages.divisions(replanner.selection.rewrites[index], NO_PINS, Fraction(10))
        count.append(max(len(each.stages) for each in found))
        return [(max(found, key=lambda each: len(each.stages)), Fraction(0))]

    monkeypatch.setattr(stages, "_least", some)
    monkeypatch.setattr(strips, "_worthwhile", drawn_strips)
    monkeypatch.setattr(strips, "is_smaller", lambda candidate, _: candidate.plan is not None)
    monkeypatch.setattr(strips, "_is_worth", lambda *_: True)
    for seed in range(first, first + COUNT):
        text = written(tmp_path, [seed])
        text.write_text(f'{text.read_text("utf-8")}recompute = "100 %"\n', "utf-8")
        assert f"net{seed}: " in succeed("selftest", text, "--sanitize", "--runs", "2").out
    assert sum(count) > 0


@pytest.mark.parametrize("seed", [10001, 20317, 20455])
def test_the_checker_knows_what_is_read(tmp_path: Path, seed: int) -> None:
    """Resizes that floats make exact, or that are at a tie; parts of a concatenation that another one has, too."""
    plan = planned(written(tmp_path, [seed]))
    check(plan, [Model((tmp_path / f"net{seed}.tflite").read_bytes())])


def workspace(seed: int, rows: bool) -> int:
    """Plan a net by itself, and return the bytes of its workspace."""
    model = plugins.importer("net.tflite", "")(drawn(seed), "net", "net")
    return pipeline.plan_models(replace(request("net"), rows=rows), (model,)).summary.workspace.achieved


@pytest.mark.drawn("first")
@pytest.mark.parametrize("first", few(FIRST, 2))
def test_rows_never_need_more(first: int) -> None:
    pairs = [(workspace(seed, rows=True), workspace(seed, rows=False)) for seed in range(first, first + COUNT)]
    assert all(in_rows <= whole for in_rows, whole in pairs), pairs
    assert any(in_rows < whole for in_rows, whole in pairs)


@pytest.mark.slow
def test_rows_move_where_that_needs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = [workspace(seed, rows=True) for seed in range(8)]
    monkeypatch.setattr(concat_aliasing, "with_moves", lambda _, best: best)
    fixed = [workspace(seed, rows=True) for seed in range(8)]
    assert all(less <= more for less, more in zip(moved, fixed, strict=True)), (moved, fixed)
    assert moved != fixed


@pytest.mark.drawn("seeds")
@pytest.mark.parametrize("seeds", few([(1, 9), (2, 4, 7), (1, 7)], 1))
@pytest.mark.long
def test_each_model_of_a_firmware_has_the_rows_that_are_best_for_it(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    """All models in one way are worse for each of these firmwares."""
    sizes = {
        pool["name"]: pool["size"] for pool in planned(written(tmp_path, seeds))["pools"] if pool["access"] == "rw"
    }
    assert sizes == {f"pool{seed}": workspace(seed, rows=True) for seed in seeds}


def test_the_nets_have_tensors_in_one_piece_of_all_kinds() -> None:
    """Stretches leave tensors inside the net in one piece, touched by rows on both sides, or as a whole on one."""
    kinds = set[tuple[bool, bool]]()
    for seed in range(20):
        model = plugins.importer("net.tflite", "")(drawn(seed), "net", "net")
        replanner = Replanner.of(request("net"), (model,))
        analysis = cut(replanner, replanner.analyze(), seed)
        main, by_rows = analysis.models[0].main, analysis.choices.by_rows
        for edge in by_rows.edges:
            if edge.tensor not in (*main.inputs, *main.outputs):
                touching = [n for n, op in enumerate(main.operators) if edge.tensor in (*op.inputs, *op.outputs)]
                are_whole = {OperatorRef(0, 0, number) not in by_rows.jobs for number in touching}
                kinds.add((True in are_whole, False in are_whole))
    assert kinds == {(True, True), (False, True)}


def test_the_nets_have_rows_of_all_kinds() -> None:
    """What the tests above are for is there: jobs of many kinds of operators, most of them many."""
    kinds, counts = set[str](), list[int]()
    for seed in (*range(20), *range(JOINED, JOINED + 20)):
        model = plugins.importer("net.tflite", "")(drawn(seed), "net", "net")
        replanner = Replanner.of(request("net"), (model,))
        analysis = replanner.analyze(frozenset())
        rows = all_rows(replanner, analysis)
        kinds |= {analysis.models[0].main.operators[ref.operator].kind for ref in rows.jobs}
        counts.append(sum(rows.jobs.values()))
    assert kinds >= {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "AVERAGE_POOL_2D", "MAX_POOL_2D"}
    assert kinds >= {"CONCATENATION", "SPLIT", "STRIDED_SLICE", "TRANSPOSE_CONV"}
    assert kinds >= {"BATCH_MATMUL", "MEAN", "PAD", "RESIZE_NEAREST_NEIGHBOR"}
    assert max(counts) >= 30
