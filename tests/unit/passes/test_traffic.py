"""What operators move: as declared, or all of every operand once."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.access_traces import trace
from tests.support.kernels.samples import draw, kernel_of
from tests.support.road import PlanOnly, analyze, model
from tests.support.small_models import KERNEL, VIEWED, WEIGHTS
from usmp_build.errors import KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.call_traffic import call_traffic
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
    traffic = dict(enumerate((Traffic(36), Traffic(72), Traffic(5), Traffic(6, 7), Traffic(8, 9))))
    analysis = with_kernel(replace(KERNEL, calls=(replace(KERNEL.calls[0], traffic=traffic),)))
    assert list(moved(analysis).values()) == [(36, 0), (72, 0), (5, 0), (6, 7), (8, 9)]


def test_what_is_not_declared_counts_once() -> None:
    analysis = with_kernel(replace(KERNEL, calls=(replace(KERNEL.calls[0], traffic={1: Traffic(72)}),)))
    assert list(moved(analysis).values())[:3] == [(4, 0), (72, 0), (12, 0)]


def test_traffic_of_an_operand_that_is_not_there_is_refused() -> None:
    with pytest.raises(KernelError, match="states the traffic of operand 7, and has 5"):
        with_kernel(replace(KERNEL, calls=(replace(KERNEL.calls[0], traffic={7: Traffic(1)}),)))


@pytest.mark.parametrize("kind", ["AVERAGE_POOL_2D", "CONV_2D", "RESIZE_NEAREST_NEIGHBOR", "TRANSPOSE_CONV", "SUM"])
def test_traffic_that_follows_from_accesses_is_what_their_turns_touch(kind: str) -> None:
    for case in draw(kind, 8):
        for call in kernel_of(case).calls:
            accesses = call_accesses(call)
            assert accesses is not None
            touched = Counter[tuple[int, bool]]()
            for turn in trace(accesses):
                touched.update({operand: len(elements) for operand, elements in turn.items()})
            for position, traffic in enumerate(call_traffic(replace(call, traffic={}))):
                expected = Traffic(touched[position, False], touched[position, True])
                assert traffic == (expected if accesses.widths[position] else None)


def test_every_operator_of_a_run_counts_and_views_do_not() -> None:
    assert moved(analyze(model(VIEWED))) == {"m.x": (16, 0), "m.a": (16, 16), "m.y": (0, 16)}


def test_arrays_of_the_application_are_not_in_a_pool() -> None:
    assert moved(analyze(model(VIEWED), io=InputOutput.APPLICATION)) == {"m.a": (16, 16)}
