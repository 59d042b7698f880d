"""Which kernels have a backward form, and how it differs from the forward one."""

from dataclasses import replace

import pytest

from tests.support.kernels.cases import CASES
from tests.support.kernels.samples import draw, first_kernel, kernel_of, stateful_kernels
from usmp_build.interfaces.kernels import KernelCall, NoKernel
from usmp_build.ir.schedule import Direction
from usmp_build.kernels.reference import Reference, maker
from usmp_build.passes.axes.table import in_pieces
from usmp_build.passes.select import ask


@pytest.mark.parametrize("kind", sorted(kind for kind in CASES if maker(kind)[1]))
def test_calls_come_in_the_opposite_order_and_differ_in_nothing_but_the_direction(kind: str) -> None:
    for case in draw(kind, 5):
        forward, backward = kernel_of(case), kernel_of(case, Direction.BACKWARD)
        assert not any(call.backward for call in forward.calls)
        assert all(call.backward for call in backward.calls)
        assert list(map(without_direction, forward.calls)) == list(map(without_direction, reversed(backward.calls)))
        assert (backward.constants, backward.scratch) == (forward.constants, forward.scratch)


def without_direction(call: KernelCall) -> KernelCall:
    assert call.parameters is not None
    *fields, direction = call.parameters.fields
    assert direction == ("direction", -1 if call.backward else 1)
    return replace(call, parameters=replace(call.parameters, fields=tuple(fields)), backward=False)


def test_a_state_is_moved_on_in_one_direction() -> None:
    assert {kernel.backward for kernel in stateful_kernels()} == {None}
    assert stateful_kernels()[0].towards(Direction.BACKWARD).calls == stateful_kernels()[0].calls


def test_both_forms_are_of_the_library_that_was_asked() -> None:
    (case,) = draw("RELU", 1)
    kernel = ask({(0, "mine"): Reference()}, (0, "mine"), case.graph.operators[0], case.graph)
    assert not isinstance(kernel, NoKernel)
    assert kernel.towards(Direction.BACKWARD).library == kernel.library == "mine"


def test_a_copy_in_pieces_has_the_last_one_first() -> None:
    kernel = in_pieces(first_kernel(draw("RESHAPE", 1)[0].graph), 3, 8).towards(Direction.BACKWARD)
    assert [(type(call.form).__name__, call.backward) for call in kernel.calls] == [("Pieces", True)]
