"""Plans written by hand, as plan.json has them, for tests of the checker: what is left out has its usual value."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from checker.main import check, stored
from checker.model import Model, NotCovered, Wrong
from tests.support import flatbuffer as fb

Document = dict[str, Any]
OURS = {"name": "cpu", "kernels": "reference", "isa": "portable"}
"""A target of a plan: portable C."""


def buffer(name: str, offset: int, size: int, *lives: tuple[int, int], **more: Any) -> Document:
    """Return a buffer of the pool "p" of the model "m", alive within half-open intervals of steps."""
    usual = {"model": "m", "shared_with": [], "kind": "intermediate", "pool": "p", "alignment": 1, "cache_line": 0}
    return (
        {"name": name, "offset": offset, "size": size, "intervals": [*map(list, lives)]} | usual | {"reason": ""} | more
    )


def tensor(number: int, buffer: str, offset: int = 0, pitch: int = 0, channels: Sequence[int] = ()) -> Document:
    rest = {"channels": [*channels], "axes": [], "strip_of": None, "columns": []}
    return {"tensor": number, "buffer": buffer, "offset": offset, "pitch": pitch, **rest}


def operator(number: int, reads: Sequence[int], writes: Sequence[int], *scratch: str) -> Document:
    touched = {"reads": [*reads], "writes": [*writes], "scratch": [*scratch]}
    return {"operator": number, "strip_of": None, **touched}


def model(operators: Sequence[Document], tensors: Sequence[Document], **more: Any) -> Document:
    """Return a model "m" with the input "x" and the output "y"."""
    ports = {"inputs": ["x"], "inputs_by_rows": [], "outputs": ["y"], "outputs_by_rows": []}
    usual = {"name": "m", "backward": [], "on_demand": False, "rewrites": []} | ports
    return {"operators": [*operators], "tensors": [*tensors]} | usual | more


def pool(size: int, name: str = "p", **more: Any) -> Document:
    usual = {"access": "rw", "alignment": 16, "limit": None, "origin": None, "bound": 0, "certificate": None}
    return {"name": name, "size": size, "owner": "generated", "region": ""} | usual | more


def step(text: str) -> Document:
    """Return the step that people read as this text; one without a model is one of "m"."""
    model, _, what = text.rpartition(": ")
    numbers = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", what)}
    row, operators = numbers.pop("row", None), [*numbers.values()]
    known = "arrival" if "arrives" in what else "operator" if operators else "other"
    kind = what if what in ("enter", "leave") else known
    operator = operators[0] if kind == "operator" else None
    return {"model": model or "m", "kind": kind, "operator": operator, "row": row, "text": f"{model or 'm'}: {what}"}


def plan(steps: Sequence[str], models: Sequence[Document], buffers: Sequence[Document], **more: Any) -> Document:
    """Return a plan of steps as people read them."""
    usual = {"version": 3, "concurrent": [], "pools": [pool(256)], "targets": [OURS]}
    return {"steps": [step(text) for text in steps], "models": [*models], "buffers": [*buffers]} | usual | more


def file(
    tensors: Sequence[fb.Node], operators: Sequence[fb.Node], inputs: Sequence[int], outputs: Sequence[int], *data: Any
) -> bytes:
    """Return a model file; its buffers after the empty one hold `data`, which are arrays."""
    graph = fb.subgraph(tensors, operators, inputs, outputs)
    return fb.write(fb.model(graph, data=[np.array(each).tobytes() for each in data]))


def verdict(document: Mapping[str, Any], *files: bytes) -> str:
    """Return what the checker says: nothing, "wrong: ...", "not covered: ...", or "not checked: ..."."""
    try:
        models = [Model(data) for data in files]
        unchecked = check(completed(document, models), models)
    except (Wrong, NotCovered) as error:
        return f"{'wrong' if isinstance(error, Wrong) else 'not covered'}: {error}"
    return "".join(f"not checked: {each}" for each in unchecked)


def completed(document: Mapping[str, Any], models: Sequence[Any]) -> Document:
    """Return a plan with what the checker wants to see in any: all ports have names, and buffers that have them are of
    their kind; all weights and biases of the files are in a pool of their own.

    Inputs are not alive when a model leaves, nor outputs when it is entered, unless the document has "promises".
    """
    constants, records, kinds = list[Document](), list[Document](), dict[str, str]()
    for record, file in zip(document["models"], models, strict=True):
        names = {side: [f"{side} {i}" for i in range(len(getattr(file, side)))] for side in ("inputs", "outputs")}
        records.append(record | {side: each for side, each in names.items() if len(record[side]) != len(each)})
        for side in ("outputs", "inputs"):
            held = [each["buffer"] for each in record["tensors"] if each["tensor"] in getattr(file, side)]
            kinds |= {name.partition("[")[0]: side[:-1] for name in held}
        for data, width in sorted(stored(record, file).items()):
            place = sum(each["size"] + -each["size"] % 8 for each in constants)
            more = {
                "alignment": width,
                "model": record["name"],
                "kind": "constant",
                "pool": "constants",
                "reason": "of the model",
            }
            constants.append(buffer(f"constant {place}", place, len(data), (0, 1), **more))
    buffers = [_lived(each, kinds, document) for each in document["buffers"]]
    extra = [pool(sum(each["size"] + 8 for each in constants), "constants", access="ro")] if constants else []
    more = {"models": records, "buffers": [*buffers, *constants], "pools": [*document["pools"], *extra]}
    return {**document, **more}


def _lived(buffer: Document, kinds: Mapping[str, str], document: Mapping[str, Any]) -> Document:
    """Return a buffer of its kind, whose life has the steps that it has for that."""
    kind = buffer["kind"]
    if kind == "intermediate":
        kind = kinds.get(buffer["name"].partition("[")[0], kind)
    first, last = int(kind == "output"), len(document["steps"]) - int(kind == "input")
    lives = [[max(start, first), min(stop, last)] for start, stop in buffer["intervals"]]
    is_kept = "promises" in document or len(document["models"]) > 1 or any(start >= stop for start, stop in lives)
    return buffer | {"kind": kind} | ({} if is_kept else {"intervals": lives})


def apart(data: bytes, operators: Sequence[tuple[int, list[int], list[int]]], **places: Document) -> str:
    """Check a plan of (operator, reads, writes), in order, all of whose tensors lie apart but for `t3={...}`."""
    ports = Model(data).inputs
    used = sorted({t for _, reads, writes in operators for t in (*reads, *writes)} | {*ports})
    tensors = [tensor(t, f"b{t}") | places.get(f"t{t}", {}) for t in used]
    steps = ["enter", *(f"STEP {number}" for number, _, _ in operators), "leave"]
    buffers = [buffer(f"b{t}", 16 * t, 16, (0, len(steps)), alignment=4) for t in used]
    document = model([operator(*each) for each in operators], tensors, inputs=[f"input {t}" for t in ports])
    return verdict(plan(steps, [document], buffers), data)
