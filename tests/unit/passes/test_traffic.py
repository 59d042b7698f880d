"""What operators move: as declared, or all of every operand once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.road import PlanOnly, analyze, model
from tests.support.small_models import KERNEL, VIEWED, WEIGHTS
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, Traffic
from usmp_build.request import InputOutput


def moved(analysis: Analysis) -> dict[str, tuple[int, int]]:
    """Of the first model, by buffer."""
    return {
        analysis.storage.buffers[buffer].name: (both.read, both.written)
        for buffer, both in analysis.moved_by(0).items()
    }


def with_kernel(kernel: Kernel) -> Analysis:
    return analyze(model(WEIGHTS), library=PlanOnly({"TANH": kernel}))


def test_without_a_declaration_inputs_are_read_and_outputs_written_once() -> None:
    assert moved(with_kernel(KERNEL)) == {
        "m.x": (4, 0),
        "m.w": (8, 0),
        "m.y.table": (12, 0),
        "m.y.sums": (KERNEL.scratch[0].size, KERNEL.scratch[0].size),
        "m.y": (0, 4),
    }


def test_what_is_declared_counts() -> None:
    traffic = (Traffic(36), Traffic(72), Traffic(5), Traffic(6, 7), Traffic(8, 9))
    analysis = with_kernel(replace(KERNEL, calls=(replace(KERNEL.calls[0], traffic=traffic),)))
    assert list(moved(analysis).values()) == [(36, 0), (72, 0), (5, 0), (6, 7), (8, 9)]


def test_a_declaration_names_every_operand() -> None:
    with pytest.raises(ValueError, match="zip"):
        with_kernel(replace(KERNEL, calls=(replace(KERNEL.calls[0], traffic=(Traffic(1),)),)))


def test_every_operator_of_a_run_counts_and_views_do_not() -> None:
    assert moved(analyze(model(VIEWED))) == {"m.x": (16, 0), "m.a": (16, 16), "m.y": (0, 16)}


def test_arrays_of_the_application_are_not_in_a_pool() -> None:
    assert moved(analyze(model(VIEWED), io=InputOutput.APPLICATION)) == {"m.a": (16, 16)}
