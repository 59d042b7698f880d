"""What an error code means: its section of docs/errors/, as plain text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.installation import explanations

_PAGES = "docs/errors"
"""The folder of the pages, as their links go from it."""


def is_code(word: str) -> bool:
    """Return whether a word has the form of an error code."""
    return re.fullmatch(r"[A-Za-z]\d{3}", word) is not None


def explanation(word: str) -> str:
    """Return what docs/errors/ says of a code; raise UsageError when no error has it."""
    sections = dict(_sections())
    code = word.upper()
    if code in sections:
        return sections[code]
    family = [each for each in sections if each[0] == code[0]]
    letters = ", ".join(sorted({each[0] for each in sections}))
    known = f"did you mean {_nearest(code, family)}?" if family else f"codes begin with {letters}."
    help_ = f"{known} For a tensor of this name, name the manifest, too: usmp-build explain {word} usmp.toml"
    raise UsageError(Diagnostic("U217", f"no error has the code {code}", help=help_))


def _nearest(code: str, family: list[str]) -> str:
    return min(family, key=lambda each: abs(int(each[1:]) - int(code[1:])))


def _sections() -> Iterator[tuple[str, str]]:
    """Yield each code with its section: from its heading to the next one of the same level or above."""
    for page in sorted(explanations().glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"(?ms)^(##+) (([A-Z]\d{3}) .*?)(?=^##?#? |\Z)", text):
            yield match[3], _plain(match[2])


def _plain(section: str) -> str:
    text = re.sub(r"(?m)^#+ ", "", section)
    return re.sub(r"\[([^]]*)\]\(([^)]*)\)", _reference, text).rstrip()


def _reference(link: re.Match[str]) -> str:
    text, target = re.sub(r"\s+", " ", link[1]), link[2].partition("#")[0]
    return f"{text} ({posixpath.normpath(posixpath.join(_PAGES, target))})" if target else text
