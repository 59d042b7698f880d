"""The snippets of our pages: blocks of code in Markdown, which the runners in tests/docs execute in their order."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from tests.support.tree import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
)
"""The pages for readers, from the root of the tree."""

_BLOCK = re.compile(
    r"""
    ^(?P<indent>[ ]*)```(?P<language>[^\n]*)\n(?P<fenced>.*?)^[ ]*```$
    | (?<=\n\n)(?P<indented>(?:[ ]{4}[^\n]*\n\n*)+)
    | ^\#+[ ](?P<heading>[^\n]*)$
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_HERE = re.compile(r"(?m)^ *SNIPPET\n")


@dataclass(frozen=True)
class Snippet:
    """One block of code."""

    page: str
    """Its page, from the root of the tree."""
    line: int
    """Where its text begins, counted from 1."""
    section: str
    """The anchor of the heading that it stands below."""
    language: str
    """The word of its fence; empty where that has none, and for indented code."""
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def within(self, frame: str) -> str:
        """Return a C program: a frame, its line `SNIPPET` replaced by this; the compiler names the page's lines."""
        before, after = _HERE.split(frame, maxsplit=1)
        return before + self.as_c() + after

    def as_c(self) -> str:
        """Return C of which the compiler knows that it is of the page."""
        return f'#line {self.line} "{self.page}"\n{self.text}'


def snippets(page: str, text: str) -> list[Snippet]:
    """Return the blocks of a page, from its top to its end."""
    blocks, section = [], ""
    for match in _BLOCK.finditer(text):
        if match["heading"] is not None:
            section = anchor(match["heading"])
            continue
        kind = "indented" if match["fenced"] is None else "fenced"
        line = text.count("\n", 0, match.start(kind)) + 1
        margin = match["indent"] if kind == "fenced" else "    "
        code = re.sub(f"(?m)^{margin}", "", match[kind].rstrip("\n")) + "\n"
        blocks.append(Snippet(page, line, section, (match["language"] or "").strip(), code))
    return blocks


def anchor(heading: str) -> str:
    """Return what a link to a heading ends with: "In the manifest" is `#in-the-manifest`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Page:
    """The snippets of a page, or of one of its sections: a runner takes one after the other, until none is left."""

    def __init__(self, name: str, shown: Iterable[Snippet] | None = None) -> None:
        """`name` is "docs/caches.md" or, for one section, "docs/caches.md#in-the-manifest".

        `shown` takes the place of what its file shows.
        """
        self.name = name
        path, _, section = name.partition("#")
        if shown is None:
            shown = snippets(path, (ROOT / path).read_text(encoding="utf-8"))
        self._left = [snippet for snippet in shown if section in ("", snippet.section)]

    def take(self, language: str) -> Snippet:
        """Return the next snippet, which must be in this language; pictures (`text`) are passed by if not wanted."""
        while self._left and self._left[0].language == "text" != language:
            del self._left[0]
        assert self._left, f"no snippet is left, but {language} is wanted"
        snippet = self._left.pop(0)
        assert snippet.language == language, f"{snippet} is {snippet.language}, but {language} is wanted"
        print(f"{snippet}: {language}")  # pytest shows it of a runner that fails
        return snippet

    def rest(self) -> list[Snippet]:
        """Return the snippets that must still be taken: all that are left, but for pictures."""
        return [snippet for snippet in self._left if snippet.language != "text"]

    def check_that_all_were_taken(self) -> None:
        """Fail the runner if the page shows code that it did not take."""
        assert not self.rest(), f"the runner did not take {', '.join(map(str, self.rest()))}"


RUNNERS: list[str] = []
"""What the runners that have been imported run: names of pages, as `Page` takes them."""


def runs(*names: str) -> pytest.MarkDecorator:
    """Make a test the runner of these pages or sections: it gets each of them as `page`, and must take all snippets."""
    RUNNERS.extend(names)
    return pytest.mark.parametrize("page", names, indirect=True)
