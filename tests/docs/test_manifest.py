"""docs/manifest.md: the smallest manifest is planned; of the full one, only what comes later is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.page_files import generated, give_models
from tests.support.snippets import Page, runs
from usmp_build.errors import ManifestError, Span
from usmp_build.manifest import load, resolve


@runs("docs/manifest.md")
def test_both_examples(page: Page, tmp_path: Path) -> None:
    give_models(tmp_path, kws="digits")
    generated(tmp_path, page.take("toml").text)

    lines = page.take("toml").text.splitlines(keepends=True)
    later = [number for number, line in enumerate(lines, 1) if line.endswith("(later)\n")]
    with pytest.raises(ManifestError) as refused:
        resolve(load("".join(lines).encode(), "usmp.toml"))
    assert {diagnostic.code for diagnostic in refused.value.diagnostics} == {"M120"}
    assert [place.line for d in refused.value.diagnostics if isinstance(place := d.place, Span)] == later

    now = "".join(line for number, line in enumerate(lines, 1) if number not in later)
    assert [model.name for model in resolve(load(now.encode(), "usmp.toml")).models] == ["kws", "sleep", "vad"]
