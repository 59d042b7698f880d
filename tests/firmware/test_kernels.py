"""Every C function of the kernel library on every board: models of one operator, compared and counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.firmware.accesses import count, problems
from tests.support import image
from tests.support.firmware import Board
from tests.support.image import Image
from tests.support.planned import Shared
from tests.unit.kernels import oracle
from tests.unit.kernels.cases import CASES
from tests.unit.kernels.drawing import Case
from tests.unit.kernels.flatfile import flatfile
from tests.unit.kernels.test_against_tflm import draw, kernel_of
from usmp_build.cli.selftest.compare import compare
from usmp_build.cli.selftest.oracle import Answer
from usmp_build.interfaces.kernels import Kernel, Reduce
from usmp_build.kernels.reference.sources import functions

STATEFUL = {"svdf_f32", "svdf_s8_s16", "svdf_s8_s8"}
"""They run in models that remember, in test_every_tensor.py and test_accesses.py."""
DRAWN = 60
"""Cases of each kind of operator to choose from."""

pytestmark = pytest.mark.usefixtures("needs_oracle")


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    """The smallest and the largest for each function, and whichever of its scalars are 0; in the order of a plan."""
    alike: dict[Hashable, list[tuple[int, str, Case]]] = defaultdict(list)
    for kind in CASES:
        for number, case in enumerate(draw(kind, DRAWN)):
            size = sum(tensor.size for tensor in case.graph.tensors)
            alike[kind, _way(case)].append((size, f"{kind.lower()}_{number:02}", case))
    chosen = {name: case for found in alike.values() for _, name, case in (min(found), max(found))}
    return dict(sorted(chosen.items()))


def _way(case: Case) -> Hashable:
    call = kernel_of(case).calls[0]
    scalars = call.parameters.fields if call.parameters else ()
    return call.function, frozenset(name for name, value in scalars if value == 0)


@pytest.fixture(scope="session")
def models(cases: dict[str, Case], shared: Shared) -> dict[str, Path]:
    """Their files."""
    return manifests.written("kernels", {name: flatfile(case.graph) for name, case in cases.items()}, shared)


@pytest.fixture(scope="session")
def references(
    cases: dict[str, Case], models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> list[list[Answer]]:
    """What TensorFlow Lite Micro makes of them."""
    asked = [(models[name].read_bytes(), list(case.inputs)) for name, case in cases.items()]
    answers = oracle.outputs(asked, tmp_path_factory.mktemp("answers"))
    assert [answer for answer in answers if isinstance(answer, str)] == []
    return [[dict(zip(c.graph.outputs, a, strict=True))] for c, a in zip(cases.values(), answers, strict=True)]


def test_every_function(
    board: Board,
    plugin: Path,
    cases: dict[str, Case],
    models: dict[str, Path],
    references: list[list[Answer]],
    tmp_path: Path,
    shared: Shared,
) -> None:
    made = image.make(board, tmp_path, manifests.of(models, manifests.THREE), 1, shared)
    assert called(made) | STATEFUL == set(functions())
    results, runs = count(made, [[case.inputs] for case in cases.values()], plugin)
    for index, reference in enumerate(references):
        compare(made.planned, index, results[index], reference)
    assert problems(runs) == []


def called(made: Image) -> set[str]:
    """The C functions that run in an image."""
    found = set()
    for kernel in made.planned.analysis.kernels.values():
        assert isinstance(kernel, Kernel)
        for call in kernel.calls:
            parts = ("_begin", "_row", "_finish") if isinstance(call.form, Reduce) else ("",)
            found |= {call.function + part for part in parts}
    return found
