"""Bytes of code: text and read-only data of the generated C and its kernels, without constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figures
from benchmarks.tools import Unmeasured, run

_SECTION = re.compile(r"(?m)^(\.\S+) +(\d+) +\d+ *$")


def size(objects: Sequence[Path]) -> Figures:
    """Add up the sections of objects.  Raises Unmeasured when there is writable data, which there must not be."""
    listed = run(["arm-none-eabi-size", "-A", "-d", *map(str, objects)]).decode()
    sections = [(name, int(count)) for name, count in _SECTION.findall(listed)]
    if any(count for name, count in sections if name.startswith((".data", ".bss"))):
        raise Unmeasured("the generated C has writable data of its own")
    return {"text": _sum(sections, ".text"), "rodata": _sum(sections, ".rodata")}


def _sum(sections: list[tuple[str, int]], prefix: str) -> int:
    return sum(count for name, count in sections if name.startswith(prefix))
