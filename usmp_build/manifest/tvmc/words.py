"""Splits a TVMC command line as a shell does: flags with their values, and files."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Sequence

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.frozen import frozen

RFC = "--usmp-"
"""What flags of USMP's RFC begin with."""
_ALONE = frozenset(["-h", "--help", "-v", "--verbose"])
"""Flags without a value."""
_ENDS = frozenset(["&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"])
"""Words that end a command in a shell."""
_OTHER_VERBS = ("micro", "run", "tune")
"""Verbs of TVMC other than `compile`."""
_LONGEST = 1 << 14
"""Most characters of a command line."""
_MODELS = (".tflite", ".onnx", ".pb", ".pbtxt", ".pdmodel", ".h5", ".pth", ".relay", ".json", ".model")
"""Suffixes of models: such a word is not taken as the value of an unknown flag."""


@frozen
class Flag:
    """A flag and its value; the value is empty for flags that have none."""

    name: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name


@frozen
class Words:
    """Flags in their order, and words that are no flags: files of models."""

    flags: tuple[Flag, ...]
    files: tuple[str, ...]

    def last(self, name: str) -> str:
        """Return the last value of a flag; empty when it is missing."""
        return next((flag.value for flag in reversed(self.flags) if flag.name == name), "")


def read_words(text: str, valued: frozenset[str]) -> Words:
    """Split a command line, with or without the `tvmc compile` before it.

    `valued` are flags that always have a value.  Raises UsageError (U225) for quotes that are not closed, and for a
    flag whose value is missing.
    """
    words = deque(_arguments(_split(text)))
    flags: list[Flag] = []
    files: list[str] = []
    while words:
        word = words.popleft()
        if word == "--":
            files += words
            break
        if not word.startswith("-") or word == "-":
            files.append(word)
        else:
            flags.append(_flag(word, words, valued))
    for file in files:
        if not file.strip() or not file.isprintable():
            message = f"{quoted(file)} of TVMC's command line is neither a flag nor a file"
            raise UsageError(Diagnostic("U225", message, help="is a quote missing? Names of models can be read"))
    return Words(tuple(flags), tuple(dict.fromkeys(files)))


def _split(text: str) -> list[str]:
    if len(text) > _LONGEST:
        message = f"--from-tvmc is longer than {_LONGEST:,} characters"
        raise UsageError(Diagnostic("U225", message, help="leave out what is not about memory"))
    joined = re.sub(r"\\\r?\n", "", text)  # a backslash at the end of a line continues it
    try:
        return shlex.split(joined)
    except ValueError as error:
        message = f"--from-tvmc is not a command line: {str(error).lower()}"
        raise UsageError(Diagnostic("U225", message, help="close its quotes, as for a shell")) from None


def _arguments(words: Sequence[str]) -> list[str]:
    """Return the arguments of TVMC, without the words that start it, and without commands after it."""
    end = next((position for position, word in enumerate(words) if word in _ENDS), len(words))
    start = 0
    for position, word in enumerate(words[: min(end, 8)]):
        if re.split(r"[/.\\]", word)[-1] == "tvmc":
            start = position + 1
    verb = words[start] if start < end else ""
    if start and verb in _OTHER_VERBS:
        message = f"`tvmc {verb}` has no flags for memory"
        raise UsageError(Diagnostic("U225", message, help="give the line with `tvmc compile`"))
    if verb == "compile":
        start += 1
    return list(words[start:end])


def _flag(word: str, rest: deque[str], valued: frozenset[str]) -> Flag:
    """Return a flag with its value, which is removed from the rest where it is a separate word.

    The RFC writes some of its flags with a space behind "=".
    """
    name, equals, value = word.partition("=")
    if equals and word.startswith("--") and (value or not name.startswith(RFC)):
        return Flag(name, value)
    if not word.startswith("--"):
        name, value = word[:2], word[2:]
    if value or name in _ALONE:
        return Flag(name, value)
    if rest and (name in valued or _is_value(rest[0])):
        return Flag(name, rest.popleft())
    if name in valued:
        message = f"{quoted(name)} of TVMC has no value"
        raise UsageError(Diagnostic("U225", message, help=f"write {name}=VALUE, or leave it out"))
    return Flag(name)


def _is_value(word: str) -> bool:
    return not word.startswith("-") and not word.lower().endswith(_MODELS)
