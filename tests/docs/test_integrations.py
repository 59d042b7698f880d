"""docs/integrations.md: applications of frameworks build, against stand-ins where the page says so."""

from __future__ import annotations

import re

from tests.support.cli import RO, RW, tables
from tests.support.files import write_files
from tests.support.page_files import give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need
from tests.support.tree import ROOT

POOLS = {"sram": f'{RW}region = "RAM"\n', "flash": f'{RO}region = "FLASH"\n'}
MANIFEST = tables("doorbell", POOLS, {"kws": 'path = "models/kws.tflite"\n'})
MAIN = '#include "kws.h"\nint main(void) { return kws_run(); }\n'


@runs("docs/integrations.md#zephyr")
def test_zephyr(page: Page, shell: Shell) -> None:
    need("arm-none-eabi-gcc")
    write_files(shell.folder, {"CMakeLists.txt": page.take("cmake").text, "usmp.toml": MANIFEST, "main.c": MAIN})
    give_models(shell.folder, kws="digits")
    stand_in = ROOT / "tests" / "support" / "stand_ins" / "zephyr"
    where = '-Dusmp_build_DIR="$(python -m usmp_build --cmake-dir)"'
    shell.output(f"ZEPHYR_BASE={stand_in} cmake -B build {where} && cmake --build build")
    text = (ROOT / "docs" / "integrations.md").read_text("utf-8")
    (check,) = re.findall("`(usmp-build check .*)`", text)
    assert "every pool is as planned" in shell.output(check)


@runs("docs/integrations.md#pools-from-files-of-the-project")
def test_pools_of_a_linker_script(page: Page, shell: Shell) -> None:
    give_models(shell.folder, kws="digits")
    init, script, pools = page.take("console"), page.take("ld"), page.take("toml")
    (shell.folder / "board.ld").write_text(script.text, encoding="utf-8")
    shell.run(init)
    assert pools.text in (shell.folder / "usmp.toml").read_text("utf-8")
    shell.output("usmp-build plan")
