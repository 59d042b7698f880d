"""What operators of a plan may stand for: each computes what it writes, all of it, from what it must read."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from checker.main import check
from checker.model import Model, Wrong
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]
CONV = fb.Node("Conv2DOptions", StrideH=1, StrideW=1)


def net(*kinds: str, shape: Sequence[int] = (1, 2, 2, 2), sides: Sequence[int] = (1,)) -> bytes:
    """A chain of operators of one shape; a convolution has filters of `sides` by `sides`, each once."""
    weights = [np.ones((shape[-1], side, side, shape[-1]), np.int8) for side in sides]
    tensors = [fb.tensor(f"t{number}", shape) for number in range(len(kinds) + 1)]
    tensors += [fb.tensor(f"w{i}", each.shape, Buffer=i + 1) for i, each in enumerate(weights)]
    numbers = iter(range(len(kinds) + 1, len(tensors)))
    nodes = [
        fb.operator(
            kind, [at, next(numbers)] if kind == "CONV_2D" else [at], [at + 1], CONV if kind == "CONV_2D" else None
        )
        for at, kind in enumerate(kinds)
    ]
    return fb.write(fb.model(fb.subgraph(tensors, nodes, [0], [len(kinds)]), data=[each.tobytes() for each in weights]))


def test_functions_and_moves_are_fused_and_nothing_else() -> None:
    assert draft.apart(net("CONV_2D", "RELU"), [(0, [0], [2])]) == ""
    two = net("CONV_2D", "CONV_2D", sides=(1, 1))
    assert draft.apart(two, [(0, [0], [1]), (1, [1], [2])]) == ""
    assert draft.apart(two, [(0, [0], [2])]) == "wrong: m: operator 0 would have to compute operator 1, too"
    assert draft.apart(two, [(1, [0], [2])]) == "wrong: m: operator 1 would have to compute operator 0, too"
    assert (
        draft.apart(net("SOFTMAX", "RELU"), [(1, [0], [2])])
        == "wrong: m: operator 1 would have to compute operator 0, too"
    )


def test_an_operator_computes_what_it_writes() -> None:
    three = net("CONV_2D", "TANH", "LOGISTIC")
    assert draft.apart(three, [(0, [0], [1]), (1, [1], [2]), (2, [2], [3])]) == ""
    wrong = draft.apart(three, [(0, [0], [1]), (2, [1], [2]), (1, [2], [3])])
    assert wrong == "wrong: m: operator 2 writes what it does not compute"


def test_functions_that_nothing_computes_are_named() -> None:
    """A table computes both functions; a convolution computes only what comes after it."""
    table, before = net("TANH", "LOGISTIC"), net("TANH", "CONV_2D")
    assert draft.apart(table, [(1, [0], [2])]) == draft.apart(table, [(0, [0], [2])]) == ""
    assert draft.apart(before, [(1, [0], [2])]) == "not checked: m: that operator 0 changes nothing"
    last = net("CONV_2D", "RELU")
    shown = draft.apart(last, [(0, [0], [1]), (2, [1], [2])])
    assert shown == "not checked: m: that operator 1 changes nothing"


def test_what_is_read_has_been_computed() -> None:
    """The second function reads what the first one reads, which is not the same, or shows it."""
    chain = net("TANH", "RESHAPE", "LOGISTIC")
    assert draft.apart(chain, [(0, [0], [1]), (2, [2], [3])], t2={"buffer": "b1"}) == ""
    assert draft.apart(chain, [(0, [0], [1]), (2, [0], [3])]) == (
        "wrong: m: operator 2 needs tensor 1, which the plan does not let it read"
    )
    assert (
        draft.apart(net("TANH", "SOFTMAX"), [(0, [0], [1])]) == "wrong: m: tensor 2, an input or output, has no place"
    )
    twice = net("TANH", "RESHAPE", "RESHAPE", "SOFTMAX")  # a step computes the first
    assert draft.apart(twice, [(0, [0], [1]), (1, [1], [2]), (3, [3], [4])], t3={"buffer": "b2"}) == ""


def test_a_copy_has_the_values_of_what_it_copies() -> None:
    two = net("TANH", "SOFTMAX")
    both = [(0, [0], [1]), (1, [1], [2])]
    assert draft.apart(two, both) == ""
    assert draft.apart(two, [both[0], (2, [1], [2])]) == "wrong: m: no step computes tensor 2"
    assert draft.apart(two, [*both, (2, [1], [2])]) == (
        'wrong: step 3, "m: STEP 2", copies other values than those of tensor 2'
    )
    one = draft.apart(net("TANH", "SOFTMAX", shape=(1,)), [*both, (2, [1], [2])])
    assert one == 'wrong: step 3, "m: STEP 2", copies other values than those of tensor 2'


def test_arrays_of_the_caller_are_inputs_and_outputs() -> None:
    """Or what an output shows, or what shows an input."""
    steps = [(0, [0], [1]), (1, [1], [2])]
    two = net("TANH", "SOFTMAX")
    assert draft.apart(two, steps, t0={"buffer": ""}, t2={"buffer": ""}) == ""
    assert draft.apart(two, steps, t1={"buffer": ""}) == (
        "wrong: m: tensor 1 is in an array of the caller, who has none for it"
    )
    for changes in ({"offset": 1}, {"offset": -1}, {"pitch": 2}):
        assert draft.apart(two, steps, t2={"buffer": ""} | changes) == (
            "wrong: m: tensor 2 has an array of the caller, but not from its beginning"
        )
    view = net("TANH", "RESHAPE")
    shown = [draft.tensor(0, "x"), draft.tensor(1, ""), draft.tensor(2, "")]
    model = draft.model([draft.operator(0, [0], [1])], shown)
    plan = draft.plan(["enter", "TANH 0", "leave"], [model], [draft.buffer("x", 0, 8, (0, 3))])
    assert draft.verdict(plan, view) == ""
    view = net("RESHAPE", "TANH")
    shown = [draft.tensor(0, ""), draft.tensor(1, ""), draft.tensor(2, "y")]
    model = draft.model([draft.operator(1, [1], [2])], shown)
    plan = draft.plan(["enter", "TANH 1", "leave"], [model], [draft.buffer("y", 0, 8, (0, 3))])
    assert draft.verdict(plan, view) == ""


@pytest.mark.parametrize("channels", [[1, 0], [0, 0], [2], [-1]])
def test_channels_are_some_of_those_there_are(channels: list[int]) -> None:
    two = net("TANH", "LOGISTIC")
    steps = [(0, [0], [1]), (1, [1], [2])]
    for left in ([0], [1]):
        believed = f"not checked: m: that all channels of tensor 1 but {left} are constant"
        assert draft.apart(two, steps, t1={"channels": left}) == believed
    assert draft.apart(two, steps, t1={"channels": [0, 1]}) == ""
    assert draft.apart(two, steps, t1={"channels": channels}) == "wrong: m: tensor 1 has no such channels"
    for port in ("t0", "t2"):
        assert "has no such channels" in draft.apart(two, steps, **{port: {"channels": [0]}})


def test_weights_that_are_computed_are_needed_to_the_end() -> None:
    """Two filters for four rows; w, b and the value of a padding are inputs."""
    tensors = [fb.tensor("x", [4, 2]), fb.tensor("w", [2, 2]), fb.tensor("b", [2]), fb.tensor("y", [4, 2])]
    data = fb.write(fb.model(fb.subgraph(tensors, [fb.operator("FULLY_CONNECTED", [0, 1, 2], [3])], [0, 1, 2], [3])))
    places = [draft.tensor(t, name) for t, name in enumerate("xwby")]

    def verdict(reads: list[int], y: int) -> str:
        buffers = [draft.buffer(name, at, size, (0, 3)) for name, at, size in (("x", 8, 8), ("w", 0, 4), ("b", 4, 2))]
        buffers.append(draft.buffer("y", y, 8, (0, 3)))
        model = draft.model([draft.operator(0, reads, [3])], places, inputs=["x", "w", "b"])
        return draft.verdict(draft.plan(["enter", "FULLY_CONNECTED 0", "leave"], [model], buffers), data)

    assert verdict([0, 1, 2], 8) == verdict([0, 1, 2], 16) == ""
    assert verdict([0, 2], 16) == "wrong: m: operator 0 needs tensor 1, which the plan does not let it read"
    assert verdict([0, 1], 16) == "wrong: m: operator 0 needs tensor 2, which the plan does not let it read"
    for y, element, tensor, at in ((0, 0, 1, 0), (3, 3, 1, 3), (5, 1, 2, 5)):
        assert verdict([0, 1, 2], y) == (
            f'wrong: step 1, "m: FULLY_CONNECTED 0", overwrites element {element} of tensor {tensor} at p+{at} '
            "before it has read it for the last time"
        )


def test_constant_parts_are_written_too() -> None:
    """A concatenation of x and a constant, which no step makes."""
    tensors = [fb.tensor("x", [2]), fb.tensor("c", [2], Buffer=1), fb.tensor("j", [4]), fb.tensor("y", [4])]
    nodes = [fb.operator("CONCATENATION", [0, 1], [2], fb.Node("ConcatenationOptions")), fb.operator("TANH", [2], [3])]
    data = fb.write(fb.model(fb.subgraph(tensors, nodes, [0], [3]), data=[bytes(2)]))
    buffers = [draft.buffer("j", 0, 4, (0, 3)), draft.buffer("y", 8, 4, (0, 3))]
    places = [draft.tensor(0, "j"), draft.tensor(2, "j"), draft.tensor(3, "y")]
    model = draft.model([draft.operator(1, [2], [3])], places)
    assert draft.verdict(draft.plan(["enter", "TANH 1", "leave"], [model], buffers), data) == (
        'wrong: step 1, "m: TANH 1", reads constants from where nothing writes them'
    )


ROWS = net("CONV_2D", shape=(1, 3, 1, 2))


def by_rows(steps: Sequence[str], at: Sequence[int] = (8, 12, 10), **more: Any) -> str:
    """Check a layer of three rows that the application takes one by one; rows of its output lie `at` these places."""
    count = len(steps) + 2
    rows = draft.buffer("y", 0, 0, *[(1, count)] * 3, kind="output") | {"offsets": [*at], "row_size": 2}
    model = draft.model(
        [draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "y[0]")], outputs_by_rows=["y"]
    )
    buffers = [draft.buffer("x", 0, 6, (0, count), kind="input"), rows | more]
    return draft.verdict(draft.plan(["enter", *steps, "leave"], [model], buffers), ROWS)


def test_rows_are_handed_out_one_by_one() -> None:
    """They may lie in one place, but none may be missing."""
    steps = [f"CONV_2D 0, row {row}" for row in range(3)]
    assert by_rows(steps) == by_rows(steps, (8, 8, 8)) == ""
    assert by_rows(steps[:2]) == 'wrong: step 1, "m: CONV_2D 0, row 0", is one of 2 rows, and the output has 3'
    whole = "wrong: m: output 1 is to leave row by row, and is not computed so"
    assert by_rows(["CONV_2D 0"]) == by_rows([]) == whole
    for order in ((1, 0, 2), (0, 2, 1), (0, 1, 2, 2)):
        assert by_rows([steps[row] for row in order]) == whole


@pytest.mark.parametrize(
    ("shape", "rows"), [((3, 1, 2), 3), ((1, 2, 1, 2), 2), ((2, 3, 1, 1), 2), ((1, 1, 3, 1), 3), ((3, 2), 3), ((2,), 1)]
)
def test_there_are_as_many_rows_as_the_output_has(shape: Sequence[int], rows: int) -> None:
    tensors = [fb.tensor(name, shape) for name in "xy"]
    file = draft.file(tensors, [fb.operator("TANH", [0], [1])], [0], [1])
    model = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "y")])
    for count in range(1, 5):
        steps = ["enter", *(f"TANH 0, row {row}" for row in range(count)), "leave"]
        buffers = [draft.buffer(name, at, 8, (0, len(steps))) for name, at in (("x", 0), ("y", 8))]
        verdict_text = draft.verdict(draft.plan(steps, [model], buffers), file)
        wrong = f'wrong: step 1, "m: TANH 0, row 0", is one of {count} rows, and the output has {rows}'
        assert verdict_text == ("" if count == rows else wrong)


def test_rows_of_a_product_are_those_of_its_matrix() -> None:
    tensors = [fb.tensor("x", [1, 2, 3]), fb.tensor("w", [4, 3], Buffer=1), fb.tensor("y", [1, 2, 4])]
    weights = np.ones((4, 3), np.int8)
    file = draft.file(tensors, [fb.operator("FULLY_CONNECTED", [0, 1], [2])], [0], [2], weights)
    model = draft.model([draft.operator(0, [0], [2])], [draft.tensor(0, "x"), draft.tensor(2, "y")])
    for count in range(1, 4):
        steps = ["enter", *(f"FULLY_CONNECTED 0, row {row}" for row in range(count)), "leave"]
        buffers = [draft.buffer(name, at, 8, (0, len(steps))) for name, at in (("x", 0), ("y", 8))]
        verdict_text = draft.verdict(draft.plan(steps, [model], buffers), file)
        wrong = f'wrong: step 1, "m: FULLY_CONNECTED 0, row 0", is one of {count} rows, and the output has 2'
        assert verdict_text == ("" if count == 2 else wrong)


def ports(inputs: Document, outputs: Document) -> str:
    """Check a sum of two inputs, of 2 and 8 bytes, that has two outputs, the second of which is the larger one."""
    tensors = [fb.tensor(name, shape) for name, shape in zip("wxyz", ([1, 2], [4, 2], [1, 2], [4, 2]), strict=True)]
    nodes = [fb.operator("TANH", [0], [2]), fb.operator("ADD", [1, 0], [3])]
    record = draft.model(
        [draft.operator(0, [0], [2]), draft.operator(1, [1, 0], [3])],
        [draft.tensor(t, name) for t, name in enumerate("wxyz")],
        **{"inputs": ["w", "x"], "outputs": ["y", "z"]} | inputs | outputs,
    )
    buffers = [draft.buffer(name, 8 * at, 8, (0, 4), kind="input") for at, name in enumerate("wx")]
    buffers += [draft.buffer(name, 8 * at, 8, (0, 4), kind="output") for at, name in enumerate("yz", 2)]
    plan = draft.plan(["enter", "TANH 0", "ADD 1", "leave"], [record], buffers)
    file = Model(draft.file(tensors, nodes, [0, 1], [2, 3]))
    try:
        return "".join(check(plan, [file]))
    except Wrong as wrong:
        return str(wrong)


def test_ports_are_those_of_the_file() -> None:
    assert ports({}, {}) == ""
    for names in (["w"], ["w", "x", "v"], ["w", "w"], []):
        assert ports({"inputs": names}, {}) == f"m: the file has 2 inputs, the plan names {len(names)}"
    assert ports({}, {"outputs": ["y"]}) == "m: the file has 2 outputs, the plan names 1"


def test_only_the_largest_port_is_by_rows() -> None:
    """What is by rows without steps for that never arrives, or never leaves."""
    for names in (["w"], ["x", "w"], ["x", "x"], ["v"]):
        assert ports({"inputs_by_rows": names}, {}) == "m: of the inputs, only the largest may be by rows"
    assert ports({}, {"outputs_by_rows": ["y"]}) == "m: of the outputs, only the largest may be by rows"
    assert ports({}, {"outputs_by_rows": ["z"]}) == "m: output 3 is to leave row by row, and is not computed so"
    assert "needs byte 0 of tensor 1" in ports({"inputs_by_rows": ["x"]}, {})


def test_the_largest_port_has_the_most_bytes() -> None:
    """Four elements of 32 bits are more than eight of 8."""
    tensors = [fb.tensor("x", [8]), fb.tensor("v", [4], "INT32"), fb.tensor("y", [8])]
    data = draft.file(tensors, [fb.operator("TANH", [0], [2])], [0, 1], [2])
    places = [draft.tensor(t, name) for t, name in enumerate("xvy")]
    names = {"inputs": ["x", "v"], "inputs_by_rows": ["x"]}
    model = draft.model([draft.operator(0, [0], [2])], places, **names)
    buffers = [draft.buffer(name, 16 * at, 16, (0, 3), alignment=4) for at, name in enumerate("xvy")]
    verdict_text = draft.verdict(draft.plan(["enter", "TANH 0", "leave"], [model], buffers), data)
    assert verdict_text == "wrong: m: of the inputs, only the largest may be by rows"


def test_a_port_has_a_place() -> None:
    data, tensors = net("TANH"), [draft.tensor(0, "x"), draft.tensor(1, "y")]
    for left, port in ((tensors[:1], 1), (tensors[1:], 0)):
        model = draft.model([draft.operator(0, [0], [1])], left)
        plan = draft.plan(["enter", "leave"], [model], [draft.buffer(name, 0, 8, (0, 2)) for name in "xy"])
        assert draft.verdict(plan, data) == f"wrong: m: tensor {port}, an input or output, has no place"


def test_steps_are_those_of_the_model_that_runs() -> None:
    steps = [f"CONV_2D 0, row {row}" for row in range(3)]
    assert by_rows([*steps, "n: CONV_2D 0, row 1"]) == ('wrong: step 4, "n: CONV_2D 0, row 1", comes before m has left')


def test_rows_of_wide_elements_are_aligned() -> None:
    tensors = [fb.tensor(name, [1, 3, 1, 1], "INT16") for name in "xy"]
    data = fb.write(fb.model(fb.subgraph(tensors, [fb.operator("TANH", [0], [1])], [0], [1])))
    model = draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "y[0]")])

    def verdict(at: int, alignment: int) -> str:
        rows = {"offsets": [8, at, 14], "row_size": 2}
        target = draft.buffer("y", 0, 0, *[(0, 3)] * 3, alignment=alignment) | rows
        given = draft.buffer("x", 0, 6, (0, 3), alignment=2)
        return draft.verdict(draft.plan(["enter", "TANH 0", "leave"], [model], [given, target]), data)

    assert verdict(10, 2) == ""
    for at, alignment in ((11, 1), (10, 1)):
        assert verdict(at, alignment) == "wrong: m: tensor 1 is not aligned to its elements"


def test_pools_have_names_of_their_own() -> None:
    data, tensors = net("TANH"), [draft.tensor(0, "x"), draft.tensor(1, "y")]
    model = draft.model([draft.operator(0, [0], [1])], tensors)
    buffers = [draft.buffer("x", 0, 8, (0, 3)), draft.buffer("y", 8, 8, (0, 3))]
    plan = draft.plan(["enter", "TANH 0", "leave"], [model], buffers, pools=[draft.pool(8), draft.pool(16)])
    assert draft.verdict(plan, data) == "wrong: two pools have one name"


@pytest.mark.parametrize("weights", ["INT8", "INT4", "FLOAT32"])
@pytest.mark.parametrize("kind", ["CONV_2D", "FULLY_CONNECTED"])
def test_floats_that_are_quantized_are_read_at_once(kind: str, weights: str) -> None:
    """An image, or a row of a matrix, before its output is written: so elements may move up within it."""
    image = [2, 2, 2, 2] if kind == "CONV_2D" else [2, 8]
    tensors = [fb.tensor(name, image, "FLOAT32") for name in "xy"]
    tensors.append(fb.tensor("w", [2, 1, 1, 2] if kind == "CONV_2D" else [8, 8], weights, Buffer=1))
    node = fb.operator(kind, [0, 2], [1], CONV if kind == "CONV_2D" else None)
    data = fb.write(fb.model(fb.subgraph(tensors, [node], [0], [1]), data=[bytes(64)]))
    places = [draft.tensor(0, "x"), draft.tensor(1, "y")]

    def verdict(y: int, *scratch: str) -> str:
        given = draft.buffer("x", 64, 64, (0, 3), alignment=4)
        target = draft.buffer("y", 64 + y, 64, (0, 3), alignment=4)
        model = draft.model([draft.operator(0, [0], [1], *scratch)], places)
        buffers = [given, target, draft.buffer("q", 192, 8, (0, 3), kind="scratch")]
        return draft.verdict(draft.plan(["enter", f"{kind} 0", "leave"], [model], buffers), data)

    late = f'wrong: step 1, "m: {kind} 0", overwrites element 8 of tensor 0'
    is_image = weights != "FLOAT32"
    scratch = ["q"] * is_image
    assert [verdict(y, *scratch) == "" for y in (-8, -4, 0)] == [is_image or kind == "CONV_2D"] * 3
    assert verdict(4, *scratch).startswith(late) == is_image
    size = 8 if is_image else "no"
    wrong = verdict(0, *([] if is_image else ["q"]))
    assert wrong.startswith(f'wrong: step 1, "m: {kind} 0", needs scratch of {size} bytes')


@pytest.mark.parametrize(("begin", "size", "block"), [([1, 0], [2, 4], 8), ([0, 1], [3, 2], 2), ([2, 1], [1, 3], 3)])
def test_a_slice_moves_blocks_at_once(begin: list[int], size: list[int], block: int) -> None:
    """One after the other; what lies side by side is one."""
    tensors = [fb.tensor("x", [3, 4]), fb.tensor("begin", [2], "INT32", Buffer=1)]
    tensors += [fb.tensor("size", [2], "INT32", Buffer=2), fb.tensor("y", size)]
    values = np.array(begin, np.int32), np.array(size, np.int32)
    data = draft.file(tensors, [fb.operator("SLICE", [0, 1, 2], [3])], [0], [3], *values)
    places = [draft.tensor(0, "x"), draft.tensor(3, "y")]
    count = size[0] * size[1]
    sources = [20 + (begin[0] + e // size[1]) * 4 + begin[1] + e % size[1] for e in range(count)]
    for y in range(8, 36):
        buffers = [draft.buffer("x", 20, 12, (0, 2)), draft.buffer("y", y, count, (1, 3))]
        model = draft.model([draft.operator(0, [0], [3])], places)
        verdict_text = draft.verdict(draft.plan(["enter", "SLICE 0", "leave"], [model], buffers), data)
        written = {y + e: e // block for e in range(count)}
        is_wrong = any(written.get(at, count) < e // block for e, at in enumerate(sources))
        assert ("overwrites element" in verdict_text) == bool(verdict_text) == is_wrong, y


def test_axes_move_between_products_of_matrices() -> None:
    """What is between them must have all its operands so; ports have the axes that the file says."""
    tensors = [fb.tensor(name, (1, 2, 2, 2)) for name in "xasy"]
    nodes = [
        fb.operator("BATCH_MATMUL", [0, 0], [1]), fb.operator("SOFTMAX", [1], [2]),
        fb.operator("BATCH_MATMUL", [2, 0], [3]),
    ]  # fmt: skip
    two, steps = draft.file(tensors, nodes, [0], [3]), [(0, [0], [1]), (1, [1], [2]), (2, [2, 0], [3])]
    moved = {"axes": [0, 2, 1, 3]}
    assert draft.apart(two, steps, t1=moved, t2=moved) == ""
    for one in ("t1", "t2"):
        assert "does not know of axes in another order" in draft.apart(two, steps, **{one: moved})
    for axes in ([0, 1, 2], [0, 1, 3, 2], [0, 0, 1, 3]):
        assert "wrong: m: tensor 1 has no such axes" in draft.apart(two, steps, t1={"axes": axes}, t2=moved)
    for port in ("t0", "t3"):
        assert "has no such axes" in draft.apart(two, steps, **{port: moved})
