"""Kernels for the instructions of a board, run on it: every tensor, and each access."""

from collections import defaultdict
from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.board_kernels import answers_to, check, compare_all
from tests.support.firmware import Board, on
from tests.support.flatfile import flatfile
from tests.support.image import all_equal
from tests.support.kernels.drawing import Case
from tests.support.kernels.faster import ISAS, faster, is_steep
from tests.support.planned import Shared
from usmp_build.interfaces.kernels import Parameters
from usmp_build.kernels.sources import functions
from usmp_build.manifest.instructions import isa_of
from usmp_build.request import Isa

NONE = Parameters("", ())
COUNT = 60
"""Cases of each kind of operator to choose from."""

pytestmark = pytest.mark.usefixtures("needs_oracle")


def isa_of_board(board: Board) -> Isa:
    """Return the instructions that a board has."""
    (processor,) = (flag for flag in board.flags if flag.startswith(("-mcpu=", "-march=")))
    isa = isa_of(processor)
    assert isa in ISAS
    return isa


def manifest(models: dict[str, Path], pools: str, isa: Isa) -> str:
    """Return the manifest of models for the instructions of a target."""
    return f'{board_manifests.of(models, pools)}\n[targets.cpu]\nisa = "{isa.value}"\n'


def cases_of(isa: Isa) -> dict[str, Case]:
    """Return the smallest and the largest case of each function, and of each of its modes."""
    alike: dict[tuple[object, ...], list[tuple[int, str, Case]]] = defaultdict(list)
    for kind in ISAS[isa]:
        for number, (case, kernel) in enumerate(faster(isa, kind, COUNT)):
            size, call = sum(tensor.size for tensor in case.graph.tensors), kernel.calls[0]
            modes = (value for name, value in (call.parameters or NONE).fields if name.startswith("is_"))
            alike[(call.function, is_steep(case), *modes)].append(
                (size, f"{isa.value}_{kind.lower()}_{number:02}", case)
            )
    assert {function for function, *_ in alike} == {name for name in functions() if f"_{isa.value}" in name}
    return dict(sorted((name, case) for same in alike.values() for _, name, case in (min(same), max(same))))


@on("m3", "m4", "m7", "m33", "m55", "riscv")
def test_every_function(board: Board, plugin: Path, tmp_path: Path, shared: Shared) -> None:
    """At -O2."""
    isa = isa_of_board(board)
    cases = cases_of(isa)
    models = board_manifests.written("faster", {name: flatfile(case.graph) for name, case in cases.items()}, shared)
    firmware = image.make(board, tmp_path, manifest(models, board_manifests.THREE, isa), 1, shared)
    check(firmware, plugin, cases, answers_to(cases, models))


@pytest.mark.parametrize("build_type", ["Debug", "MinSizeRel", "Release"])
@on("m3", "m4", "m55", "riscv")
def test_every_function_is_optimized(board: Board, tmp_path: Path, shared: Shared, build_type: str) -> None:
    """At -O0, -Os and -O3."""
    isa = isa_of_board(board)
    cases = cases_of(isa)
    models = board_manifests.written("faster", {name: flatfile(case.graph) for name, case in cases.items()}, shared)
    pools = manifest(models, board_manifests.THREE, isa)
    firmware = image.make(board, tmp_path, pools, 1, shared, build_type=build_type)
    results = image.run(firmware, [[case.inputs] for case in cases.values()])
    compare_all(firmware, results, answers_to(cases, models))


@on("m3")
def test_every_function_for_a_cortex_m0(board: Board, tmp_path: Path, shared: Shared) -> None:
    """Of which there is no board, but each Cortex-M runs its code."""
    cases = cases_of(Isa.SCALAR)
    models = board_manifests.written("faster", {name: flatfile(case.graph) for name, case in cases.items()}, shared)
    flags = tmp_path / "m0.cmake"
    flags.write_text("add_compile_options(-mcpu=cortex-m0)\n", encoding="utf-8")
    firmware = image.make(
        board, tmp_path, manifest(models, board_manifests.THREE, Isa.SCALAR), 1, shared, include=flags
    )
    results = image.run(firmware, [[case.inputs] for case in cases.values()])
    compare_all(firmware, results, answers_to(cases, models))


@on("m3", "m4", "m7", "m33", "m55", "riscv")
def test_real_models(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    """In the bytes that portable kernels take."""
    models = board_manifests.real(real_models, ("ic", "kws", "vww"))
    firmware = all_equal(board, tmp_path, models, manifest(models, board_manifests.ONE, isa_of_board(board)), shared)
    assert firmware.layout.summary.workspace.achieved == 27_746
    kernels = firmware.planned.analysis.kernels.values()
    assert any(f"_{isa_of_board(board).value}" in call.function for kernel in kernels for call in kernel.calls)
