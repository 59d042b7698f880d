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
from tests.support.tree import text_file
from usmp_build.textual.reader import read

BRANCH = text_file("control_flow_branch.model.txt")
"""One arm computes its output, the other one returns an input."""

TWICE = text_file("control_flow_twice.model.txt")
"""Each subgraph is called from two places, so that its ports share bytes with nothing."""

ROTATION = text_file("control_flow_rotation.model.txt")
"""Three flags and two arrays move on in every round: a Fibonacci sequence that is bent."""

NESTED = text_file("control_flow_nested.model.txt")
"""A branch in a loop, which runs two rounds at most."""

KEPT = text_file("control_flow_kept.model.txt")
"""What the loop multiplies with stays where it was."""

ONCE = text_file("control_flow_once.model.txt")
"""The first value of a variable is computed."""

LOOP = text_file("control_flow_loop.model.txt")
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


def test_results_are_those_of_tflm(tmp_path: Path) -> None:
    """Each model in a pool of its own, as tightly as if it were alone."""
    models = {}
    for name, text in FILES.items():
        (tmp_path / f"{name}.tflite").write_bytes(flatfile(*read(text).subgraphs))
        models[name] = f'path = "{name}.tflite"\nworkspace_pools = ["of_{name}"]\n'
    path = manifest(tmp_path, tables("p", {f"of_{name}": RW for name in FILES}, models))
    done = succeed("selftest", path, "--runs", "12", "--sanitize")
    equal = re.findall(r"subgraphs? not compared, 12 runs, all equal to those of TensorFlow Lite Micro", done.out)
    assert len(equal) == len(FILES)


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


@pytest.mark.slow
@needs_gcc
@needs_oracle
def test_a_converted_model_equals_tflm(tmp_path: Path) -> None:
    """A loop that counts, with two tensors that it does not change, and a branch after it."""
    path = manifest(tmp_path, one_model("control"))
    done = succeed("selftest", path, "--sanitize")
    assert "10 runs, all equal to those of TensorFlow Lite Micro" in done.out
