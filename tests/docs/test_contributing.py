"""CONTRIBUTING.md: its commands are those that CI runs of README.md, and the runner that it shows is one."""

from pathlib import Path

from tests.support.ci import commands, installing
from tests.support.snippets import Page, runs


@runs("CONTRIBUTING.md")
def test_what_contributors_do(page: Page) -> None:
    assert commands(page.take("sh").text) <= installing()
    assert Path(__file__).with_name("test_state.py").read_text("utf-8").endswith(page.take("python").text)
