"""What the docs say is so: error codes, generated pages, links; and they are short."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.snippets import PAGES as NAMES
from tests.support.tree import ROOT

PAGES = [ROOT / name for name in NAMES]


def codes_in(text: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, text))


def test_every_error_code_is_explained_and_every_explanation_is_of_a_code() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "usmp_build").rglob("*.py"))
    docs = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "errors").glob("*.md"))
    assert codes_in(source, r'"([A-Z][1-9]\d\d)"') == codes_in(docs, r"(?m)^##+ .*?\b([A-Z][1-9]\d\d)\b")


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "errors").glob("*.md")), ids=lambda page: page.stem)
def test_the_title_of_a_page_of_errors_says_which_they_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    ranges = re.findall(r"([A-Z]\d\d\d)(?: to ([A-Z]\d\d\d))?", text.partition("\n")[0])
    codes = codes_in(text, r"(?m)^##+ .*?\b([A-Z][1-9]\d\d)\b")
    assert {code for ends in ranges for code in ends if code} <= codes
    assert all(any(first <= code <= (last or first) for first, last in ranges) for code in codes)


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("schemas/usmp.schema.json", ["schema"]),
        ("schemas/plan.schema.json", ["schema", "--plan"]),
        ("schemas/problem.schema.json", ["schema", "--problem"]),
        ("schemas/solution.schema.json", ["schema", "--solution"]),
        ("schemas/usmp.program.schema.json", ["schema", "--program"]),
        ("docs/manifest.md", ["schema", "--page"]),
    ],
)
def test_generated_page_is_current(page: str, command: list[str]) -> None:
    current = (ROOT / page).read_text(encoding="utf-8") == call(*command).out
    assert current, f"run: usmp-build {' '.join(command)} > {page}"


def test_links_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in [*PAGES, *ROOT.glob("benchmarks/*.md")]
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    local = [(page, target) for page, target in links if not target.startswith(("http:", "https:"))]
    assert [(page.name, target) for page, target in local if not (page.parent / target).exists()] == []


def test_prose_has_lines_of_120_columns_at_most() -> None:
    assert [f"{page.relative_to(ROOT)}:{number}" for page in PAGES for number in _long_lines(page)] == []


def _long_lines(page: Path) -> Iterator[int]:
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        is_prose = not fenced and not line.startswith(("    ", "|", "#", "<!--"))
        if is_prose and len(line) > 120:
            yield number


def test_no_merge_has_left_its_marks() -> None:
    marks = re.compile(r"(?m)^(?:<<<<<<<|=======|>>>>>>>)")
    assert [page.name for page in PAGES if marks.search(page.read_text(encoding="utf-8"))] == []


def test_files_that_the_architecture_names_exist() -> None:
    text = (ROOT / "docs" / "maintainers" / "architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(?:usmp_build/)?([a-z_]+/[a-z_/.]*|[a-z_]+\.py|tests/[\w/.]+)`", text):
        places = [ROOT / name, ROOT / "usmp_build" / name]
        assert any(place.exists() for place in places), name


def test_the_architecture_names_every_module() -> None:
    text = (ROOT / "docs" / "maintainers" / "architecture.md").read_text(encoding="utf-8")
    for path in (ROOT / "usmp_build").iterdir():
        if not path.name.startswith(("_", "py.typed")):
            assert f"`{path.name}{'' if path.suffix else '/'}" in text, path.name


def test_readme_has_650_words_at_most() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    without_code = re.sub(r"(?ms)^```.*?^```$", "", text)
    prose = re.sub(r"\]\([^)]*\)|(?m:^\|[-:|]*$)|\|", " ", without_code)
    words = [word for word in prose.split() if re.search(r"\w", word)]
    assert len(words) <= 650
