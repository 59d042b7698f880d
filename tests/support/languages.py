"""The words of fences, and what code looks like."""

import json
import re

import tomli

LANGUAGES = frozenset("bash c cmake console cpp csv json ld make meson model python sh starlark text toml yaml".split())
"""`model` is our own textual form of models; `text` is for what is not to be run: pictures, tables, messages, forms."""

_COMMANDS = "apt-get|bazel|cd|cmake|ctest|git|make|ninja|pip|pipx|pytest|python3?|usmp-build"
_LINES = {
    "console": r"^\$ ",
    "sh": rf"^(?:\S*/)?(?:{_COMMANDS}) \S",
    "c": r";$|^#(?:include|define|if)",
    "toml": r'^\[\[?[\w."]+\]\]?$|^[\w.]+ = (?:["\[{]|\d+$)',
    "cmake, starlark or python": r"^\w+\(.*\)$",
    "python": r"^(?:from [\w.]+ )?import |^(?:def|class) \w.*:$",
}
"""Language → what some line of it looks like."""


def looks_like(text: str) -> str:
    """Return which language a text that is not to be run seems to be in; empty if it does not look like code."""
    for language, read in (("json", json.loads), ("toml", tomli.loads)):
        try:
            read(text)
        except ValueError:
            continue
        return language
    return next((language for language, line in _LINES.items() if re.search(line, text, re.MULTILINE)), "")
