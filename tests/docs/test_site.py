"""The pages as a site: every link and anchor leads somewhere, and what they say is searched."""

import json
import re
import sys
from pathlib import Path

import usmp_build
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
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'(?:src|href)="([^":]+\.(?:js|css))"', home)
    assert {"search/main.js", "css/theme.css"} <= set(loaded)
    assert [name for name in loaded if not (tmp_path / "site" / name).is_file()] == []
    assert f"usmp_build {usmp_build.__version__}" in home
    reference = (tmp_path / "site" / "docs" / "python" / "index.html").read_text(encoding="utf-8")
    assert {"usmp_build.pipeline.plan", "usmp_build.planner.solve"} <= set(re.findall(r'id="([^"]+)"', reference))
    assert {"docs/ram/", "docs/maintainers/adr/0034-rows-are-jobs/"} <= {entry["location"] for entry in index["docs"]}
