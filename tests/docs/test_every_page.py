"""Every page that shows code has a runner; every block has a word that says what it is, and is that."""

import importlib
import re
from pathlib import Path

from tests.support.languages import LANGUAGES, looks_like
from tests.support.snippets import PAGES, RUNNERS, Snippet, snippets
from tests.support.tree import ROOT

for runners in sorted(Path(__file__).parent.glob("test_*.py")):
    importlib.import_module(f"tests.docs.{runners.stem}")
SNIPPETS = {page: snippets(page, (ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
SHOWN = [snippet for of_page in SNIPPETS.values() for snippet in of_page]


def test_all_code_has_one_runner() -> None:
    runners = {snippet: _runners(snippet) for snippet in SHOWN}
    assert [f"{snippet} is run twice, by {names}" for snippet, names in runners.items() if len(names) > 1] == []
    without = [str(snippet) for snippet, names in runners.items() if not names and snippet.language != "text"]
    assert without == [], "have no runner: CONTRIBUTING.md says how to write one"


def _runners(snippet: Snippet) -> list[str]:
    return [name for name in RUNNERS if name in (snippet.page, f"{snippet.page}#{snippet.section}")]


def test_every_runner_has_something_to_run() -> None:
    assert set(RUNNERS) <= {name for snippet in SHOWN for name in (snippet.page, f"{snippet.page}#{snippet.section}")}
    assert len(RUNNERS) == len(set(RUNNERS))


def test_every_block_says_what_it_is() -> None:
    nameless = [str(snippet) for snippet in SHOWN if snippet.language not in LANGUAGES]
    assert nameless == [], "need a fence with a word, such as ```console"
    fences = {page: len(re.findall(r"(?m)^ *```", (ROOT / page).read_text("utf-8"))) for page in SNIPPETS}
    assert [page for page, count in fences.items() if count != 2 * len(SNIPPETS[page])] == [], "have a fence too many"


def test_what_is_called_text_is_no_code() -> None:
    code = {str(snippet): looks_like(snippet.text) for snippet in SHOWN if snippet.language == "text"}
    assert {name: language for name, language in code.items() if language} == {}
