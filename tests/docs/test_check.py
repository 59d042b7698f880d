"""docs/check.md: an image that is as planned passes, and one that is not is told as the page shows."""

import re
from pathlib import Path

from tests.support.firmware import BOARDS, build, need_board, rebuild
from tests.support.shell import Shell
from tests.support.snippets import Page, runs


@runs("docs/check.md")
def test_the_image_is_checked(page: Page, shell: Shell, clone: Path) -> None:
    need_board(BOARDS["m7"])
    folder = shell.folder / "build"
    build(BOARDS["m7"], folder, manifest=clone / "examples" / "regions" / "usmp.toml")
    shell.run(page.take("console"))

    fragment = folder / "plan.usmp" / "firmware.ld"
    elsewhere = re.sub(r'(?m)^ASSERT.*is not at its origin"\)$', "", fragment.read_text("utf-8"))
    elsewhere = elsewhere.replace(".dtcm 0x20010000", ".dtcm 0x60000000").replace("} > DTCM", "} > PSRAM")
    fragment.write_text(elsewhere, encoding="utf-8")
    assert rebuild(folder)[0] != 0
    shell.run(page.take("console"))
