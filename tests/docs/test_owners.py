"""docs/owners.md: pools that the application has, and passes, in C; and weights that it exchanges."""

import shutil
from pathlib import Path

from tests.support.cli import DATA
from tests.support.doorbell import HEAD, application, program_output
from tests.support.page_files import generated
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

VAD = f'[models.vad]\npath = "{DATA.as_posix()}/odd_even.tflite"\n'


@runs("docs/owners.md")
def test_pools_of_the_application(page: Page, shell: Shell) -> None:
    folder, pools = shell.folder, page.take("toml").text
    arena, run = page.take("c"), page.take("c")
    out = generated(folder, pools.partition("[pools.weights]")[0] + HEAD)
    printed = program_output(out, folder, application(run, above=[arena]))
    assert printed

    out = generated(folder, pools + HEAD + VAD)
    weights, exchanged = page.take("c"), page.take("c")
    workspace = run.text.splitlines(keepends=True)[0]
    assert program_output(out, folder, application(workspace, exchanged, above=[arena, weights])) == printed

    shutil.copyfile(DATA / "digits.tflite", folder / "retrained.tflite")
    shell.run(page.take("sh"))
    assert same(folder / "update" / "doorbell_weights.bin", out / "doorbell_weights.bin")


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()
