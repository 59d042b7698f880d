"""The pages as a site: every link and anchor leads somewhere, and what they say is searched."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.support.processes import output
from tests.support.tools import need_packages
from tests.support.tree import ROOT


def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    need_packages("mkdocs", "mkdocstrings")
    config = ROOT / "docs" / "mkdocs.yml"
    output([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", config, "-d", tmp_path / "site"])
    pages = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    html = {page.parent / ("" if page.stem == "README" else page.stem) / "index.html" for page in pages}
    assert [str(page) for page in html if not (tmp_path / "site" / "docs" / page).is_file()] == []
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert (tmp_path / "site" / "css" / "theme.css").is_file()
    assert (tmp_path / "site" / "docs" / "site.css").is_file()
    reference = (tmp_path / "site" / "docs" / "python" / "index.html").read_text(encoding="utf-8")
    assert {"usmp_build.pipeline.plan", "usmp_build.planner.solve"} <= set(re.findall(r'id="([^"]+)"', reference))
    assert {"docs/ram/", "docs/maintainers/adr/0034-rows-are-jobs/"} <= {entry["location"] for entry in index["docs"]}
