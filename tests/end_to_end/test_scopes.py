"""Plans and code with pins: copies are planned, shared, run, and what comes out is the same."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import RW, call, equals_tflm, manifest, one_model, planned, succeed, tables
from tests.support.small_models import GEMM
from tests.support.tools import needs_c
from tests.support.tree import text_file
from usmp_build.cli import reading
from usmp_build.request import OperandRule, PlaceRequest, Request, TargetRequest

POOLS = """
[pools.tcm]
access = "rw"

[pools.sram]
access = "rw"

[pools.flash]
access = "ro"
"""
TCM, SRAM = (0,), (1,)
APART = (
    PlaceRequest(operators="*", operands=("outputs",), pools=SRAM),
    PlaceRequest(operators="*CONV_2D", operands=("input 0", "constants", "scratch"), pools=TCM),
)
"""Every operator writes to sram, and convolutions read from tcm, weights too."""


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add rules to every model of the manifests that are read from now on, and a second target that reaches all."""
    honest = reading.resolve

    def pin(*places: PlaceRequest, rules: tuple[OperandRule, ...] = ()) -> None:
        def resolve(*arguments: Any) -> Request:
            request = honest(*arguments)
            models = tuple(replace(model, places=places) for model in request.models)
            both = frozenset({0, 1})
            pools = tuple(replace(pool, readers=both, writers=both) for pool in request.pools)
            targets = (*request.targets, TargetRequest("npu", "reference", rules=rules))
            return replace(request, models=models, pools=pools, targets=targets)

        monkeypatch.setattr(reading, "resolve", resolve)

    return pin


IO = {"digits": "pool", "branchy": "application", "float_net": "pool"}
"""By model."""


@needs_c
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", IO)
@pytest.mark.long
def test_tensors_are_the_same_wherever_they_are(tmp_path: Path, pinned: Callable[..., None], name: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    words = f'io = "{IO[name]}"\nrewrites = {{ pads = false }}'  # what is pinned keeps its padding
    plain = call("selftest", manifest(tmp_path, one_model(name, words) + POOLS), "--runs", "3")
    pinned(*APART)
    done = succeed(
        "selftest",
        manifest(tmp_path, one_model(name, words) + POOLS),
        "--sanitize",
        "--runs",
        "3",
        "--keep",
        tmp_path / "kept",
    )
    assert "all equal to those of TensorFlow Lite Micro" in done.out
    counts = (message.out.partition(" tensors")[0] for message in (plain, done))
    assert len(set(counts)) == 1  # as many were compared; what is pinned keeps all of its channels
    assert "_copy_" in (tmp_path / "kept" / f"{name}.c").read_text("utf-8")


TWO_READERS = text_file("scopes_two_readers.model.txt")


def test_one_copy_for_two_readers(tmp_path: Path, pinned: Callable[..., None]) -> None:
    """The plan has the tensor twice, not three times, and the copy is free again when both have read it."""
    (tmp_path / "net.model.txt").write_text(TWO_READERS, encoding="utf-8")
    text = f'[project]\nname = "p"\n{POOLS}\n[models.net]\npath = "net.model.txt"\n'
    pinned(APART[0], PlaceRequest(operators="SIN", operands=("inputs",), pools=TCM))
    plan = planned(manifest(tmp_path, text))
    copies = {row["name"]: (row["pool"], row["reason"]) for row in plan["buffers"] if "copy" in row["reason"]}
    assert copies == {"net.a.in_tcm": ("tcm", "copy of a for SIN 1 on cpu and SIN 2 on cpu")}
    assert [pool["size"] for pool in plan["pools"]] == [64, 192, 0]
    assert plan["steps"][2]["text"] == "net: COPY 4"


def test_the_example_of_plandevices(tmp_path: Path, pinned: Callable[..., None]) -> None:
    """Operands in scope A, any, B; the result in A, and wanted in B."""
    (tmp_path / "gemm.model.txt").write_text(GEMM, encoding="utf-8")
    path = manifest(tmp_path, tables("p", {"a": RW, "b": RW}, {"gemm": 'path = "gemm.model.txt"\n'}))
    a, b = (0,), (1,)
    pinned(
        PlaceRequest(operators="FULLY_CONNECTED", target=1),
        PlaceRequest(tensors="y", pools=b),
        PlaceRequest(tensors="z", pools=a),
        PlaceRequest(operators="COS", operands=("inputs",), pools=b),
        rules=(
            OperandRule("FULLY_CONNECTED", ("input 0", "output 0"), a),
            OperandRule("FULLY_CONNECTED", ("input 2",), b),
        ),
    )
    done = succeed("inspect", "scopes", path)
    assert "gemm %5 z.in_b        gemm %2 z           64  copy\n" in done.out
    explained = call("explain", "gemm.x", path)
    assert "  scope   FULLY_CONNECTED 0 on npu reads it\n" in explained.out
    as_json = json.loads(call("inspect", "scopes", path, "--json").out)
    assert as_json["pools"][0] == [{"model": 0, "subgraph": 0, "tensor": 0}, [0]]


PINNED_OUTPUT = """
[project]
name = "p"
[pools.ram]
access = "rw"
targets = ["cpu"]
[pools.shown]
access = "rw"
targets = ["cpu"]
[pools.local]
access = "rw"
targets = ["npu"]
[targets.npu]
kernels = "reference"
copies = "extern"
[models.digits]
path = "DATA/digits.tflite"
[[models.digits.place]]
operators = "*"
target = "npu"
[[models.digits.place]]
tensors = "StatefulPartitionedCall*"
pools = ["shown"]
"""
COPIES = """
#include <string.h>
#include "p_kernels.h"
void p_npu_copy(const struct p_npu_copy_parameters *p, const void *source, void *destination)
{
    memcpy(destination, source, (size_t)p->size);
}
"""


@needs_c
@pytest.mark.parametrize("io", ["pool", "application"])
@pytest.mark.long
def test_the_application_gets_an_output_in_the_pool_that_it_is_pinned_to(tmp_path: Path, io: str) -> None:
    """All operators run where the application does not reach, and their last result is brought to it."""
    path = manifest(tmp_path, PINNED_OUTPUT.replace("digits.tflite", f'digits.tflite"\nio = "{io}', 1))
    plan = planned(path)
    assert [row["size"] for row in plan["buffers"] if row["pool"] == "shown"] == [10]
    (tmp_path / "copies.c").write_text(COPIES, encoding="utf-8")
    equals_tflm(path, "--source", tmp_path / "copies.c", "--sanitize", "--runs", 3)
