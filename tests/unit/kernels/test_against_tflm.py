"""Every kernel against TensorFlow Lite Micro: integers bit for bit, floats within a tolerance."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.support.flatfile import flatfile
from tests.support.kernels import dynamic, oracle
from tests.support.kernels.cases import CASES, NOT_IN_TFLM
from tests.support.kernels.drawing import Case, Random
from tests.support.kernels.driver import Runner, build
from tests.support.kernels.elements import below_zero, tied_hard_swish
from tests.support.kernels.pictures import PICTURES, by_rows, pictures
from tests.support.kernels.samples import COUNT, draw, kernel_of, other_kernels
from tests.support.kernels.sums import near_ties
from tests.support.tools import few, needs_gcc, needs_oracle
from tests.support.tree import ROOT
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.ir.schedule import Direction
from usmp_build.kernels import sources
from usmp_build.kernels.reference import KERNELS, maker

STATEFUL = {
    "ASSIGN_VARIABLE",
    "READ_VARIABLE",
    "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    *(kind for kind, made_by in KERNELS.items() if made_by.startswith(("circular_buffer:", "signal_state:"))),
}
"""What keeps state is compared over several runs, in tests/end_to_end/test_state.py."""
OURS = {"COPY", "LOOKUP"}
"""No file has these, so TensorFlow Lite Micro has no answer; tests/unit/kernels/test_rewritten_lookups.py has one."""


ONE_WAY = {kind for kind in KERNELS if not maker(kind)[1]}
"""Kinds whose kernels have one direction."""


def test_every_kind_has_cases() -> None:
    without_cases = set(KERNELS) - set(CASES) - STATEFUL - OURS
    assert without_cases == set(), "draw models of them: CASES of a file below tests/support/kernels"
    assert set(CASES) <= set(KERNELS), "kernels/reference.py has no row for these"


def test_what_makes_kernels_is_there_and_listed_once() -> None:
    for kind in KERNELS:
        make, _ = maker(kind)
        assert KERNELS[kind] == f"{make.__module__.rpartition('.')[2]}:{make.__name__}"


@pytest.mark.long
def test_every_call_says_what_it_touches() -> None:
    """Together these kernels call all functions."""
    kernels = [*other_kernels(), *(kernel_of(case) for kind in CASES for case in draw(kind))]
    kernels += [kernel for kind in PICTURES for case in pictures(kind, COUNT) if (kernel := by_rows(case))]
    calls = [call for kernel in kernels for call in kernel.calls]
    assert sources.choose({call.function for call in calls}, "p") == sources.choose(sources.functions(), "p")
    assert all(call_accesses(call) is not None for call in calls)


@needs_gcc
@needs_oracle
@pytest.mark.parametrize("kind", few([kind for kind in CASES if kind not in NOT_IN_TFLM], 40))
def test_outputs_equal_tflm(kind: str, runner: Runner) -> None:
    compare(draw(kind), runner)


@needs_gcc
@pytest.mark.parametrize("kind", sorted(CASES.keys() - ONE_WAY))
def test_backward_makes_the_same_bits(kind: str, runner: Runner) -> None:
    for number, case in enumerate(draw(kind)):
        forward, backward = kernel_of(case), kernel_of(case, Direction.BACKWARD)
        assert [call.parameters for call in forward.calls] != [call.parameters for call in backward.calls]
        both = (runner.run(case.graph, kernel, case.inputs) for kernel in (forward, backward))
        for one, other in zip(*both, strict=True):
            assert one.tobytes() == other.tobytes(), f"case {number}: {case.graph.operators[0]}"


@needs_gcc
@needs_oracle
@pytest.mark.parametrize(
    "near_tie",
    [partial(near_ties, kind="CONV_2D"), partial(near_ties, kind="FULLY_CONNECTED"), tied_hard_swish, below_zero],
)
def test_factors_equal_tflms_to_the_last_bit(near_tie: Callable[[Random], Case], runner: Runner) -> None:
    compare([near_tie(np.random.default_rng(seed)) for seed in range(40)], runner)


def compare(cases: list[Case], runner: Runner) -> None:
    answers = oracle.outputs([(flatfile(case.graph), list(case.inputs)) for case in cases])
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        assert not isinstance(answer, str), f"case {number}: {answer}"
        message = f"case {number}: {case.graph.operators[0]}"
        for output, expected in zip(runner.run(case.graph, kernel_of(case), case.inputs), answer, strict=True):
            if output.dtype.kind == "f":
                np.testing.assert_allclose(output, expected.reshape(output.shape), 1e-5, 1e-6, err_msg=message)
            else:
                np.testing.assert_array_equal(output, expected.reshape(output.shape), message)


@needs_gcc
@pytest.mark.long
def test_sanitizers_find_nothing_and_change_nothing(runner: Runner, tmp_path: Path) -> None:
    cases = [case for kind in CASES for case in draw(kind, min(COUNT, 20))]
    cases += [case for kind in PICTURES for case in pictures(kind, min(COUNT, 10))]
    cases += [case for kind in dynamic.KINDS for case in dynamic.dynamic(kind, min(COUNT, 20))]
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    try:
        path = build(tmp_path, *flags)
    except subprocess.CalledProcessError:
        pytest.skip("gcc has no sanitizers")
    (tmp_path / "cases").write_bytes(pickle.dumps(cases))
    script = ROOT / "tests" / "support" / "kernels" / "sanitized_worker.py"
    preload = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    done = subprocess.run(
        [sys.executable, script, path, tmp_path / "cases", tmp_path / "results"],
        env=os.environ
        | {"LD_PRELOAD": preload.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for case, runs in zip(cases, pickle.loads((tmp_path / "results").read_bytes()), strict=True):
        directions = 1 if case.graph.operators[0].kind in ONE_WAY else 2
        assert len(runs) == directions * (1 if by_rows(case) is None else 2)
        expected = runner.run(case.graph, kernel_of(case), case.inputs)
        for outputs in runs:
            for one, other in zip(outputs, expected, strict=True):
                np.testing.assert_array_equal(one, other)
