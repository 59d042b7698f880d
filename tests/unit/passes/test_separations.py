"""How close two buffers of one operator may come, and which may not."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.road import model, request
from tests.support.small_models import IF, WHILE
from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Rows, Scratch, Whole
from usmp_build.ir.graph import Model
from usmp_build.ir.schedule import Direction, steps
from usmp_build.kernels.reference import library
from usmp_build.passes.separations import separations_at
from usmp_build.passes.separations.distances import Distance, Stretch, call_distances, distances, distances_of
from usmp_build.passes.separations.turns import NOWHERE, turns
from usmp_build.request import Inputs, Outputs, Request
from usmp_build.search.analyze import redirect
from usmp_build.search.replanner import Replanner

CHAIN = """
    %0 "x" float32[1,10]
    %1 "a" float32[1,10]
    %2 "y" float32[1,10]
    inputs %0
    outputs %2
    %1 = TANH(%0) @0
    %2 = TANH(%1) @1
"""
IN_PLACE = {("m.a", "m.x"): 0, ("m.y", "m.a"): 0}
DEPTHWISE = """
    %0 "x" int8[1,25,5,64] scale=0.5 zero=0
    %1 "weights" int8[1,3,3,64] scale=0.5 zero=0 = zeros
    %2 "y" int8[1,25,5,64] scale=8.0 zero=0
    inputs %0
    outputs %2
    %2 = DEPTHWISE_CONV_2D(%0, %1, _) depth_multiplier=1 @0
"""


def analyzed(asked: Request, *models: Model) -> Analysis:
    return Replanner.of(asked, models).analyze()


def pairs(analysis: Analysis) -> dict[tuple[str, str], int]:
    """(below, above) → bytes."""
    names = [buffer.name for buffer in analysis.storage.buffers]
    return {(names[a], names[b]): bytes_ for (a, b), bytes_ in analysis.problem.separations.items()}


def towards(analysis: Analysis, direction: Direction) -> Analysis:
    return redirect(request("m"), analysis, analysis.choices.towards(analysis.kernels, direction))


def test_an_elementwise_operator_may_work_in_place() -> None:
    assert pairs(analyzed(request("m"), model(CHAIN))) == IN_PLACE


def test_backward_the_input_is_the_lower_one() -> None:
    turned = towards(analyzed(request("m"), model(CHAIN)), Direction.BACKWARD)
    assert pairs(turned) == {("m.x", "m.a"): 0, ("m.a", "m.y"): 0}


def test_a_depthwise_layer_is_a_row_and_a_pixel_ahead() -> None:
    forward = analyzed(request("m"), model(DEPTHWISE))
    assert pairs(forward)["m.y", "m.x"] == (5 + 1) * 64
    assert pairs(towards(forward, Direction.BACKWARD)) == {("m.x", "m.y"): (5 + 1) * 64}


def test_either_direction_allows_what_one_of_them_allows() -> None:
    either = pairs(towards(analyzed(request("m"), model(DEPTHWISE)), Direction.EITHER))
    assert either == {("m.y", "m.x"): 384, ("m.x", "m.y"): 384}


def test_what_is_read_again_keeps_its_size() -> None:
    again = """
        %0 "x" float32[1,10]
        %1 "a" float32[1,10]
        %2 "y" float32[1,10]
        inputs %0
        outputs %2
        %1 = TANH(%0) @0
        %2 = ADD(%0, %1) @1
    """
    assert pairs(analyzed(request("m"), model(again))) == {("m.y", "m.x"): 0, ("m.y", "m.a"): 0}


@pytest.mark.parametrize("inputs", [Inputs.PRESERVED, Inputs.RESERVED])
def test_inputs_that_are_kept_keep_their_size(inputs: Inputs) -> None:
    asked = request("m")
    kept = replace(asked, models=(replace(asked.models[0], inputs=inputs),))
    assert pairs(analyzed(kept, model(CHAIN))) == {("m.y", "m.a"): 0}


def test_outputs_that_others_look_at_lie_over_what_only_their_operator_reads() -> None:
    asked = request("m", "n")
    kept = replace(asked, models=(replace(asked.models[0], outputs=Outputs.RESERVED), asked.models[1]))
    separations = pairs(analyzed(kept, model(CHAIN, "m"), model(CHAIN, "n")))
    assert separations == {**IN_PLACE, ("n.a", "n.x"): 0, ("n.y", "n.a"): 0}


def test_cache_lines_are_never_shared() -> None:
    asked = request("m")
    pools = (replace(asked.pools[0], cache_line=32), *asked.pools[1:])
    assert not pairs(analyzed(replace(asked, pools=pools), model(CHAIN)))  # inputs and outputs have lines


def test_overlap_false_keeps_all_apart() -> None:
    assert not pairs(analyzed(replace(request("m"), overlap=False), model(CHAIN)))


def test_what_one_step_allows_if_its_buffers_meet_nowhere_else() -> None:
    """Of buffers of 40 bytes, what is written may begin where what is read does, but not above it."""
    analysis = analyzed(request("m"), model(CHAIN))
    names = [buffer.name for buffer in analysis.storage.buffers]
    pairs = [
        ((names[written], names[read]), distances)
        for step in steps(analysis.schedule.root)
        for (written, read), distances in separations_at(analysis.allowed, step)
    ]
    assert pairs == [(("m.a", "m.x"), (0, 40)), (("m.y", "m.a"), (0, 40))]


def test_nothing_is_known_in_branches_only_behind_them() -> None:
    separations = pairs(analyzed(request("m"), model(IF.replace("int8", "float32"))))
    assert separations == {("m.z", "m.kept"): 0, ("m.z", "m.y"): 0}


def test_nothing_is_known_in_loops_only_behind_them() -> None:
    assert pairs(analyzed(request("m"), model(WHILE.replace("int8", "float32")))) == {("m.z", "m.y"): 0}


def kernel(accesses: Accesses | None, form: Rows | Whole | None = None) -> Kernel:
    return Kernel((KernelCall("f", form or Whole(), (Input(0), Output(0)), accesses=accesses),))


def elements(count: int) -> Accesses:
    return Accesses((Part((count,), (Touch(0, 1, (1,)), Touch(1, 1, (1,), writes=True))),), (1, 1))


def test_without_a_declaration_nothing_is_known() -> None:
    assert distances(kernel(None)) is None


def test_one_call_without_a_declaration_is_enough_to_know_nothing() -> None:
    known, unknown = kernel(elements(4)).calls[0], kernel(None).calls[0]
    for calls in ((), (known, unknown), (unknown, known)):
        assert distances(Kernel(calls)) is None


def test_which_operands_may_share_bytes() -> None:
    """Results with what is read and with scratch, scratch with what is read; not what is touched otherwise or never."""
    operands = (Input(0), Output(0), Output(1), Scratch(0), Input(1), Input(2))
    touches = [Touch(0, 1), Touch(3, 1), Touch(4, 1, writes=True)]
    touches += [Touch(operand, 1, writes=True) for operand in (1, 2, 3)]
    accesses = Accesses((Part((), tuple(touches)),), (1,) * 6)
    by_pair = distances(Kernel((KernelCall("f", Whole(), operands, accesses=accesses),)))
    assert by_pair is not None
    results = [(output, read) for output in (Output(0), Output(1)) for read in (Input(0), Scratch(0))]
    assert by_pair.keys() == {*results, (Scratch(0), Input(0))}


@pytest.mark.parametrize(("most", "block"), [(12, 0), (11, 20)])
def test_calls_share_the_turns_that_are_expanded(most: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last three of a hundred turns decide; with less than six, a turn is a block of twenty."""
    monkeypatch.setattr(import_module("usmp_build.passes.separations.distances"), "MOST_TURNS", most)
    call_distances.cache_clear()
    calls = [KernelCall("f", Whole(), (Input(n), Output(n)), accesses=elements(100)) for n in (0, 1)]
    shared = distances(Kernel(tuple(calls))) or {}
    call_distances.cache_clear()
    assert shared[Output(0), Input(0)] == Distance(block, 100)


def test_types_of_unequal_widths() -> None:
    wider = replace(elements(10), widths=(1, 4))
    assert distances(kernel(wider)) == {(Output(0), Input(0)): Distance(36 - 9, 9 + 1)}


def test_what_is_read_at_once_may_lie_anywhere() -> None:
    once = Accesses((Part((), (Touch(0, 8), Touch(1, 8, writes=True))),), (1, 1))
    assert distances(kernel(once)) == {(Output(0), Input(0)): Distance(None, None)}


def test_rows_are_around_what_a_row_touches() -> None:
    row = Accesses((Part((), (Touch(0, 4), Touch(1, 4, writes=True))),), (1, 1))
    form = Rows(images=1, rows=8, input_rows=8, input_row_elements=4, output_row_elements=4, window=3, before=1)
    assert distances(kernel(row, form)) == {(Output(0), Input(0)): Distance(4, 32 - 0)}


def test_a_window_whose_taps_are_all_outside_reads_nothing() -> None:
    window = Window(loop=0, pitch=1, size=2, taps=2, dilation=6, before=3)
    expanded = turns(Accesses((Part((2,), (Touch(0, 1, windows=(window,)),)),), (1,)))
    assert (expanded.extent(0, False).low > 1 << 40).all()


def test_hostile_nests_become_few_turns_and_nothing_is_allowed_that_is_not_known() -> None:
    window = Window(loop=0, pitch=1, size=1 << 30, taps=256, dilation=1 << 22)
    read, written = Touch(0, 1, (0, 1), windows=(window,)), Touch(1, 1, (1 << 20, 1), writes=True)
    expanded = turns(Accesses((Part((1 << 20, 1 << 20), (read, written)),), (1, 1)))
    assert expanded.count <= 1 << 18
    assert not expanded.in_order
    for most in (1, 5, 9, 40):
        few = turns(Accesses((Part((9, 9), (Touch(0, 2, (18, 2)), Touch(1, 2, (18, 2), writes=True))),), (1, 1)), most)
        assert few.count <= most
        assert few.extent(0, False).low.min() == 0
        assert few.extent(1, True).end.max() == 162


@pytest.mark.parametrize("seed", range(60))
def test_the_rounds_of_loops_that_count_say_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    way = kernel(drawn(np.random.default_rng(seed)))
    call_distances.cache_clear()
    some = distances(way)
    monkeypatch.setattr(import_module("usmp_build.passes.separations.turns"), "corners", every_round)
    call_distances.cache_clear()
    assert distances(way) == some
    call_distances.cache_clear()


def every_round(size: int, windows: object, most: int) -> NDArray[np.int64]:
    return np.arange(size)


def drawn(r: np.random.Generator) -> Accesses:
    """A layer over an image of up to 60 rows and columns, with channels in two parts."""
    height, width, channels, outputs = (int(n) for n in r.integers((1, 1, 1, 8), (60, 60, 6, 40)))
    windows = [
        Window(
            loop,
            pitch,
            size,
            taps=int(r.integers(1, 6)),
            step=int(r.integers(1, 4)),
            dilation=int(r.integers(1, 5)),
            before=int(r.integers(0, 9)),
            repeat=(repeat := int(r.choice([1, 1, 2, 3, 7]))),
            phase=int(r.integers(0, repeat)),
        )
        for loop, pitch, size in ((0, width * channels, height), (1, channels, width))
    ]
    rows, columns = (int(n) for n in r.integers(1, 60, 2))
    read = Touch(0, channels, windows=tuple(windows))
    parts = tuple(
        Part((count,), (read, Touch(1, lanes, (columns * outputs, outputs, lanes), start, writes=True)))
        for count, lanes, start in ((outputs // 4, 4, 0), (outputs % 4, 1, outputs // 4 * 4))
        if count
    )
    widths = (int(r.choice([1, 4])), int(r.choice([1, 4])))
    return Accesses(parts, widths, (rows, columns), backward=bool(r.integers(2)))


def test_mean_adds_up_in_one_order_and_writes_in_either() -> None:
    """Two images of three pixels with two channels: backward the second image is first."""
    images = model("""
        %0 "x" float32[2,3,1,2]
        %1 "axes" int32[2] = [1,2]
        %2 "y" float32[2,2]
        inputs %0
        outputs %2
        %2 = MEAN(%0, %1) @0
    """).main
    declared = library.kernel(images.operators[0], images)
    assert isinstance(declared, Kernel)
    orders = []
    for way in (Direction.FORWARD, Direction.BACKWARD):
        (call,) = declared.towards(way).calls
        accesses = call_accesses(call)
        assert accesses is not None
        expanded = turns(accesses)
        orders.append(
            [[at // 4 for at in expanded.extent(*key).low if at < NOWHERE] for key in ((0, False), (2, True))]
        )
    assert orders == [[[*range(12)], [0, 1, 2, 3]], [[*range(6, 12), *range(6)], [3, 2, 1, 0]]]


def test_calls_of_several_kernels_count_as_one() -> None:
    """Two rows of "a" become two of "b", and each of these half a row of "c": layer by layer, then in turn."""

    def row(number: int, names: str, width: int) -> Stretch:
        touches = Touch(0, 4, start=4 * number), Touch(1, width, start=width * number, writes=True)
        return Stretch(tuple(names), turns(Accesses((Part((), touches),), (1, 1))))

    upper = [row(number, "ab", 4) for number in (0, 1)]
    lower = [row(number, "bc", 2) for number in (0, 1)]
    pairs = [("b", "a"), ("c", "b"), ("c", "a")]
    own = {("b", "a"): Distance(4 - 4, 8 - 0), ("c", "b"): Distance(2 - 4, 8 - 0)}
    layers = dict(distances_of([*upper, *lower], pairs, set()))
    assert layers == {**own, ("c", "a"): Distance(None, None)}
    in_turn = dict(distances_of([upper[0], lower[0], upper[1], lower[1]], pairs, set()))
    assert in_turn == {**own, ("c", "a"): Distance(2 - 4, 8 - 0)}


def test_a_million_elements_may_be_worked_on_in_place() -> None:
    assert distances(kernel(elements(1 << 20))) == {(Output(0), Input(0)): Distance(0, 1 << 20)}
