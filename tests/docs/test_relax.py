"""docs/relax.md is so: its modules are saved, and planned together."""

import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from tests.support.tvm import need_torch, needs_tvm, with_tvm, write_models

EQUAL = "all equal to those of TVM's virtual machine"
POOLS = '[project]\nname = "q"\n[pools.sram]\naccess = "rw"\n[pools.flash]\naccess = "ro"\n'
NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.sequence, self.scores = nn.LSTM(16, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, image):
        rows = self.features(image).permute(0, 2, 1, 3).flatten(2)
        return torch.softmax(self.scores(self.sequence(rows)[0][:, -1]), 1)

torch.manual_seed(0)
net = Net()
"""
"""Convolutions in rows, an LSTM over these, and scores: which TVM's front end for ONNX lacks."""


@needs_tvm
@runs("docs/relax.md#tvm-onnx-and-relax")
def test_an_onnx_file_and_a_saved_module_are_planned(page: Page, tmp_path: Path) -> None:
    manifest, script = page.take("toml"), page.take("python")
    write_models(tmp_path, "mobile")[0].rename(tmp_path / "gate.onnx")
    shutil.copy(DATA / "digits.tflite", tmp_path / "kws.tflite")
    (tmp_path / "usmp.toml").write_text(manifest.text, encoding="utf-8")
    saved = with_tvm("-c", script.text, cwd=tmp_path)
    assert saved.code == 0, saved.err
    assert selftest(tmp_path).count(EQUAL) == 2


@needs_tvm
@pytest.mark.long
@runs("docs/relax.md#pytorch")
def test_an_exported_program_of_pytorch_is_planned(page: Page, tmp_path: Path) -> None:
    need_torch()
    saved = with_tvm("-c", f"{NET}\n{page.take('python').text}", cwd=tmp_path)
    assert saved.code == 0, saved.err
    models = '[models.spot]\npath = "spot.relax.json"\n'
    (tmp_path / "usmp.toml").write_text(POOLS + models, encoding="utf-8")
    assert selftest(tmp_path) == f"spot: 1 tensors, 3 runs, {EQUAL}\n"


COUNTING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(1, 1, 8, 8))

    def forward(self, image):
        self.sum += image
        return self.sum * 2

net = Net()
"""
"""A module that would answer every run as the first one."""


@needs_tvm
@pytest.mark.long
def test_a_module_that_updates_a_buffer_is_not_saved(tmp_path: Path) -> None:
    need_torch()
    section = (ROOT / "docs" / "relax.md").read_text("utf-8").partition("\n## PyTorch\n")[2]
    script = section.partition("```python\n")[2].partition("```")[0]
    saved = with_tvm("-c", f"{COUNTING}\n{script}", cwd=tmp_path)
    assert saved.code == 1
    assert "TVM would lose what the module keeps between calls: sum" in saved.err
    assert not (tmp_path / "spot.relax.json").exists()


def selftest(folder: Path) -> str:
    done = with_tvm("-m", "usmp_build", "selftest", "--runs", "3", cwd=folder)
    assert done.code == 0, done.err
    return done.out


@needs_tvm
@pytest.mark.long
def test_the_figures_are_current(real_models: Path, tmp_path: Path) -> None:
    shown = (ROOT / "docs" / "relax.md").read_text("utf-8").partition("<!-- figures -->\n")[2].splitlines()
    printed = with_tvm("-m", "benchmarks.relax", real_models / "kws.tflite", cwd=tmp_path)
    assert printed.code == 0, printed.err
    assert printed.out.splitlines() == shown[:3], "run: python -m benchmarks.relax, and paste it"
