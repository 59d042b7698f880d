"""A small net of each family that converters make, in each type: every tensor equals TensorFlow Lite Micro's."""

import json
from pathlib import Path

import pytest

from tests.support.cli import call, succeed
from tests.support.tools import needs_c
from tests.support.tree import ROOT

MODELS = sorted((ROOT / "tests" / "models").glob("*.tflite"))
HYBRID = [path for path in MODELS if path.stem.endswith("_hybrid")]
"""TensorFlow Lite Micro refuses them."""


@needs_c
@pytest.mark.parametrize("family", [path for path in MODELS if path not in HYBRID], ids=lambda path: path.stem)
@pytest.mark.long
def test_every_tensor_is_exact(family: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", family, "--sanitize", "--runs", "4")
    assert "4 runs, all equal to those of TensorFlow Lite Micro" in done.out


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_operator_runs(path: Path) -> None:
    operators = json.loads(call("ops", path, "--json").out)
    assert {each["support"] for each in operators} <= {"runs", "nothing runs"}
