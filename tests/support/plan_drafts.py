"""Plans written by hand, as plan.json has them, for tests of the checker: what is not said is the usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.support import flatbuffer as fb
from tests.support.checker import check_plan

Document = dict[str, Any]


def buffer(name: str, offset: int, size: int, *lives: tuple[int, int], **more: Any) -> Document:
    """Return a buffer of the pool "p" of the model "m", alive within half-open intervals of steps."""
    usual = {"model": "m", "shared_with": [], "kind": "tensor", "pool": "p", "alignment": 1, "cache_line": 0}
    return {"name": name, "offset": offset, "size": size, "intervals": [*map(list, lives)]} | usual | more


def tensor(number: int, buffer: str, offset: int = 0, pitch: int = 0, channels: Sequence[int] = ()) -> Document:
    return {"tensor": number, "buffer": buffer, "offset": offset, "pitch": pitch, "channels": [*channels]}


def operator(number: int, reads: Sequence[int], writes: Sequence[int], *scratch: str) -> Document:
    return {"operator": number, "reads": [*reads], "writes": [*writes], "scratch": [*scratch]}


def model(operators: Sequence[Document], tensors: Sequence[Document], **more: Any) -> Document:
    """Return a model "m" with the input "x" and the output "y"."""
    ports = {"inputs": ["x"], "inputs_by_rows": [], "outputs": ["y"], "outputs_by_rows": []}
    usual = {"name": "m", "backward": [], "on_demand": False} | ports
    return {"operators": [*operators], "tensors": [*tensors]} | usual | more


def pool(size: int, name: str = "p", **more: Any) -> Document:
    usual = {"access": "rw", "alignment": 16, "limit": None, "origin": None, "bound": 0, "certificate": None}
    return {"name": name, "size": size} | usual | more


def plan(steps: Sequence[str], models: Sequence[Document], buffers: Sequence[Document], **more: Any) -> Document:
    """Return a plan; a step without a model is one of "m"."""
    named = [step if ": " in step else f"m: {step}" for step in steps]
    usual = {"version": 2, "concurrent": [], "pools": [pool(256)]}
    return {"steps": named, "models": [*models], "buffers": [*buffers]} | usual | more


def file(
    tensors: Sequence[fb.Node], operators: Sequence[fb.Node], inputs: Sequence[int], outputs: Sequence[int], *data: Any
) -> bytes:
    """Return a model file; its buffers after the empty one hold `data`, which are arrays."""
    graph = fb.subgraph(tensors, operators, inputs, outputs)
    return fb.write(fb.model(graph, data=[np.array(each).tobytes() for each in data]))


def verdict(document: Mapping[str, Any], *files: bytes) -> str:
    """Return what the checker says: nothing, "wrong: ...", "not covered: ...", or "not checked: ..."."""
    try:
        unchecked = check_plan.check(document, [check_plan.Model(data) for data in files])
    except (check_plan.Wrong, check_plan.NotCovered) as error:
        return f"{'wrong' if isinstance(error, check_plan.Wrong) else 'not covered'}: {error}"
    return "".join(f"not checked: {each}" for each in unchecked)


def apart(data: bytes, operators: Sequence[tuple[int, list[int], list[int]]], **places: Document) -> str:
    """Check a plan of (operator, reads, writes), in order, all of whose tensors lie apart but for `t3={...}`."""
    used = sorted({t for _, reads, writes in operators for t in (*reads, *writes)})
    tensors = [tensor(t, f"b{t}") | places.get(f"t{t}", {}) for t in used]
    steps = ["enter", *(f"STEP {number}" for number, _, _ in operators), "leave"]
    buffers = [buffer(f"b{t}", 16 * t, 16, (0, len(steps)), alignment=4) for t in used]
    inputs = [f"input {t}" for t in check_plan.Model(data).inputs]
    made = model([operator(*each) for each in operators], tensors, inputs=inputs)
    return verdict(plan(steps, [made], buffers), data)
