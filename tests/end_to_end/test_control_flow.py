"""IF, WHILE, CALL and CALL_ONCE as C: what subgraphs compute, and what is copied for them."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import RO, RW, call, manifest, one_model, succeed, tables
from tests.support.drawn_flow import drawn_flow
from tests.support.flatfile import flatfile
from tests.support.tools import needs_gcc, needs_oracle
from usmp_build.textual.reader import read

BRANCH = """model "branch"
subgraph 0 "main"
  %0 "is_sum" bool[1]
  %1 "x" float32[6]
  %2 "y" float32[6]
  %3 "either" float32[6]
  %4 "z" float32[6]
  inputs %0, %1, %2
  outputs %4
  %3 = IF(%0, %1, %2) then_subgraph=1 else_subgraph=2
  %4 = RELU(%3)
subgraph 1 "sum"
  %0 "" float32[6]
  %1 "" float32[6]
  %2 "" float32[6]
  inputs %0, %1
  outputs %2
  %2 = ADD(%0, %1)
subgraph 2 "second"
  %0 "" float32[6]
  %1 "" float32[6]
  inputs %0, %1
  outputs %1
"""
"""One arm computes its output, the other one returns an input."""

TWICE = """model "twice"
subgraph 0 "main"
  %0 "a" bool[1]
  %1 "b" bool[1]
  %2 "x" float32[6]
  %3 "first" float32[6]
  %4 "second" float32[6]
  inputs %0, %1, %2
  outputs %4
  %3 = IF(%0, %2) then_subgraph=1 else_subgraph=2
  %4 = IF(%1, %3) then_subgraph=2 else_subgraph=1
subgraph 1 "bend"
  %0 "" float32[6]
  %1 "" float32[6]
  inputs %0
  outputs %1
  %1 = TANH(%0)
subgraph 2 "double"
  %0 "" float32[6]
  %1 "" float32[6]
  inputs %0
  outputs %1
  %1 = ADD(%0, %0)
"""
"""Each subgraph is called from two places, so that its ports share bytes with nothing."""

ROTATION = """model "rotation"
subgraph 0 "main"
  %0 "f" bool[1]
  %1 "g" bool[1]
  %2 "h" bool[1]
  %3 "x" float32[6]
  %4 "y" float32[6]
  %5 "" bool[1]
  %6 "" bool[1]
  %7 "" bool[1]
  %8 "u" float32[6]
  %9 "v" float32[6]
  inputs %0, %1, %2, %3, %4
  outputs %8, %9
  %5, %6, %7, %8, %9 = WHILE(%0, %1, %2, %3, %4) cond_subgraph=1 body_subgraph=2
subgraph 1 "goes_on"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" bool[1]
  %3 "" float32[6]
  %4 "" float32[6]
  inputs %0, %1, %2, %3, %4
  outputs %0
subgraph 2 "step"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" bool[1]
  %3 "" float32[6]
  %4 "" float32[6]
  %5 "" float32[6]
  %6 "no" bool[1] = [0]
  %7 "" float32[6]
  inputs %0, %1, %2, %3, %4
  outputs %1, %2, %6, %4, %7
  %5 = ADD(%3, %4)
  %7 = TANH(%5)
"""
"""Three flags and two arrays move on in every round: a Fibonacci sequence that is bent."""

NESTED = """model "nested"
subgraph 0 "main"
  %0 "f" bool[1]
  %1 "g" bool[1]
  %2 "x" int8[8] scale=0.5 zero=0
  %3 "" bool[1]
  %4 "" bool[1]
  %5 "y" int8[8] scale=0.5 zero=0
  inputs %0, %1, %2
  outputs %5
  %3, %4, %5 = WHILE(%0, %1, %2) cond_subgraph=1 body_subgraph=2
subgraph 1 "goes_on"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" int8[8] scale=0.5 zero=0
  inputs %0, %1, %2
  outputs %0
subgraph 2 "step"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" int8[8] scale=0.5 zero=0
  %3 "no" bool[1] = [0]
  %4 "" int8[8] scale=0.5 zero=0
  %5 "" int8[8] scale=0.5 zero=0
  inputs %0, %1, %2
  outputs %1, %3, %5
  %4 = IF(%1, %2) then_subgraph=3 else_subgraph=4
  %5 = ADD(%4, %4)
subgraph 3 "half"
  %0 "" int8[8] scale=0.5 zero=0
  %1 "" int8[8] scale=0.5 zero=0
  %2 "by" int8[1] scale=0.5 zero=0 = [1]
  inputs %0
  outputs %1
  %1 = MUL(%0, %2)
subgraph 4 "positive"
  %0 "" int8[8] scale=0.5 zero=0
  %1 "" int8[8] scale=0.5 zero=0
  inputs %0
  outputs %1
  %1 = RELU(%0)
"""
"""A branch in a loop, which runs two rounds at most."""

KEPT = """model "kept"
subgraph 0 "main"
  %0 "f" bool[1]
  %1 "g" bool[1]
  %2 "x" float32[6]
  %3 "by" float32[6]
  %4 "" bool[1]
  %5 "" bool[1]
  %6 "y" float32[6]
  %7 "" float32[6]
  %8 "z" float32[6]
  %9 "bent" float32[6]
  inputs %0, %1, %2, %3
  outputs %8
  %9 = TANH(%3)
  %4, %5, %6, %7 = WHILE(%0, %1, %2, %9) cond_subgraph=1 body_subgraph=2
  %8 = ADD(%6, %7)
subgraph 1 "goes_on"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" float32[6]
  %3 "" float32[6]
  inputs %0, %1, %2, %3
  outputs %0
subgraph 2 "step"
  %0 "" bool[1]
  %1 "" bool[1]
  %2 "" float32[6]
  %3 "" float32[6]
  %4 "no" bool[1] = [0]
  %5 "" float32[6]
  inputs %0, %1, %2, %3
  outputs %1, %4, %5, %3
  %5 = MUL(%2, %3)
"""
"""What the loop multiplies with stays where it was."""

ONCE = """model "once"
subgraph 0 "main"
  %0 "x" float32[4]
  %1 "sum" resource[]
  %2 "before" float32[4]
  %3 "after" float32[4]
  inputs %0
  outputs %3
  %1 = VAR_HANDLE() shared_name="sum"
  _ = CALL_ONCE() subgraph=1
  %2 = READ_VARIABLE(%1)
  %3 = ADD(%2, %0)
  _ = ASSIGN_VARIABLE(%1, %3)
subgraph 1 "begin"
  %0 "" resource[]
  %1 "a" float32[4] = [1, 2, 3, 4]
  %2 "old" float32[4]
  %3 "first" float32[4]
  %4 "more" float32[4]
  inputs
  outputs
  %0 = VAR_HANDLE() shared_name="sum"
  %2 = READ_VARIABLE(%0)
  %3 = ADD(%1, %2)
  %4 = TANH(%3)
  _ = ASSIGN_VARIABLE(%0, %4)
"""
"""The first value of a variable is computed."""

LOOP = """model "loop"
subgraph 0 "main"
  %0 "x" float32[4]
  %1 "sum" resource[]
  %2 "n" int32[] = [0]
  %3 "n_after" int32[]
  %4 "sum_after" resource[]
  %5 "total" float32[4]
  %6 "x_after" float32[4]
  %7 "before" float32[4]
  %8 "first" float32[4]
  inputs %0
  outputs %5
  %1 = VAR_HANDLE() shared_name="sum"
  %7 = READ_VARIABLE(%1)
  %8 = ADD(%7, %0)
  _ = ASSIGN_VARIABLE(%1, %8)
  %3, %4, %6 = WHILE(%2, %1, %0) cond_subgraph=1 body_subgraph=2
  %5 = READ_VARIABLE(%4)
subgraph 1 "more"
  %0 "n" int32[]
  %1 "sum" resource[]
  %2 "x" float32[4]
  %3 "limit" int32[] = [3]
  %4 "goes_on" bool[]
  inputs %0, %1, %2
  outputs %4
  %4 = LESS(%0, %3)
subgraph 2 "add"
  %0 "n" int32[]
  %1 "sum" resource[]
  %2 "x" float32[4]
  %3 "one" int32[] = [1]
  %4 "next" int32[]
  %5 "old" float32[4]
  %6 "new" float32[4]
  inputs %0, %1, %2
  outputs %4, %1, %2
  %4 = ADD(%0, %3)
  %5 = READ_VARIABLE(%1)
  %6 = ADD(%5, %2)
  _ = ASSIGN_VARIABLE(%1, %6)
"""
"""A variable changes in a loop that gets its handle, as in the GRU of Keras that keeps its state."""

MODELS = {
    "branch": BRANCH,
    "twice": TWICE,
    "rotation": ROTATION,
    "nested": NESTED,
    "kept": KEPT,
    "once": ONCE,
}


FILES = MODELS | {"loop": LOOP}
"""The text form has no handles that are passed on."""


@pytest.mark.parametrize("name", FILES)
def test_results_are_those_of_tflm(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.tflite").write_bytes(flatfile(*read(FILES[name]).subgraphs))
    path = manifest(tmp_path, one_model(name, path=f"{name}.tflite"))
    done = succeed("selftest", path, "--runs", "12", "--sanitize")
    assert re.search(r"subgraphs? not compared, 12 runs, all equal to those of TensorFlow Lite Micro", done.out)


COPIES = {"branch": 1, "twice": 8, "rotation": 12, "nested": 6, "kept": 7, "once": 0}
"""Of a loop the state at first; then only what changes places, is returned from elsewhere, or has two callers."""


@pytest.mark.parametrize("name", MODELS)
def test_what_can_be_the_callers_tensor_is_not_copied(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.model.txt").write_text(MODELS[name])
    path = manifest(tmp_path, one_model(name, path=f"{name}.model.txt"))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    code = (tmp_path / "out" / f"{name}.c").read_text("utf-8")
    assert code.count("memcpy(") == COPIES[name]


COUNT = int(os.environ.get("USMP_CASES", "8"))


@needs_gcc
@needs_oracle
@pytest.mark.long
def test_drawn_models_equal_tflm(tmp_path: Path) -> None:
    """All in one firmware, each with its own subgraphs."""
    models = {}
    for seed in range(COUNT):
        (tmp_path / f"m{seed}.tflite").write_bytes(flatfile(*drawn_flow(np.random.default_rng(seed))))
        models[f"m{seed}"] = f'path = "m{seed}.tflite"\n'
    path = manifest(tmp_path, tables("p", {"ram": RW, "flash": RO}, models))
    done = succeed("selftest", path, "--runs", "10", "--sanitize")
    assert done.out.count("10 runs, all equal to those of TensorFlow Lite Micro") == COUNT


@needs_gcc
@needs_oracle
def test_a_converted_model_equals_tflm(tmp_path: Path) -> None:
    """A loop that counts, with two tensors that it does not change, and a branch after it."""
    path = manifest(tmp_path, one_model("control"))
    done = succeed("selftest", path, "--sanitize")
    assert "10 runs, all equal to those of TensorFlow Lite Micro" in done.out
