"""Reads targets as TVM writes them: `ethos-u -accelerator_config=ethos-u55-256, cmsis-nn, c -mcpu=cortex-m55`."""

from __future__ import annotations

import json
import re
from typing import Any

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.manifest.instructions import isa_of
from usmp_build.manifest.tvmc.words import Flag, Words
from usmp_build.request import Isa

CMSIS_NN = "cmsis-nn"
"""A target of TVM that is the processor with other kernels."""
PROCESSOR = ("c", "llvm", CMSIS_NN)
"""Targets of the processor that runs everything not placed elsewhere."""
_OPTIONS = ("mcpu", "march")
"""Options of targets that say which processor it is."""

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


def instructions(words: Words) -> tuple[Isa, frozenset[Flag]]:
    """Return what the processor has according to options of its targets, and the flags that say so.

    The last option counts.  What is no Arm processor with DSP extension or Helium is portable, and no flag says so.
    """
    options = _processors_of_text(words.last("--target"))
    flags = [(flag, f"-{option}={flag.value}") for flag in words.flags for option in _OPTIONS if _names(flag, option)]
    isas = [isa_of(word) or Isa.PORTABLE for word in (*options, *(word for _, word in flags))]
    isa = isas[-1] if isas else Isa.PORTABLE
    return isa, frozenset(flag for flag, word in flags if isa is not Isa.PORTABLE and isa_of(word) is isa)


def _names(flag: Flag, option: str) -> bool:
    return flag.name in [f"--target-{target}-{option}" for target in PROCESSOR]


def _processors_of_text(text: str) -> list[str]:
    """Return the options of the processor in a value of --target, such as "-mcpu=cortex-m55"."""
    if text.lstrip()[:1] in ("{", "["):
        pairs = ((str(row.get("kind")), row) for row in _rows_of_json(text) if isinstance(row, dict))
        return [f"-{key}={row[key]}" for kind, row in pairs for key in _OPTIONS if kind in PROCESSOR and key in row]
    kind, options = "", []
    for token in _TOKEN.findall(text):
        if token == ",":
            kind = ""
        elif not token.startswith("-"):
            kind = kind or token.strip("\"'")
        elif kind in PROCESSOR and re.match(r"--?(mcpu|march)=", token):
            options.append("-" + token.lstrip("-").replace('"', "").replace("'", ""))
    return options


def _of_text(text: str) -> list[str]:
    names = [""]
    for token in _TOKEN.findall(text):
        if token == ",":
            names.append("")
        elif not names[-1] and not token.startswith("-"):
            names[-1] = token.strip("\"'")
    return names


def _of_json(text: str) -> list[str]:
    return [str(row.get("kind", "")) if isinstance(row, dict) else str(row) for row in _rows_of_json(text)]


def _rows_of_json(text: str) -> list[Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return document if isinstance(document, list) else [document]
