"""docs/tflm-export.md: tables are what is printed, and the header is what its C++ includes."""

import shutil

from tests.support.cli import DATA
from tests.support.processes import output
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tflm_headers import write_headers


@runs("docs/tflm-export.md")
def test_export(page: Page, shell: Shell) -> None:
    shutil.copyfile(DATA / "kitchen_a.tflite", shell.folder / "kitchen.tflite")
    shutil.copyfile(DATA / "digits.tflite", shell.folder / "digits.tflite")
    shell.run(page.take("console"))
    methods = (shell.folder / "tflm" / "tflm_resolver.h").read_text(encoding="utf-8").split("(resolver.")[1:]
    write_headers(shell.folder / "tflm", *(method.partition("(")[0] for method in methods))
    (shell.folder / "main.cc").write_text(page.take("cpp").text, encoding="utf-8")
    output(["g++", "-std=c++17", "-fsyntax-only", f"-I{shell.folder / 'tflm'}", shell.folder / "main.cc"])
    shell.run(page.take("console"))
