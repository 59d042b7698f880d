"""Whatever a program's file holds, the importer returns a checked program or raises ModelError."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import FOLDER, NAMES
from tests.support.road import analyze
from tests.support.spoiled_json import VALUES, WORDS, spoiled
from usmp_build.errors import ModelError, Span
from usmp_build.importers.program import import_program
from usmp_build.ir.graph import Model


def outcome(data: bytes) -> Model | None:
    try:
        model = import_program(data, "m", "m.program.json")
    except ModelError as error:
        refusal = error
    else:
        analyze_or_refuse(model)
        return model
    assert all(isinstance(d.place, Span) and d.code.startswith("T2") for d in refusal.diagnostics)
    return None


def analyze_or_refuse(model: Model) -> None:
    try:
        analyze(model)
    except ModelError as error:
        refusal = error
    else:
        return
    # main's parameters have no sizes, or a parallel loop has no workers
    assert {d.code for d in refusal.diagnostics} <= {"P303", "P321"}


@pytest.mark.parametrize("seed", range(300))
def test_changed_values(seed: int) -> None:
    draw = random.Random(seed)
    document = json.loads((FOLDER / f"{NAMES[seed % len(NAMES)]}.json").read_text("utf-8"))
    for _ in range(draw.randint(1, 4)):
        document = spoiled(document, draw)
    outcome(json.dumps(document).encode())


@pytest.mark.parametrize("seed", range(100))
def test_changed_bytes(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray((FOLDER / "linear.json").read_bytes())
    for _ in range(draw.randint(1, 5)):
        data[draw.randrange(len(data))] = draw.choice(b'{}[]",:0a \xff\\')
    outcome(bytes(data))


json_values = st.recursive(
    st.sampled_from(VALUES), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner)
)


@settings(derandomize=True)
@given(json_values)
def test_any_json(value: Any) -> None:
    outcome(json.dumps({"main": "f", "functions": {"f": value}}).encode())
    outcome(json.dumps({"main": "f", "functions": {"f": {"params": [{"name": "x"}], "body": [value]}}}).encode())


@settings(derandomize=True)
@given(st.binary(max_size=100))
def test_any_bytes(data: bytes) -> None:
    outcome(data)
