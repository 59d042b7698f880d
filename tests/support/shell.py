"""A reader's shell, for the commands that our pages show."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.processes import Done, run
from tests.support.snippets import Snippet

_MARK = "\x1e"
"""Between the outputs of commands that run in one shell: a character that nothing prints."""


@dataclass(frozen=True)
class Shell:
    """A shell in a folder.  Its `python` and `usmp-build` are those of the source tree (see the fixture `shell`)."""

    folder: Path
    env: Mapping[str, str]

    def at(self, folder: Path) -> Shell:
        """Return the same shell in another folder."""
        return replace(self, folder=folder)

    def run(self, snippet: Snippet) -> str:
        """Run the commands of a snippet; return what they printed.

        Those of `sh` must succeed.  Those of `console` must print what stands below each of them, errors included, in
        which a line `...` stands for any lines; they fail if, and only if, what stands there has the word "error".
        """
        return self._script(snippet) if snippet.language == "sh" else self._session(snippet)

    def output(self, command: str) -> str:
        """Run a command of the test's own, which must succeed; return what it printed."""
        done = self._bash(f"set -euo pipefail\n{command}")
        assert done.code == 0, f"{command} exits {done.code}:\n{done.out}"
        return done.out

    def fails(self, command: str) -> str:
        """Run a command of the test's own, which must not succeed; return what it printed."""
        done = self._bash(f"set -euo pipefail\n{command}")
        assert done.code != 0, f"{command} succeeds:\n{done.out}"
        return done.out

    def _script(self, snippet: Snippet) -> str:
        done = self._bash(f"set -euo pipefail\n{snippet.text}")
        assert done.code == 0, f"{snippet} exits {done.code}:\n{done.out}"
        return done.out

    def _session(self, snippet: Snippet) -> str:
        asked = commands(snippet)
        done = self._bash("".join(f"{command}\nprintf '{_MARK}%s{_MARK}' $?\n" for command, _ in asked))
        message = done.out.split(_MARK)
        for (command, shown), printed, code in zip(asked, message[::2], message[1::2], strict=False):
            assert matches(printed, shown), f"{snippet}: $ {command}\n{difference(shown, printed)}"
            fails = re.search(r"\berror\b", shown) is not None
            assert (code != "0") == fails, f"{snippet}: $ {command}\nexits {code}:\n{printed}"
        assert len(message) == 2 * len(asked) + 1, f"{snippet}: the shell stopped:\n{done.out}"
        return "".join(message[::2])

    def _bash(self, script: str) -> Done:
        return run(["bash", "-c", script], self.folder, self.env, merged=True)


def commands(snippet: Snippet) -> list[tuple[str, str]]:
    """Return the commands of a console, each with what stands below it; a backslash continues one in the next line."""
    typed = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", snippet.text, re.MULTILINE)
    assert snippet.text.startswith("$ "), f"{snippet}: a console begins with a command"
    return typed


def matches(printed: str, shown: str) -> bool:
    """Tell whether something was printed as it is shown: line by line, but for blanks at their ends.

    A line `...` stands for any lines.
    """
    lines = [r"(?:.*\n)*?" if line.strip() == "..." else re.escape(f"{line}\n") for line in _lines(shown)]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in _lines(printed))) is not None


def is_excerpt(snippet: Snippet, text: str) -> bool:
    """Tell whether a snippet is part of a text, indented as it may be; a line `...` stands for any lines."""
    shown = "".join(f"{line.strip()}\n" for line in ("...", *snippet.text.splitlines(), "..."))
    return matches("".join(f"{line.strip()}\n" for line in text.splitlines()), shown)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def difference(shown: str, printed: str) -> str:
    """What is shown and what was printed, line by line."""
    return "\n".join(difflib.unified_diff(shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm=""))
