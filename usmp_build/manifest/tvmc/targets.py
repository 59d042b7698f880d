"""Reads targets as TVM writes them: `ethos-u -accelerator_config=ethos-u55-256, cmsis-nn, c -mcpu=cortex-m55`."""

from __future__ import annotations

import json
import re

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsageError

HOSTS = ("c", "llvm")
"""Targets of the processor that runs everything not placed elsewhere."""

_TOKEN = re.compile(
    r"""--?[\w-]+(?:=(?:"[^"]*"|'[^']*'|[^\s,"']+(?:,[^\s,"']+)*)?)?|"[^"]*"|'[^']*'|[^\s,"']+|,|["']""", re.ASCII
)
"""An option with its value, which may have commas inside; a word; a comma between two targets."""


def target_names(text: str) -> tuple[str, ...]:
    """Return the names of the targets, without their options and without repetitions.

    >>> target_names("ethos-u -accelerator_config=ethos-u55-256, cmsis-nn, c -mattr=+fp,+mve")
    ('ethos-u', 'cmsis-nn', 'c')
    >>> target_names('{"kind": "llvm", "mcpu": "cortex-m55"}')
    ('llvm',)

    Raises UsageError (U227) when there is a target without a name.
    """
    names = _of_json(text) if text.lstrip()[:1] in ("{", "[") else _of_text(text)
    if not names or not all(names):
        help_ = 'write for example --target="c", or the pools\' targets alone'
        raise UsageError(Diagnostic("U227", f"--target={quoted(text)} of TVMC names no target", help=help_))
    return tuple(dict.fromkeys(names))


def _of_text(text: str) -> list[str]:
    names = [""]
    for token in _TOKEN.findall(text):
        if token == ",":
            names.append("")
        elif not names[-1] and not token.startswith("-"):
            names[-1] = token.strip("\"'")
    return names


def _of_json(text: str) -> list[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    rows = document if isinstance(document, list) else [document]
    return [str(row.get("kind", "")) if isinstance(row, dict) else str(row) for row in rows]
