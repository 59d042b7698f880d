"""Every C function of the kernel library on every board: models of one operator, compared and counted."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.support import board_manifests, image
from tests.support.board_accesses import BY_ROWS, DYNAMIC, STATEFUL, called, functions_of
from tests.support.board_kernels import answers_to, check
from tests.support.firmware import Board
from tests.support.flatfile import flatfile
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.dynamic import KINDS, dynamic, expected
from tests.support.kernels.elements import casts_of_uint8
from tests.support.kernels.faster import ISAS
from tests.support.kernels.pictures import PICTURES, WINDOWS, by_rows, by_rows_only, column, pictures
from tests.support.kernels.samples import draw, kernel_of
from tests.support.planned import Shared
from usmp_build.interfaces.kernels import KernelCall
from usmp_build.kernels.reference import Reference
from usmp_build.kernels.sources import functions
from usmp_build.selftest.oracle import Answer

DRAWN = defaultdict(lambda: 60, CAST=240)
"""Cases of each kind of operator to choose from: CAST has a function for each pair of types."""
PARTS = 2
"""A plan takes 256 models."""

BY_FOURS = {"depthwise_conv_2d_s16_row": "input_channels", "mean_s16": "channels", "mean_s8": "channels"}
"""C functions with another loop for images of at least four channels, and the parameter that has their number."""
BY_PAIRS = {"mean_s16", "mean_s8"}
"""Those with another loop for a single pixel, pairs of them, and more than sums of 16 bits hold: their `width`."""

IDENTITIES = {"cast_s16_s16", "cast_s32_s32", "cast_s8_s8"}
"""C functions that run only where rewrites are switched off."""

ON_HOST = {
    "floor_div_s32",
    "floor_mod_s32",
    "lookup_s16",
    "lstm_dynamic",
    "reduce_max_rows_s16_begin",
    "reduce_max_rows_s16_finish",
    "reduce_max_rows_s16_row",
    "reduce_max_s16",
    "resize_bilinear_s16",
    "resize_bilinear_s16_row",
    "sqrt_s16",
    "transpose_conv_dynamic",
}
"""C functions that are compared on the host, with NumPy or LiteRT: TensorFlow Lite Micro has no such kernels.

CASTs from and to uint8 are, too.
"""

pytestmark = pytest.mark.usefixtures("needs_oracle")


@pytest.fixture(scope="session", params=range(PARTS))
def cases(request: pytest.FixtureRequest) -> dict[str, Case]:
    """The smallest and the largest for each function and loop of a part, in the order of a plan."""
    alike: dict[tuple[str, tuple[bool, ...]], list[tuple[int, str, Case]]] = defaultdict(list)
    for kind in CASES:
        for number, case in enumerate(draw(kind, DRAWN[kind])):
            size = sum(tensor.size for tensor in case.graph.tensors)
            call = kernel_of(case).calls[0]
            alike[call.function, _loop(call)].append((size, f"{_name(kind)}_{number:02}", case))
    part = [alike[function] for function in sorted(alike)][request.param :: PARTS]
    chosen = {name: case for same in part for _, name, case in (min(same), max(same))}
    return dict(sorted(chosen.items()))


def _loop(call: KernelCall) -> tuple[bool, ...]:
    """Tell the loops of a C function apart."""
    fields = dict(call.parameters.fields) if call.parameters else {}
    width = fields["width"] if call.function in BY_PAIRS else 0
    return fields.get(BY_FOURS.get(call.function, ""), 0) >= 4, width == 1, width % 2 == 1, width > 256


def _name(kind: str) -> str:
    return kind.lower().replace(":", "_")


@pytest.fixture(scope="session")
def models(cases: dict[str, Case], shared: Shared) -> dict[str, Path]:
    """Their files."""
    return board_manifests.written("kernels", {name: flatfile(case.graph) for name, case in cases.items()}, shared)


@pytest.fixture(scope="session")
def references(cases: dict[str, Case], models: dict[str, Path]) -> list[list[Answer]]:
    """What TensorFlow Lite Micro makes of them."""
    return answers_to(cases, models)


def manifest(models: dict[str, Path]) -> str:
    return board_manifests.of(models, board_manifests.THREE) + board_manifests.QUICKLY


def test_every_function(
    board: Board,
    plugin: Path,
    cases: dict[str, Case],
    models: dict[str, Path],
    references: list[list[Answer]],
    tmp_path: Path,
    shared: Shared,
) -> None:
    firmware = image.make(board, tmp_path, manifest(models), 1, shared)
    assert called(firmware) >= functions_of(map(kernel_of, cases.values())) - IDENTITIES
    check(firmware, plugin, cases, references)


def test_no_function_is_left_out() -> None:
    drawn = functions_of(kernel_of(case) for kind in CASES for case in draw(kind, DRAWN[kind]))
    uint8 = functions_of(map(kernel_of, casts_of_uint8(np.random.default_rng(1))))
    faster = {name for name in functions() for isa in ISAS if f"_{isa.value}" in name}
    assert drawn | uint8 | STATEFUL | BY_ROWS | DYNAMIC | ON_HOST | faster == set(functions())


def test_kernels_by_rows(
    board: Board, plugin: Path, tmp_path: Path, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run in place of the others."""
    monkeypatch.setattr(Reference, "kernel", by_rows_only)
    drawn = {kind: pictures(kind, 18 if kind in WINDOWS else 3) for kind in PICTURES}
    drawn["DEPTHWISE_CONV_2D"] = [*drawn["DEPTHWISE_CONV_2D"], column()]
    drawn |= {kind: _alone(kind)[:3] for kind in ("DEPTH_TO_SPACE", "PAD")}
    cases = {f"{_name(kind)}_{number}": case for kind in drawn for number, case in enumerate(drawn[kind])}
    cases = dict(sorted(cases.items()))
    models = board_manifests.written("rows", {name: flatfile(case.graph) for name, case in cases.items()}, shared)
    firmware = image.make(board, tmp_path, manifest(models), 1, shared)
    assert called(firmware) >= BY_ROWS
    check(firmware, plugin, cases, answers_to(cases, models))


def _alone(kind: str) -> list[Case]:
    """Draw cases whose kernels by rows call a function that no others do."""
    return [drawn for drawn in draw(kind, DRAWN[kind]) if functions_of([by_rows(drawn)]) & BY_ROWS]


def test_inputs_that_are_quantized(board: Board, plugin: Path, tmp_path: Path, shared: Shared) -> None:
    """TensorFlow Lite Micro does not have them."""
    cases = {f"{kind.lower()}_{number}": case for kind in KINDS for number, case in enumerate(dynamic(kind, 6))}
    models = board_manifests.written("dynamic", {name: flatfile(case.graph) for name, case in cases.items()}, shared)
    firmware = image.make(board, tmp_path, manifest(models), 1, shared)
    assert called(firmware) >= DYNAMIC
    check(firmware, plugin, cases, [[{case.graph.outputs[0]: expected(case)}] for case in cases.values()])
