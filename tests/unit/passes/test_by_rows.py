"""Who runs row by row, and which tensors have rows; and who does not."""

from dataclasses import replace

import pytest

from tests.support.road import analyze_as, model, request
from usmp_build import passes
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.by_rows import ByRows
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.ir.schedule import Direction, RowRef, ScratchRef, Step, steps
from usmp_build.kernels.reference import library
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.request import Goal, Request
from usmp_build.search.replanner import Replanner

SHAPE = "float32[1,4,3,2]"
CHAIN = f"""
    %0 "x" {SHAPE}
    %1 "a" {SHAPE}
    %2 "b" {SHAPE}
    %3 "y" {SHAPE}
    inputs %0
    outputs %3
    %1 = TANH(%0) @0
    %2 = MAX_POOL_2D(%1) padding=SAME filter_h=3 filter_w=3 @1
    %3 = TANH(%2) @2
"""


def rows_of(text: str, asked: Request | None = None) -> tuple[set[int], set[int]]:
    """Return the operators that run row by row, and the tensors that have rows."""
    asked = asked or request("m")
    rows = passes.by_rows(asked, analyze_as(asked, model(text), library=library), 0)
    return {ref.operator for ref in rows.jobs}, {ref.tensor for ref in rows.tables}


def test_layers_between_input_and_output() -> None:
    assert rows_of(CHAIN) == ({0, 1, 2}, {1, 2})


def test_the_pixels_of_a_single_row() -> None:
    assert rows_of(CHAIN.replace("float32[1,4,3,2]", "float32[1,1,3,2]")) == ({0, 1, 2}, {1, 2})


def test_samples_of_a_long_signal_are_told_apart_four_by_four() -> None:
    asked, text = request("m"), CHAIN.replace("float32[1,4,3,2]", "float32[1,1,4000,2]")
    rows = passes.by_rows(asked, analyze_as(asked, model(text), library=library), 0)
    assert {ref.tensor: (table.rows, table.elements) for ref, table in rows.edges.items()} == {
        0: (1000, 8),
        3: (1000, 8),
    }
    assert {ref.tensor: (table.rows, table.elements) for ref, table in rows.tables.items()} == {
        1: (4000, 2),
        2: (4000, 2),
    }


def test_a_long_signal_whose_samples_cannot_be_shared_out_is_in_one_piece() -> None:
    """Its length is a prime number, and far too large to try all others."""
    asked, text = request("m"), CHAIN.replace("float32[1,4,3,2]", "float32[1,1,100000007,2]")
    rows = passes.by_rows(asked, analyze_as(asked, model(text), library=library), 0)
    assert not rows.edges


@pytest.mark.parametrize(
    ("shape", "stride", "rows"),
    [
        ("1,1,4000,2", 1, (500, 16)),  # eight samples each, as 4,000 are many
        ("1,1,40,2", 1, (40, 2)),
        ("1,1,40,2", 4, (10, 8)),
        ("1,1,40,2", 3, (10, 8)),  # three do not divide it
        ("1,1,7,2", 4, (7, 2)),
        ("1,4000,3,2", 1, (4000, 6)),
    ],
)
def test_a_row_that_arrives_is_several_samples(shape: str, stride: int, rows: tuple[int, int]) -> None:
    plain = request("m")
    asked = replace(plain, models=(replace(plain.models[0], inputs_by_rows="usmp.toml:1"),))
    images, height, width, channels = map(int, shape.split(","))
    after = f"{images},{height},{-(-width // stride)},{channels}"
    text = f"""
        %0 "x" float32[{shape}]
        %1 "y" float32[{after}]
        inputs %0
        outputs %1
        %1 = MAX_POOL_2D(%0) padding=SAME stride_w={stride} filter_h=1 filter_w=3 @0
    """
    tables = passes.by_rows(asked, analyze_as(asked, model(text), library=library), 0).tables
    assert {ref.tensor: (table.rows, table.elements) for ref, table in tables.items()} == {0: rows}


def test_a_row_that_leaves_is_one_sample() -> None:
    """Even if an operator moves on by four of them."""
    plain = request("m")
    asked = replace(plain, models=(replace(plain.models[0], outputs_by_rows="usmp.toml:1"),))
    text = """
        %0 "x" float32[1,1,40,2]
        %1 "y" float32[1,1,40,2]
        %2 "z" float32[1,1,10,2]
        inputs %0
        outputs %1, %2
        %1 = TANH(%0) @0
        %2 = MAX_POOL_2D(%1) padding=SAME stride_w=4 filter_h=1 filter_w=3 @1
    """
    tables = passes.by_rows(asked, analyze_as(asked, model(text), library=library), 0).tables
    assert {ref.tensor: (table.rows, table.elements) for ref, table in tables.items()} == {1: (40, 2)}


VIEWED = f"""
    %0 "x" {SHAPE}
    %1 "a" {SHAPE}
    %2 "v" float32[1,4,6]
    %3 "y" float32[1,4,6]
    inputs %0
    outputs %3
    %1 = TANH(%0) @0
    %2 = RESHAPE(%1) @1
    %3 = TANH(%2) @2
"""


def test_a_view_has_the_rows_of_its_source() -> None:
    assert rows_of(VIEWED) == ({0, 2}, {1})


def test_a_view_with_other_rows_keeps_its_source_in_one_piece() -> None:
    assert rows_of(VIEWED.replace("float32[1,4,6]", "float32[1,24]")) == (set(), set())


def test_a_balanced_model_runs_nothing_slower() -> None:
    line = CHAIN.replace("float32[1,4,3,2]", "float32[1,1,3,2]")
    asked = request("m")
    balanced = replace(asked, models=(replace(asked.models[0], goal=Goal.BALANCED),))
    assert rows_of(line, balanced) == (set(), set())


@pytest.mark.parametrize(
    ("text", "operators", "tensors"),
    [
        (CHAIN.replace("outputs %3", "outputs %3, %1"), {1, 2}, {2}),
        (CHAIN.replace("%2 = MAX_POOL_2D(%1) padding=SAME filter_h=3 filter_w=3", "%2 = ZEROS_LIKE(%1)"), set(), set()),
        (CHAIN.replace("float32[1,4,3,2]", "float32[2,4,3,2]"), set(), set()),
        (
            CHAIN.replace('"b" float32[1,4,3,2]', '"b" float32[1,24]').replace(
                "MAX_POOL_2D(%1) padding=SAME filter_h=3 filter_w=3", "RESHAPE(%1)"
            ),
            set(),
            set(),
        ),
        (CHAIN.replace("TANH(%0) @0", "BUCKETIZE(%0) @0"), {1, 2}, {2}),
    ],
    ids=["an output", "a whole kernel", "two images", "a view", "no kernel"],
)
def test_others_stay_in_one_piece(text: str, operators: set[int], tensors: set[int]) -> None:
    assert rows_of(text) == (operators, tensors)


def test_rows_may_be_in_any_of_several_pools() -> None:
    assert rows_of(CHAIN, request("m", limits=(None, None))) == rows_of(CHAIN)


def test_none_has_rows_where_nothing_overlaps() -> None:
    assert rows_of(CHAIN, replace(request("m"), overlap=False)) == (set(), set())


def test_none_has_rows_that_is_part_of_another() -> None:
    joined = """
    %0 "x" float32[1,4,3,2]
    %1 "a" float32[1,4,3,2]
    %2 "b" float32[1,4,3,2]
    %3 "j" float32[1,8,3,2]
    %4 "y" float32[1,8,3,2]
    inputs %0
    outputs %4
    %1 = TANH(%0) @0
    %2 = RELU(%0) @1
    %3 = CONCATENATION(%1, %2) axis=1 @2
    %4 = TANH(%3) @3
    """
    assert rows_of(joined) == (set(), set())


def retimed(text: str, direction: Direction = Direction.FORWARD) -> Analysis:
    """Analyze with everything in rows, in the order of the file."""
    replanner = Replanner.of(request("m"), (model(text),))
    whole = replanner.analyze()
    rows = passes.by_rows(replanner.request, whole, 0)
    return replanner.retime(whole, Choices({}, dict.fromkeys(rows.jobs, direction), rows))


def jobs(analysis: Analysis, operator: int) -> list[Step]:
    ref = OperatorRef(0, 0, operator)
    return [step for step in steps(analysis.schedule.root) if step.operator == ref]


def row(tensor: int, *numbers: int) -> tuple[RowRef, ...]:
    return tuple(RowRef(TensorRef(0, 0, tensor), number) for number in numbers)


@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])
def test_a_step_for_each_row(direction: Direction) -> None:
    analysis = retimed(CHAIN, direction)
    numbers = [0, 1, 2, 3] if direction is Direction.FORWARD else [3, 2, 1, 0]
    pooling = jobs(analysis, 1)
    assert [step.job for step in pooling] == [0, 1, 2, 3]
    assert [step.writes for step in pooling] == [row(2, number) for number in numbers]
    windows = {0: row(1, 0, 1), 1: row(1, 0, 1, 2), 2: row(1, 1, 2, 3), 3: row(1, 2, 3)}
    assert [step.reads for step in pooling] == [windows[number] for number in numbers]
    assert pooling[0].name == f"m: MAX_POOL_2D 1, row {numbers[0]}"


def test_sums_live_from_the_first_row_to_the_last() -> None:
    mean = CHAIN.replace('"y" float32[1,4,3,2]', '"y" float32[1,1,1,2]')
    mean = mean.replace(
        "TANH(%2) @2", "AVERAGE_POOL_2D(%2) padding=VALID filter_h=4 filter_w=3 stride_h=4 stride_w=3 @2"
    )
    adding = jobs(retimed(mean), 2)
    sums = (ScratchRef(OperatorRef(0, 0, 2), 0),)
    output = (TensorRef(0, 0, 3),)
    assert [step.reads for step in adding] == [row(2, 0), *((*row(2, number), *sums) for number in (1, 2, 3))]
    assert [step.writes for step in adding] == [sums, (), (), output]
    assert [step.updates for step in adding] == [(), sums, sums, sums]


PLANES = """
    %0 "x" float32[1,2,4,3]
    %1 "a" float32[1,4,3,2]
    %2 "y" float32[1,4,3,2]
    %3 "axes" int32[4] = [0, 2, 3, 1]
    inputs %0
    outputs %2
    %1 = TRANSPOSE(%0, %3) @0
    %2 = TANH(%1) @1
"""


@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])
def test_rows_of_one_plane_stay_as_long_as_there_are_rows_of_another(direction: Direction) -> None:
    """Nothing fits between the planes of an input: all from the first row that is still read to the last counts."""
    analysis = retimed(PLANES, direction)
    assert row(0, 1, 5) in [step.reads[:2] for step in jobs(analysis, 0)]
    every, operators = jobs_of(analysis, 0)
    first = len(analysis.storage.buffers)
    needed = [each.needs >> first for each, operator in zip(every.jobs, operators, strict=True) if operator == 0]
    rows = [range(5), range(1, 6), range(2, 7), range(3, 8)]
    in_turn = rows if direction is Direction.FORWARD else rows[::-1]
    assert [{number for number in range(8) if each >> number & 1} for each in needed] == [{*each} for each in in_turn]


def test_layer_by_layer_nothing_changes() -> None:
    replanner = Replanner.of(request("m"), (model(CHAIN),))
    analysis = replanner.analyze()
    assert replanner.retime(analysis, Choices({}, {}, ByRows())).problem == analysis.problem


def is_corrupted(below: int) -> bool:
    """Pool a row of three pixels of 8 bytes, `below` bytes before the start of the row that it reads."""
    for pixel in range(3):
        written = range(8 * pixel - below, 8 * pixel + 8 - below)
        later = range(8 * pixel, 24) if pixel < 2 else range(0)  # the next windows begin with this pixel
        if set(written) & set(later):
            return True
    return False


def test_a_row_may_be_written_over_the_one_that_dies() -> None:
    """A row of the pooling lies a pixel below the row that its window reads for the last time; a byte less is wrong."""
    in_file_order = retimed(CHAIN)
    replanner = Replanner.of(request("m"), (model(CHAIN),))
    order = (0, 0, 1, 0, 1, 0, 1, 1, 2, 2, 2, 2)
    analysis = replanner.retime(in_file_order, Choices({0: order}, {}, in_file_order.choices.by_rows))
    buffers = {row: analysis.storage.buffers_of(row).start for row in (*row(1, 0, 1), *row(2, 0, 1))}
    (first, second), (pooled, other) = ([buffers[each] for each in row(tensor, 0, 1)] for tensor in (1, 2))
    separations = analysis.problem.separations
    assert separations[other, first] == 8  # it dies when the second row is pooled
    assert not is_corrupted(8)
    assert is_corrupted(7)
    assert {(pooled, first), (first, pooled), (other, second), (second, other)}.isdisjoint(separations)
