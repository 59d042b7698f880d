"""Kernels of others may declare their accesses in one direction only: then they overlap in that one."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model
from tests.support.nets import NETS
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.reference import Reference

Change = Callable[[Kernel], Kernel]

pytestmark = pytest.mark.usefixtures("monkeypatch")  # plans of the same manifest differ


def silent(kernel: Kernel) -> Kernel:
    """The kernel, without a word about its accesses."""
    return replace(kernel, calls=tuple(replace(each, accesses=None) for each in kernel.calls))


def both_silent(kernel: Kernel) -> Kernel:
    return replace(silent(kernel), backward=kernel.backward and silent(kernel.backward))


def forward_declared(kernel: Kernel) -> Kernel:
    return replace(kernel, backward=kernel.backward and silent(kernel.backward))


def backward_declared(kernel: Kernel) -> Kernel:
    return silent(kernel)


def forward_alone(kernel: Kernel) -> Kernel:
    return replace(kernel, backward=None)


def workspace(folder: Path, change: Change, rows: bool = False) -> tuple[int, int]:
    """Plan a net with kernels that are changed: bytes with overlap, and achieved."""
    plan = f"[plan]\nrows = {str(rows).lower()}\n"
    (folder / "net.tflite").write_bytes(NETS["separable"]())
    honest = Reference.kernel

    def kernel(self: Reference, operator: Operator, graph: Subgraph) -> Kernel | NoKernel:
        lifetimes = honest(self, operator, graph)
        return change(lifetimes) if isinstance(lifetimes, Kernel) else lifetimes

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Reference, "kernel", kernel)
        done = call(
            "plan", manifest(folder, one_model("net", path=(folder / "net.tflite").as_posix()) + plan), "--json"
        )
    assert done.code == 0, done.err
    record = json.loads(done.out)["workspace"]
    return record["with_overlap"], record["achieved"]


def test_what_one_direction_declares_counts(tmp_path: Path) -> None:
    nothing = workspace(tmp_path, both_silent)[1]
    alone = workspace(tmp_path, forward_alone)
    assert workspace(tmp_path, forward_declared) == alone
    assert alone[0] <= alone[1] < nothing
    bound, achieved = workspace(tmp_path, backward_declared)
    assert bound <= achieved < nothing


@pytest.mark.parametrize("change", [forward_declared, backward_declared])
def test_row_by_row_run_operators_that_declare_both(tmp_path: Path, change: Change) -> None:
    assert workspace(tmp_path, change, rows=True)[1] <= workspace(tmp_path, change)[1]
