"""Every page that shows code has a runner; every block has a word that says what it is, and is that."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.support.languages import LANGUAGES, looks_like
from tests.support.snippets import PAGES, RUNNERS, snippets
from tests.support.tree import ROOT

for runners in sorted(Path(__file__).parent.glob("test_*.py")):
    importlib.import_module(f"tests.docs.{runners.stem}")
SNIPPETS = {page: snippets(page, (ROOT / page).read_text(encoding="utf-8")) for page in PAGES}


@pytest.mark.parametrize("page", SNIPPETS)
def test_its_code_has_a_runner(page: str) -> None:
    for snippet in SNIPPETS[page]:
        runners = [name for name in RUNNERS if name in (page, f"{page}#{snippet.section}")]
        assert len(runners) <= 1, f"{snippet} is run twice, by {runners}"
        assert runners or snippet.language == "text", f"{snippet} has no runner: CONTRIBUTING.md says how to write one"


def test_every_runner_has_something_to_run() -> None:
    shown = [snippet for found in SNIPPETS.values() for snippet in found]
    assert set(RUNNERS) <= {name for snippet in shown for name in (snippet.page, f"{snippet.page}#{snippet.section}")}
    assert len(RUNNERS) == len(set(RUNNERS))


@pytest.mark.parametrize("page", SNIPPETS)
def test_every_block_says_what_it_is(page: str) -> None:
    for snippet in SNIPPETS[page]:
        assert snippet.language in LANGUAGES, f"{snippet} needs a fence with a word, such as ```console"
    fences = re.findall(r"(?m)^ *```", (ROOT / page).read_text(encoding="utf-8"))
    assert len(fences) == 2 * len(SNIPPETS[page]), f"a fence of {page} is not closed"


@pytest.mark.parametrize("page", SNIPPETS)
def test_what_is_called_text_is_no_code(page: str) -> None:
    for snippet in SNIPPETS[page]:
        if snippet.language == "text":
            assert not looks_like(snippet.text), f"{snippet} looks like {looks_like(snippet.text)}"
