"""The projects below examples/, and what their READMEs show."""

from __future__ import annotations

import re

from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


def printed(example: str) -> list[str]:
    """The blocks of an example's README that are no commands: what its program prints."""
    blocks = re.findall(r"(?ms)^```\n(.*?)^```$", (EXAMPLES / example / "README.md").read_text(encoding="utf-8"))
    return [block for block in blocks if not block.startswith(("cmake ", "python "))]
