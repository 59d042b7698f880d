"""What a kernel library declares is checked, and what it leaves out is never taken for "not touched"."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.road import every, model, request
from usmp_build.errors import KernelError
from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import (
    Constant,
    Input,
    Kernel,
    KernelCall,
    KernelSources,
    NoKernel,
    Operand,
    Output,
    Pieces,
    Rows,
    Scratch,
    ScratchRequest,
    Strike,
    Traffic,
    Whole,
)
from usmp_build.ir.graph import DType, Operator, Subgraph
from usmp_build.kernels.reference import Reference
from usmp_build.passes.separations.distances import distances
from usmp_build.search.analyze import analyze

ADDITION = """
    %0 "x" float32[1,10]
    %1 "a" float32[1,10]
    %2 "y" float32[1,10]
    inputs %0, %1
    outputs %2
    %2 = ADD(%0, %1) @0
"""


class Changed:
    """The reference library, with another word for what its kernels do."""

    def __init__(self, change: Callable[[Kernel], Kernel]) -> None:
        self._change = change

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        declared = Reference().kernel(operator, graph)
        return self._change(declared) if isinstance(declared, Kernel) else declared

    def sources(self, functions: object, prefix: str, /) -> KernelSources:
        return KernelSources("", "")


def analyzed(change: Callable[[Kernel], Kernel], text: str = ADDITION) -> Analysis:
    asked = request("m")
    return analyze(asked, (model(text),), every(asked, Changed(change)))


def near(analysis: Analysis) -> set[tuple[str, str]]:
    names = [buffer.name for buffer in analysis.storage.buffers]
    return {(names[below], names[above]) for below, above in analysis.separations.pairs}


def accesses_of(kernel: Kernel, change: Callable[[Accesses], Accesses]) -> Kernel:
    (call,) = kernel.calls
    assert call.accesses is not None
    return replace(kernel, calls=(replace(call, accesses=change(call.accesses)),))


def without(operand: int) -> Callable[[Accesses], Accesses]:
    """Leave out all declared accesses of an operand."""

    def change(accesses: Accesses) -> Accesses:
        (part,) = accesses.parts
        left = tuple(touch for touch in part.touches if touch.operand != operand)
        return replace(accesses, parts=(replace(part, touches=left),))

    return change


def widthless(accesses: Accesses) -> Accesses:
    return replace(accesses, widths=(accesses.widths[0], 0, *accesses.widths[2:]))


def test_all_of_it_is_declared() -> None:
    assert near(analyzed(lambda kernel: kernel)) == {("m.y", "m.x"), ("m.y", "m.a")}


@pytest.mark.parametrize(
    ("change", "left"),
    [(without(1), {("m.y", "m.x")}), (widthless, {("m.y", "m.x")}), (without(2), set())],
)
def test_an_operand_without_declared_accesses_keeps_its_size(
    change: Callable[[Accesses], Accesses], left: set[tuple[str, str]]
) -> None:
    assert near(analyzed(lambda kernel: accesses_of(kernel, change))) == left


def test_a_buffer_undeclared_as_one_of_two_operands_keeps_its_size() -> None:
    twice = ADDITION.replace("ADD(%0, %1)", "ADD(%0, %0)")
    assert near(analyzed(lambda kernel: kernel, twice)) == {("m.y", "m.x")}
    assert near(analyzed(lambda kernel: accesses_of(kernel, without(1)), twice)) == set()


def test_an_output_that_is_only_read_is_not_known() -> None:
    reads = Accesses((Part((4,), (Touch(0, 1, (1,)), Touch(1, 1, (1,)))),), (1, 1))
    assert distances(Kernel((KernelCall("f", Pieces(1, (4, 4)), (Input(0), Output(0)), accesses=reads),))) == {}


def touching(touch: Touch, loops: tuple[int, ...] = (10,)) -> Callable[[Accesses], Accesses]:
    def change(accesses: Accesses) -> Accesses:
        return replace(accesses, parts=(Part(loops, (*accesses.parts[0].touches, touch)),))

    return change


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (lambda a: replace(a, widths=a.widths[1:]), "it has 2 widths, and the call has 3 operands"),
        (lambda a: replace(a, widths=(4, 4, -4)), "a width or the length of a loop is negative"),
        (lambda a: replace(a, loops=(-1,)), "a width or the length of a loop is negative"),
        (touching(Touch(0, 1), (-2,)), "the length of a loop is negative"),
        (touching(Touch(3, 1)), "it touches operand 3, and has 3"),
        (touching(Touch(-1, 1)), "it touches operand -1, and has 3"),
        (touching(Touch(1, -5)), "it touches -5 elements of operand 1"),
        (touching(Touch(1, 1, (1, 1))), "it has 2 strides of operand 1, and 1 loops"),
        (touching(Touch(1, 1, rows=(1, 1))), "it has 2 strides of operand 1, and 1 loops"),
        (touching(Touch(1, 1, windows=(Window(1, 1, 3),))), "a window of operand 1 is moved by loop 1"),
        (touching(Touch(1, 1, windows=(Window(0, 1, 3, dilation=0),))), "a window of operand 1 has taps"),
        (touching(Touch(1, 1, windows=(Window(0, 1, 3, repeat=2, phase=2),))), "a window of operand 1 has taps"),
        (touching(Touch(1, 1 << 41)), "a number of operand 1 is beyond"),
        (touching(Touch(1, 1), (1 << 80,)), "the length of a loop is not between 0 and 1,099,511,627,776"),
        (touching(Touch(1, 1, (1 << 39,)), (1 << 39,)), "it goes through more than 1,125,899,906,842,624 bytes"),
        (touching(Touch(1, 1, (1 << 32, -(1 << 32)), 1), (1 << 32, 1 << 32)), "it goes through more than"),
        (touching(Touch(1, 1, windows=(Window(0, 1 << 30, 1, step=1 << 30),))), "it goes through more than"),
        (touching(Touch(1, 1, windows=(Window(0, 0, 1, 1 << 39, dilation=1 << 39),))), "it goes through more than"),
        (touching(Touch(1, 1, (1,), 1)), r"it touches bytes \[0, 44\) of operand 1, which has 40"),
        (touching(Touch(1, 1, (-1,), 8)), r"it touches bytes \[-4, 40\) of operand 1, which has 40"),
        (touching(Touch(2, 1, (2,), writes=True)), r"it touches bytes \[0, 76\) of operand 2, which has 40"),
    ],
)
def test_what_cannot_be_is_refused(change: Callable[[Accesses], Accesses], clause: str) -> None:
    with pytest.raises(KernelError, match=clause) as caught:
        analyzed(lambda kernel: accesses_of(kernel, change))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "K410"
    assert diagnostic.message.startswith('the kernel library "reference" declares impossible accesses of ')
    assert diagnostic.place == "m.tflite"


def test_a_form_that_reaches_beyond_an_operand_is_refused() -> None:
    """Accesses are those of one row; the call says how many there are."""

    def change(kernel: Kernel) -> Kernel:
        form = Rows(images=1, rows=2, input_rows=2, input_row_elements=10, output_row_elements=10)
        return replace(kernel, calls=(replace(kernel.calls[0], form=form),))

    with pytest.raises(KernelError, match=r"touches bytes \[0, 80\) of operand 0, which has 40"):
        analyzed(change)


@pytest.mark.parametrize(
    ("words", "clause"),
    [
        ({"rows": 1 << 62}, "the length of a loop is not between"),
        ({"images": -1}, "the length of a loop is not between"),
        ({"rows": 1 << 35, "output_row_elements": 1 << 35}, "it goes through more than"),
        ({"stride": 0}, "a window of operand 0 has taps, a step or a dilation below 1"),
    ],
)
def test_the_loops_of_a_form_are_checked_too(words: dict[str, int], clause: str) -> None:
    form = replace(Rows(images=1, rows=1, input_rows=1, input_row_elements=10, output_row_elements=10), **words)
    with pytest.raises(KernelError, match=clause):
        analyzed(lambda kernel: replace(kernel, calls=(replace(kernel.calls[0], form=form),)))


def test_pieces_have_a_pitch_for_each_operand() -> None:
    def change(kernel: Kernel) -> Kernel:
        return replace(kernel, calls=(replace(kernel.calls[0], form=Pieces(2, (5, 5)), accesses=None),))

    with pytest.raises(KernelError, match="its pieces have 2 pitches, and the call has 3 operands"):
        analyzed(change)


def test_a_backward_kernel_is_checked_too() -> None:
    def change(kernel: Kernel) -> Kernel:
        assert kernel.backward is not None
        return replace(kernel, backward=accesses_of(kernel.backward, touching(Touch(0, 99))))

    with pytest.raises(KernelError, match="K410"):
        analyzed(change)


def more_scratch(kernel: Kernel) -> Kernel:
    return replace(kernel, scratch=(ScratchRequest("more", 4, DType.INT32),))


def more_traffic(kernel: Kernel) -> Kernel:
    (call,) = kernel.calls
    return replace(kernel, calls=(replace(call, traffic={0: Traffic(99, 0)}),))


def another_operand(kernel: Kernel) -> Kernel:
    (call,) = kernel.calls
    operands: tuple[Operand, ...] = (Input(0), Input(0), Output(0))
    return replace(kernel, calls=(replace(call, operands=operands),))


@pytest.mark.parametrize(
    ("change", "unequal"),
    [
        (more_scratch, "scratch"),
        (lambda k: replace(k, constants=(Constant("c", DType.INT8, b"1"),)), "constants"),
        (lambda k: replace(k, alignment=64), "alignment"),
        (lambda k: replace(k, updates=frozenset({0})), "updates"),
        (lambda k: replace(k, strikes=(Strike(Input(0), frozenset({"pool0"})),)), "strikes"),
        (lambda k: replace(k, pitched=frozenset({Scratch(0)})), "pitched"),
        (more_traffic, "traffic"),
        (another_operand, "traffic"),
        (lambda k: replace(k, backward=k), "directions"),
    ],
)
def test_backward_a_kernel_needs_what_it_needs_forward(change: Callable[[Kernel], Kernel], unequal: str) -> None:
    def changed(kernel: Kernel) -> Kernel:
        assert kernel.backward is not None
        return replace(kernel, backward=change(kernel.backward))

    with pytest.raises(KernelError, match=f"with other {unequal} than the forward one") as caught:
        analyzed(changed)
    assert caught.value.diagnostics[0].code == "K411"


@pytest.mark.parametrize(
    "change",
    [
        lambda kernel: replace(kernel, calls=(*kernel.calls, replace(kernel.calls[0], form=Whole()))),
        lambda kernel: replace(kernel, calls=(replace(kernel.calls[0], accesses=None),)),
        lambda kernel: replace(kernel, calls=(replace(kernel.calls[0], form=Whole()),)),
        lambda kernel: replace(kernel, updates=frozenset({0})),
        lambda kernel: replace(kernel, by_rows=kernel),
    ],
    ids=["a call at once", "no accesses", "whole", "updates", "twice"],
)
def test_a_kernel_by_rows_goes_by_rows(change: Callable[[Kernel], Kernel]) -> None:
    picture = ADDITION.replace("[1,10]", "[1,4,2,3]")

    def changed(kernel: Kernel) -> Kernel:
        assert kernel.by_rows is not None
        return replace(kernel, by_rows=change(kernel.by_rows))

    analyzed(lambda kernel: kernel, picture)
    with pytest.raises(KernelError, match="has a kernel by rows for ADD that has no rows") as caught:
        analyzed(changed, picture)
    assert caught.value.diagnostics[0].code == "K412"
