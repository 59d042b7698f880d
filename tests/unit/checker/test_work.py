"""Work is counted, a unit for about a byte or an element, so that what would take forever is given up."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from checker.definitions import Definition
from checker.main import check, check_apart
from checker.model import Fuel, Model, NotCovered
from checker.plan import Buffer
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

WINDOW = fb.Node("Conv2DOptions", Padding=1, StrideH=1, StrideW=1)
SPREAD = fb.Node("TransposeConvOptions", StrideH=1, StrideW=1)
NEEDS: dict[str, tuple[str, list[Any], tuple[int, ...], fb.Node | None, int]] = {
    "an element": ("TANH", [(4,)], (4,), None, 1 + 1),
    "a window of 2 × 3: taps, pixels, and what is needed": (
        "CONV_2D", [(1, 2, 3, 1), np.ones((1, 2, 3, 1), np.int8)], (1, 1, 1, 1), WINDOW, 2 + 3 + 6 + 1 + 6,
    ),
    "a pixel that is spread over 2 × 1: sides of the image, pixels, and what is needed": (
        "TRANSPOSE_CONV", [np.ones(4, np.int32), np.ones((1, 2, 1, 1), np.int8), (1, 1, 1, 1)], (1, 2, 1, 1), SPREAD,
        1 + 1 + 1 + 1 + 1,
    ),
    "a row of 4 and a column": ("BATCH_MATMUL", [(2, 4), (4, 3)], (2, 3), None, 4 + 4 + 1 + 8),
    "a row of 5": ("FULLY_CONNECTED", [(1, 5), np.ones((3, 5), np.int8)], (1, 3), None, 1 + 1 + 5),
    "a row of 5, and as many weights that are computed": ("FULLY_CONNECTED", [(1, 5), (1, 5)], (1, 1), None, 2 + 5 + 5),
    "all along an axis of 5": ("SUM", [(5, 2), np.zeros(1, np.int32)], (2,), None, 5 + 1 + 5),
}  # fmt: skip


def file(kind: str, operands: list[Any], out: tuple[int, ...], options: fb.Node | None) -> Model:
    """Return a model of one operator; its operands are shapes, or constants."""
    tensors, data, given = [], list[Any](), list[int]()
    for number, each in enumerate(operands):
        if isinstance(each, np.ndarray):
            data.append(each)
            tensors.append(fb.tensor(f"t{number}", each.shape, str(each.dtype).upper(), Buffer=len(data)))
        else:
            given.append(number)
            tensors.append(fb.tensor(f"t{number}", each))
    node = fb.operator(kind, [*range(len(operands))], [len(operands)], options)
    return Model(draft.file([*tensors, fb.tensor("y", out)], [node], given, [len(operands)], *data))


def spent(action: Callable[[], object]) -> int:
    Fuel.left = Fuel.MOST
    action()
    return Fuel.MOST - Fuel.left


@pytest.mark.parametrize("name", NEEDS)
def test_what_an_element_needs(name: str) -> None:
    kind, operands, out, options, work = NEEDS[name]
    model = file(kind, operands, out, options)
    of = Definition(model, model.operators[0], 0)
    assert spent(lambda: of.last_reads({0: 0})) == work


def test_tables_have_a_limit() -> None:
    """Shapes of a few bytes can name billions of elements, for which there is no memory."""
    model = file("FULLY_CONNECTED", [(1, 1), np.ones((1, 1), np.int8)], (1, 1), None)
    model.tensors[1].shape = [1, 1 << 31]
    with pytest.raises(NotCovered, match="more work"):
        Definition(model, model.operators[0], 0).last_reads({0: 0})


POOL = fb.Node("Pool2DOptions", Padding=1, StrideH=1, StrideW=1, FilterHeight=3, FilterWidth=1)


def pooled(*rows: int, **pool: Any) -> int:
    """Return the work for three rows that are added up in four bytes of scratch; x has gaps after its pixels."""
    tensors = [fb.tensor("x", [1, 3, 1, 1]), fb.tensor("y", [1, 1, 1, 1])]
    data = draft.file(tensors, [fb.operator("AVERAGE_POOL_2D", [0], [1], POOL)], [0], [1])
    life = (0, len(rows) + 2)
    buffers = [
        draft.buffer("x", 0, 5, life, kind="input"), draft.buffer("y", 8, 1, life, kind="output"),
        draft.buffer("s", 12, 4, life, kind="scratch", alignment=4),
    ]  # fmt: skip
    places = [draft.tensor(0, "x", pitch=2), draft.tensor(1, "y")]
    model = draft.model([draft.operator(0, [0], [1], "s")], places)
    steps = ["enter", *(f"AVERAGE_POOL_2D 0, row {row}" for row in rows), "leave"]
    document = draft.plan(steps, [model], buffers, pools=[draft.pool(16, **pool)])
    return spent(lambda: check(document, [Model(data)]))


def test_rows_that_are_added_up() -> None:
    """With a certificate, there is another look at the seven bytes that the pool holds in its step."""
    assert pooled(0, 1, 2) == 219
    certificate = {"step": "m: AVERAGE_POOL_2D 0, row 2", "buffers": ["x", "y"]}
    assert pooled(0, 1, 2, certificate=certificate) - pooled(0, 1, 2) == 3 + 4


def chained(**changes: Any) -> int:
    """Return the work for two models, of which one reads what the other writes: ten bytes, sliced from twenty."""
    tensors = [fb.tensor("x", [20]), fb.tensor("c", [10])]
    tensors += [fb.tensor(name, [1], "INT32", Buffer=1 + i) for i, name in enumerate(("begin", "size"))]
    begin, size = (np.array([n], np.int32) for n in (5, 10))
    first = draft.file(tensors, [fb.operator("SLICE", [0, 2, 3], [1])], [0], [1], begin, size)
    rows = [fb.tensor(name, [2, 5]) for name in "avy"]
    nodes = [fb.operator("RESHAPE", [0], [1]), fb.operator("TANH", [1], [2])]
    second = draft.file([fb.tensor("c", [10]), *rows[1:]], nodes, [0], [2])
    models = [
        draft.model([draft.operator(0, [0], [1])], [draft.tensor(0, "x"), draft.tensor(1, "c")]),
        draft.model([draft.operator(1, [1], [2])], [draft.tensor(t, b) for t, b in enumerate("ccy")], name="n"),
    ]
    y = {"offsets": [40, 50], "row_size": 5}
    buffers = [
        draft.buffer("x", 0, 20, (0, 2), kind="input"),
        draft.buffer("c", 20, 10, (0, 6), kind="connection", shared_with=["n"]),
        draft.buffer("y", 0, 0, (4, 6), (4, 6), kind="output", model="n") | y,
    ]
    steps = ["m: enter", "m: SLICE 0", "m: leave", "n: enter", "n: TANH 1", "n: leave"]
    document = draft.plan(steps, models, [each | changes.get(each["name"], {}) for each in buffers])
    return spent(lambda: check(document, [Model(first), Model(second)]))


def test_models_one_after_the_other() -> None:
    """Each interval is looked at in both steps that touch x, and for the other model; two buffers in one place are
    compared by their models and intervals.
    """
    assert chained() == 976
    assert chained(x={"intervals": [[0, 1], [1, 2]]}) - chained() == 6
    assert chained(y={"offsets": [0, 50]}) - chained() == 1 + 1 * 1 + 1 * 1
    lives = [[0, 1], [2, 3], [4, 5]]
    one, other = (Buffer(name, "p", 0, 4, lives, ["m", "n"], "intermediate", 1, 0, "") for name in "ab")
    assert spent(lambda: check_apart("p", [one, other], set())) == 1 + 2 * 2 + 3 * 3


def test_it_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    work = chained()
    monkeypatch.setattr(Fuel, "MOST", work)
    assert chained() == work
    monkeypatch.setattr(Fuel, "MOST", work - 1)
    with pytest.raises(NotCovered, match="more work than anything"):
        chained()
