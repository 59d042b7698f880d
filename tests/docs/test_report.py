"""docs/report.md: its commands write what it says, and its pictures are those that they would write."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA, DIGITS, RO, RW, call, manifest, tables
from tests.support.report_pages import texts, tree
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

_FAMILIES = (ROOT / "tests" / "models").as_posix()
FIVE = {
    "denoiser": f'path = "{_FAMILIES}/denoiser_int8.tflite"\n',
    "detector": f'path = "{_FAMILIES}/yolo_int8.tflite"\n',
    "digits": DIGITS,
    "scene": f'path = "{_FAMILIES}/efficientnet_int8.tflite"\n',
    "segments": f'path = "{_FAMILIES}/unet_int8.tflite"\n',
}
PICTURES = {"report-five.svg": ("4 KiB", FIVE), "report-rows.svg": ("1 KiB", {"digits": DIGITS})}


@runs("docs/report.md#the-report-and-reviews")
def test_the_page_and_the_folder(page: Page, shell: Shell) -> None:
    pools = {"sram": RW + 'size = "4 KiB"\n', "flash": RO}
    manifest(shell.folder, tables("doorbell", pools, {"digits": 'path = "digits.tflite"\n'}))
    shutil.copyfile(DATA / "digits.tflite", shell.folder / "digits.tflite")
    shell.run(page.take("console"))
    assert "What would change" in texts(tree((shell.folder / "report.html").read_text(encoding="utf-8")))
    shell.output("usmp-build generate")
    shell.run(page.take("console"))
    assert "What would change" not in texts(tree((shell.folder / "report.html").read_text(encoding="utf-8")))
    assert (shell.folder / "sram.svg").is_file()


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_current(name: str, tmp_path: Path) -> None:
    """USMP_BLESS=1 writes them."""
    size, models = PICTURES[name]
    usmp = manifest(tmp_path, tables("camera", {"sram": RW + f'size = "{size}"\n', "flash": RO}, models))
    assert call("report", usmp, "--svg", "sram", "--out", tmp_path / name).code == 0
    picture = ROOT / "docs" / name
    if os.environ.get("USMP_BLESS"):
        shutil.copyfile(tmp_path / name, picture)
    assert (tmp_path / name).read_bytes() == picture.read_bytes()
