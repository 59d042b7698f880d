"""Calls of CMSIS-NN compute what the reference kernels do, with as much scratch as CMSIS-NN needs in each variant."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.support.cmsis_nn import IS_THERE, real, stand_in
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.driver import HEADERS, PREFIX, Runner
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import few, needs_gcc
from usmp_build.errors import ManifestError
from usmp_build.interfaces.kernels import Kernel
from usmp_build.kernels.cmsis_nn import CmsisNN
from usmp_build.kernels.cmsis_nn.calls import TRANSLATIONS
from usmp_build.request import Isa

KINDS = (
    *("ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "MUL", "SOFTMAX"),
    "SUB",
)
COUNT = 150
"""Cases of each kind: some are of types that CMSIS-NN lacks."""
FUNCTIONS = (
    *("add_s16", "add_s8", "average_pool_2d_s16", "average_pool_2d_s8", "conv_2d_s8", "depthwise_conv_2d_s8"),
    *("fully_connected_s8", "max_pool_2d_s16", "max_pool_2d_s8", "mul_s16", "mul_s8"),
    *("softmax_s16", "softmax_s8", "softmax_s8_s16"),
)


class Variant(NamedTuple):
    """CMSIS-NN, or what stands in for it, and the library that calls it."""

    library: CmsisNN
    runner: Runner


@pytest.fixture(scope="module", params=[*(f"stand-in {isa.value}" for isa in Isa), *(["CMSIS-NN"] if IS_THERE else [])])
def variant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Variant:
    folder = tmp_path_factory.mktemp("cmsis_nn")
    isa = Isa(request.param.split()[-1]) if request.param.startswith("stand-in") else Isa.PORTABLE
    flags, files = stand_in(folder, isa) if request.param.startswith("stand-in") else real()
    return Variant(CmsisNN(isa), Runner(compiled(folder, isa, flags, files)))


def compiled(folder: Path, isa: Isa, flags: Sequence[str], files: Sequence[Path]) -> Path:
    calls = [call for kind in KINDS for case in draw(kind, COUNT) for call in ours(CmsisNN(isa), case)]
    c = CmsisNN(isa).sources(calls, PREFIX)
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text(f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n', encoding="utf-8")
    strict = ["-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wcast-qual", "-Wshadow", "-pedantic"]
    command = ["gcc", "-std=c99", "-O1", "-g", "-fPIC", f"-I{HEADERS}", *flags]
    subprocess.run([*command, *strict, "-c", str(source), "-o", str(folder / "ours.o")], check=True)
    subprocess.run(
        [*command, "-shared", str(folder / "ours.o"), *map(str, files), "-o", str(target), "-lm"], check=True
    )
    return target


def ours(library: CmsisNN, case: Case) -> tuple[object, ...]:
    """The calls of a case's kernel, if they are those of CMSIS-NN."""
    kernel = library.kernel(case.graph.operators[0], case.graph)
    assert isinstance(kernel, Kernel)
    return () if kernel.library else kernel.calls


@needs_gcc
@pytest.mark.parametrize("kind", few(KINDS, 2))
@pytest.mark.long
def test_it_computes_what_the_reference_kernels_do(kind: str, variant: Variant, runner: Runner) -> None:
    compared = 0
    for number, case in enumerate(draw(kind, COUNT)):
        kernel = variant.library.kernel(case.graph.operators[0], case.graph)
        assert isinstance(kernel, Kernel)
        if kernel.library:
            assert kernel.library == "reference"
            assert kernel == replace(kernel_of(case), library="reference", declined=kernel.declined)
            continue
        compared += 1
        expected = runner.run(case.graph, kernel_of(case), case.inputs)
        for output, wanted in zip(variant.runner.run(case.graph, kernel, case.inputs), expected, strict=True):
            np.testing.assert_array_equal(output, wanted, f"case {number}: {case.graph.operators[0]}")
    assert compared > 10 or kind == "SUB"


def test_every_function_is_called() -> None:
    calls = [call for kind in KINDS for case in draw(kind, COUNT) for call in ours(CmsisNN(), case)]
    assert {call.function for call in calls} == {f"cmsis_nn_{name}_portable" for name in FUNCTIONS}
    assert {name.removesuffix("_row") for name in TRANSLATIONS} == set(FUNCTIONS)


def test_what_it_lacks_has_a_reason() -> None:
    reasons = set()
    for kind in CASES:
        for case in draw(kind, 40):
            kernel = CmsisNN().kernel(case.graph.operators[0], case.graph)
            if isinstance(kernel, Kernel) and kernel.library:
                assert len(kernel.declined) == 1
                reasons.update(kernel.declined)
    assert reasons == {
        f"cmsis-nn: {reason}"
        for reason in (
            "it has no function for it",
            "it has several images, or counts padding",
            "it subtracts",
            "its tensors of int16 have zero points",
            "its weights have a zero point",
        )
    }


def test_targets_with_different_instructions_are_refused() -> None:
    case = next(case for case in draw("CONV_2D") if ours(CmsisNN(), case))
    calls = [call for isa in (Isa.DSP, Isa.MVE) for call in ours(CmsisNN(isa), case)]
    with pytest.raises(ManifestError) as caught:
        CmsisNN().sources(calls, "p")
    assert caught.value.diagnostics[0].code == "P308"


@needs_gcc
@pytest.mark.parametrize("isa", list(Isa))
@pytest.mark.parametrize("compiler", list(Isa))
def test_code_for_more_scratch_than_planned_does_not_compile(isa: Isa, compiler: Isa, tmp_path: Path) -> None:
    flags, _ = stand_in(tmp_path, compiler)
    case = next(case for case in draw("CONV_2D") if ours(CmsisNN(isa), case))
    c = CmsisNN(isa).sources(ours(CmsisNN(isa), case), PREFIX)
    (tmp_path / "kernels.c").write_text(f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n', encoding="utf-8")
    command = ["gcc", "-std=c99", "-fsyntax-only", f"-I{HEADERS}", *flags, str(tmp_path / "kernels.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    of_plan, of_compiler = (Isa.PORTABLE if each is Isa.SCALAR else each for each in (isa, compiler))
    fits = of_compiler is of_plan or (of_plan, of_compiler) == (Isa.DSP, Isa.PORTABLE)
    assert (done.returncode == 0) is fits, done.stderr
    assert fits or f"isa of the target is {of_plan.value}" in done.stderr
