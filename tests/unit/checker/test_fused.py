"""What one operator of a plan may do for several of the file: moves, functions, and elements shown by other tensors."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

CONV = fb.Node("Conv2DOptions", StrideH=1, StrideW=1)
SHAPE = (1, 2, 2, 2)


def after_conv(kind: str, *operands: str) -> bytes:
    """Return a file: a convolution of x, with weights w and biases b, and a function of its result, "a"."""
    names = ["x", "w", "a", "y", "c", "z"]
    tensors = [fb.tensor(name, SHAPE, Buffer=int(name == "c") * 2) for name in names]
    tensors[1] = fb.tensor("w", (2, 1, 1, 2), Buffer=1)
    inputs = [names.index(name) if name != "-" else -1 for name in operands]
    nodes = [fb.operator("CONV_2D", [0, 1], [2], CONV), fb.operator(kind, inputs, [3])]
    return draft.file(tensors, nodes, [0, 5], [3], np.ones(4, np.int8), np.ones(8, np.int8))


def test_functions_of_one_computed_operand_are_fused_with_what_computes_it() -> None:
    """And of two into functions only."""
    fused = [(0, [0], [3])]
    for operands in ("a", "ac", "ca", "a-", "aa"):
        assert draft.apart(after_conv("ADD", *operands), fused) == "", operands
    two = draft.apart(after_conv("ADD", "a", "x"), fused)
    assert two == "wrong: m: operator 0 would have to compute operator 1, too"
    assert draft.apart(after_conv("SOFTMAX", "a"), fused) == two


def test_what_nothing_computes_is_needed_by_nobody() -> None:
    verdict_text = draft.apart(after_conv("ADD", "a", "z"), [(0, [0], [2]), (1, [2], [3])])
    assert verdict_text == "wrong: m: operator 1 needs tensor 5, which the plan does not let it read"
    file = draft.file([fb.tensor(name) for name in "xyu"], [fb.operator("ADD", [0, 2], [1])], [0], [1])
    assert draft.apart(file, [(0, [0], [1])]) == "wrong: m: operator 0 needs what nothing computes"


def pool(height: int, width: int) -> fb.Node:
    return fb.Node("Pool2DOptions", FilterHeight=height, FilterWidth=width, StrideH=1, StrideW=1)


@pytest.mark.parametrize(
    ("kind", "options", "out", "is_move"),
    [
        ("MAX_POOL_2D", pool(1, 1), (1, 2, 1, 2), True),
        ("MAX_POOL_2D", pool(2, 1), (1, 2, 1, 2), False),
        ("MAX_POOL_2D", pool(1, 2), (1, 2, 1, 2), False),
        ("L2_POOL_2D", pool(1, 1), (1, 2, 1, 2), False),
        ("SUM", None, (1, 2, 2), True),
        ("SUM", None, (1, 1, 2), False),
        ("ARG_MAX", None, (1, 2, 2), False),
        ("ARG_MIN", None, (1, 2, 2), False),
    ],
)
def test_what_takes_one_element_as_it_is_is_a_move(
    kind: str, options: fb.Node | None, out: Sequence[int], is_move: bool
) -> None:
    """Between an operator and a view of what it wrote; if it is none, a step must compute it."""
    axis = np.array([2 if out == (1, 2, 2) else 1], np.int32)
    tensors = [fb.tensor("x", (1, 2, 1, 2)), fb.tensor("a", (1, 2, 1, 2)), fb.tensor("v", out), fb.tensor("y", out)]
    tensors.append(fb.tensor("axis", (1,), "INT32", Buffer=1))
    middle = fb.operator(kind, [1] if options else [1, 4], [2], options)
    nodes = [fb.operator("TANH", [0], [1]), middle, fb.operator("SOFTMAX", [2], [3])]
    file = draft.file(tensors, nodes, [0], [3], axis)
    verdict_text = draft.apart(file, [(0, [0], [1]), (2, [2], [3])], t2={"buffer": "b1"})
    assert verdict_text == ("" if is_move else "wrong: m: no step computes tensor 2")


@pytest.mark.parametrize(("operand", "verdict_text"), [
    (4, "not checked: m: that operator 1 changes nothing"), (0, "wrong: m: no step computes tensor 2"),
])  # fmt: skip
def test_functions_that_no_step_computes_have_one_computed_operand(operand: int, verdict_text: str) -> None:
    tensors = [fb.tensor(name, Buffer=int(name == "c")) for name in "xavyc"]
    middle = fb.operator("MUL", [1, operand], [2])
    nodes = [fb.operator("TANH", [0], [1]), middle, fb.operator("SOFTMAX", [2], [3])]
    file = draft.file(tensors, nodes, [0], [3], np.ones(4, np.int8))
    assert draft.apart(file, [(0, [0], [1]), (2, [2], [3])], t2={"buffer": "b1"}) == verdict_text


def test_what_shows_elements_has_elements_as_wide() -> None:
    tensors = [fb.tensor("x"), fb.tensor("a"), fb.tensor("v", dtype="INT16"), fb.tensor("y", dtype="INT16")]
    nodes = [fb.operator("TANH", [0], [1]), fb.operator("CAST", [1], [2]), fb.operator("SOFTMAX", [2], [3])]
    verdict_text = draft.apart(
        draft.file(tensors, nodes, [0], [3]), [(0, [0], [1]), (2, [2], [3])], t2={"buffer": "b1"}
    )
    assert verdict_text == "wrong: m: tensor 2 cannot show bytes of tensor 1"


def test_a_table_of_two_inputs_computes_no_function_before() -> None:
    tensors = [fb.tensor(name) for name in "xbay"]
    for kind, operands in (("ADD", [2, 1]), ("ADD", [1, 2])):
        nodes = [fb.operator("TANH", [0], [2]), fb.operator(kind, operands, [3])]
        file = draft.file(tensors, nodes, [0, 1], [3])
        assert draft.apart(file, [(1, [0, 1], [3])]) == "not checked: m: that operator 0 changes nothing"


def elsewhere(reads: Sequence[int], y: int) -> str:
    """Let the last of four operators, a function of what the third computes, read other tensors; "y" lies at `y`."""
    tensors = [fb.tensor(name, shape) for name, shape in zip("xavby", ([4], [4], [2, 2], [4], [4]), strict=True)]
    nodes = [
        fb.operator("TANH", [0], [1]), fb.operator("RESHAPE", [1], [2]), fb.operator("TANH", [0], [3]),
        fb.operator("REVERSE_V2", [3, 5], [4]),
    ]  # fmt: skip
    tensors.append(fb.tensor("axis", [1], "INT32", Buffer=1))
    file = draft.file(tensors, nodes, [0], [4], np.zeros(1, np.int32))
    buffers = [draft.buffer(name, at, 4, (0, 6)) for name, at in zip("xavby", (0, 16, 32, 48, y), strict=True)]
    operators = [(0, [0], [1]), (1, [1], [2]), (2, [0], [3]), (3, [*reads], [4])]
    places = [draft.tensor(t, name) for t, name in enumerate("xavby")]
    model = draft.model([draft.operator(*each) for each in operators], places)
    steps = ["enter", "TANH 0", "RESHAPE 1", "TANH 2", "REVERSE_V2 3", "leave"]
    return draft.verdict(draft.plan(steps, [model], buffers), file)


@pytest.mark.parametrize(("source", "tensor"), [(3, 48), (1, 16), (2, 32)])
def test_an_operator_reads_its_elements_where_they_are_shown(source: int, tensor: int) -> None:
    """In its operand, in one that an equal operator made, or in a view of that; and nothing overwrites them there."""
    assert elsewhere([source], 64) == ""
    assert elsewhere([source], tensor) == (
        f'wrong: step 4, "m: REVERSE_V2 3", overwrites element 1 of tensor {source} at p+{tensor + 1} before it has '
        "read it for the last time"
    )


def test_an_operator_reads_nothing_else() -> None:
    assert elsewhere([0], 64) == "wrong: m: operator 3 needs tensor 3, which the plan does not let it read"


def test_constants_around_what_is_shown_need_not_be_read() -> None:
    """A function of a padded tensor reads what was padded, though a step has padded it, too."""
    tensors = [fb.tensor("x", [2]), fb.tensor("p", [4]), fb.tensor("y", [4]), fb.tensor("z", [4])]
    tensors.append(fb.tensor("sides", [1, 2], "INT32", Buffer=1))
    nodes = [fb.operator("PAD", [0, 4], [1]), fb.operator("TANH", [1], [2]), fb.operator("SOFTMAX", [1], [3])]
    file = draft.file(tensors, nodes, [0], [2, 3], np.array([[1, 1]], np.int32))
    steps = [(0, [0], [1]), (1, [0], [2]), (2, [1], [3])]
    assert draft.apart(file, steps) == ""


def test_parts_that_were_joined_before_move_together() -> None:
    """Rows of j, which is a and b, and then c: so y may be where j is, though b is needed after y has begun."""
    names, shapes = "abcjy", ([2, 1], [2, 1], [2, 1], [2, 2], [2, 3])
    tensors = [fb.tensor(name, shape) for name, shape in zip(names, shapes, strict=True)]
    axis = fb.Node("ConcatenationOptions", Axis=1)
    nodes = [fb.operator("CONCATENATION", [0, 1], [3], axis), fb.operator("CONCATENATION", [0, 1, 2], [4], axis)]
    file = draft.file(tensors, nodes, [0, 1, 2], [4])
    steps = [(0, [0, 1], [3]), (1, [3, 2], [4])]
    assert draft.apart(file, steps) == draft.apart(file, steps, t4={"buffer": "b3"}) == ""
    assert "overwrites element 2 of tensor 3" in draft.apart(file, steps, t4={"buffer": "b3", "offset": 1})
    steps[1] = (1, [0, 1, 2], [4])
    assert draft.apart(file, steps, t4={"buffer": "b3"}) == ""


def test_what_nobody_needs_may_be_overwritten() -> None:
    """Elements 0 and 2 of a are gathered after b, of one element, was written over another one."""
    tensors = [fb.tensor("x"), fb.tensor("a"), fb.tensor("y", [2]), fb.tensor("b", [1])]
    tensors += [fb.tensor(f"at{i + 1}", [2 - i], "INT32", Buffer=i + 1) for i in range(2)]
    nodes = [fb.operator("TANH", [0], [1]), fb.operator("GATHER", [1, 4], [2]), fb.operator("GATHER", [0, 5], [3])]
    file = draft.file(tensors, nodes, [0], [2, 3], np.array([0, 2], np.int32), np.array([3], np.int32))
    steps = [(0, [0], [1]), (2, [0], [3]), (1, [1], [2])]
    for at in range(4):
        verdict_text = draft.apart(file, steps, t3={"buffer": "b1", "offset": at})
        late = f"needs byte {at} of tensor 1 at p+{16 + at}, where byte 0 of tensor 3 of m is"
        assert verdict_text == (f'wrong: step 3, "m: STEP 1", {late}' if at in (0, 2) else "")
