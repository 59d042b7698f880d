"""Constants: that weights and biases are in the plan, each in bytes of its own, and the messages about all others."""

from typing import Any

import numpy as np
import pytest

from checker.definitions import WEIGHTS
from checker.main import check, stored
from checker.model import Model, Wrong
from tests.support import flatbuffer as fb
from tests.support import plan_drafts as draft

Document = dict[str, Any]
CONV = fb.Node("Conv2DOptions", StrideH=1, StrideW=1)


def conv(first: int = 1, second: int = 1) -> bytes:
    """Return a file of two convolutions without biases, all of whose weights are these."""
    tensors = [fb.tensor(name, [1, 1, 1, 2]) for name in "xay"]
    tensors += [fb.tensor(name, [2, 1, 1, 2], Buffer=i) for i, name in ((1, "v"), (2, "w"))]
    nodes = [fb.operator("CONV_2D", [0, 3, -1], [1], CONV), fb.operator("CONV_2D", [1, 4], [2], CONV)]
    tensors.append(fb.tensor("u", [5], Buffer=3))  # the last one, which nobody reads
    weights = (np.full(4, each, np.int8) for each in (first, second))
    return draft.file(tensors, nodes, [0], [2], *weights, np.ones(5, np.int8))


def constant(name: str, size: int = 4, *models: str, reason: str = "of the model") -> Document:
    first, *others = models or ("m",)
    more = {"kind": "constant", "pool": "c", "reason": reason, "model": first, "shared_with": others}
    return draft.buffer(name, 8 * "vwst".index(name), size, (0, 1), **more)


def verdict_on(
    files: list[bytes], *constants: Document, targets: tuple[str, str] = ("reference", "portable"), **more: Any
) -> str:
    """Check models "m", "n", ... of these files, with these constants."""
    names, steps, buffers, models = "mnk"[: len(files)], list[str](), list[Document](), list[Document]()
    for i, name in enumerate(names):
        steps += [f"{name}: {step}" for step in ("enter", "CONV_2D 0", "CONV_2D 1", "leave")]
        for at, (port, kind) in enumerate({"x": "input", "a": "intermediate", "y": "output"}.items()):
            life = (4 * i + at, 4 * i + at + 2)
            buffers.append(draft.buffer(f"{name}{port}", 8 * at, 2, life, kind=kind, model=name))
        tensors = [draft.tensor(t, f"{name}{port}") for t, port in enumerate("xay")]
        operators = [draft.operator(0, [0], [1]), draft.operator(1, [1], [2])]
        models.append(draft.model(operators, tensors, name=name) | more)
    pools = [draft.pool(64), draft.pool(64, "c", access="ro")]
    target = draft.OURS | dict(zip(("kernels", "isa"), targets, strict=True))
    plan = draft.plan(steps, models, [*buffers, *constants], pools=pools, targets=[target])
    try:
        return "; ".join(check(plan, [Model(data) for data in files]))
    except Wrong as wrong:
        return str(wrong)


def test_weights_have_bytes_of_their_own() -> None:
    """Only equal ones have the same."""
    v, w = constant("v"), constant("w")
    assert verdict_on([conv()], v) == verdict_on([conv(1, 2)], v, w) == verdict_on([conv()], v, w) == ""
    missing = "the plan has {} for the {} constants of 4 bytes of m"
    assert verdict_on([conv(1, 2)], v) == missing.format(1, 2)
    assert verdict_on([conv()]) == missing.format(0, 1)
    for size in (0, 3, 5):
        assert verdict_on([conv()], constant("v", size)) == missing.format(0, 1)
    assert verdict_on([conv()], constant("v", 4, "n")) == missing.format(0, 1)


def test_models_share_only_what_is_equal() -> None:
    shared = constant("v", 4, "m", "n")
    assert verdict_on([conv(), conv()], shared) == ""
    assert verdict_on([conv(), conv()], constant("v", 4, "m"), constant("w", 4, "n")) == ""
    assert verdict_on([conv(), conv(2, 2)], shared) == "the plan has 1 for the 2 constants of 4 bytes of m, n"
    assert verdict_on([conv(), conv(2, 2)], shared, constant("w", 4, "n")) == ""
    assert (
        verdict_on([conv(), conv(2, 2)], constant("v", 4, "m")) == "the plan has 0 for the 1 constants of 4 bytes of n"
    )


def test_what_is_derived_is_named() -> None:
    derived = constant("s", 8, reason="derived for CONV_2D 0")
    named = 'that "s" has its size, and what it holds'
    assert verdict_on([conv()], constant("v"), derived) == named
    assert verdict_on([conv()], constant("v"), constant("s", 8)) == named
    became = "what the 2 constants of 4 bytes of m became"
    other = constant("w", reason="derived for CONV_2D 0")
    assert verdict_on([conv(1, 2)], constant("v"), other) == f'{became}; that "w" has its size, and what it holds'
    assert verdict_on([conv(1, 2)], constant("v"), other, derived).endswith('that "w" has its size, and what it holds')


@pytest.mark.parametrize(
    ("targets", "rewrite"),
    [
        (("cmsis-nn", "portable"), {}),
        (("reference", "dsp"), {}),
        (("reference", "portable"), {"channels": 1}),
        (("reference", "portable"), {"weights": -4}),
    ],
)
def test_what_weights_became_is_named(targets: tuple[str, str], rewrite: dict[str, int]) -> None:
    """Where kernels have them in another order, or the plan says that it left some out."""
    rewrites = [{"channels": 0, "weights": 0} | rewrite]
    became = "what the 1 constants of 4 bytes of m became"
    assert verdict_on([conv()], targets=targets, rewrites=rewrites) == became
    assert verdict_on([conv()], constant("v"), targets=targets, rewrites=rewrites) == ""
    plain = [{"channels": 0, "weights": 0}]
    assert verdict_on([conv()], rewrites=plain) == "the plan has 0 for the 1 constants of 4 bytes of m"


def test_constants_that_are_needed_are_those_of_operators_that_run() -> None:
    """Weights, biases, and outputs; neither shapes, nor variables, nor what no operator of the plan reads."""
    shapes = {"w": [2, 3], "b": [2], "s": [1, 2], "h": [2, 2]}
    types = {"b": "INT32", "s": "INT32"}
    tensors = [fb.tensor("x", [1, 3]), fb.tensor("y", [1, 2]), fb.tensor("z", [2, 1])]
    tensors += [fb.tensor(n, shape, types.get(n, "INT8"), Buffer=i + 1) for i, (n, shape) in enumerate(shapes.items())]
    nodes = [fb.operator("FULLY_CONNECTED", [0, 3, 4], [1]), fb.operator("RESHAPE", [1, 5], [2])]
    values = [
        np.arange(6, dtype=np.int8),
        np.arange(2, dtype=np.int32),
        np.array([2, 1], np.int32),
        np.ones(4, np.int8),
    ]
    file = Model(draft.file(tensors, nodes, [0], [2, 6], *values))
    record = draft.model([draft.operator(0, [0], [1])], [])
    assert sorted(map(len, stored(record, file))) == [4, 6, 8]
    assert [*stored(draft.model([draft.operator(1, [1], [2])], []), file)] == [bytes([1] * 4)]
    copy = draft.model([draft.operator(2, [0], [7])], [])
    assert len([*stored(copy, file)]) == 1
    file.variables.add(3)
    assert sorted(map(len, stored(record, file))) == [4, 8]


def test_kinds_that_have_weights() -> None:
    """The image of a TRANSPOSE_CONV is input 2; all but the first one of layers with a state are weights and states."""
    positions = {kind: [*each] for kind, each in WEIGHTS.items()}
    assert positions.pop("TRANSPOSE_CONV") == [1, 3]
    assert positions.pop("RECURRENT") == [*range(1, 24)]
    assert positions.pop("PAD") == [2]
    assert positions == {kind: [1, 2] for kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")}
