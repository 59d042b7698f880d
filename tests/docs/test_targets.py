"""docs/targets.md: its manifest makes the declarations that it shows."""

from pathlib import Path

from tests.support.cli import DATA, succeed
from tests.support.page_files import generated
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

MODEL = f'[project]\nname = "meter"\n[models.digits]\npath = "{DATA.as_posix()}/digits.tflite"\n'


@runs("docs/targets.md")
def test_functions_of_the_application_are_declared(page: Page, tmp_path: Path) -> None:
    target, convolution, rule, copy = (page.take(language).text for language in ("toml", "c", "toml", "c"))
    assert convolution in (generated(tmp_path, MODEL + target + rule) / "meter_kernels.h").read_text("utf-8")

    succeed("generate", ROOT / "examples" / "accelerator" / "usmp.toml", "--out", tmp_path / "accelerator")
    assert copy in (tmp_path / "accelerator" / "meter_kernels.h").read_text("utf-8")
