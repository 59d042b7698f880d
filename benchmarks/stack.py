"""The deepest chain of calls from `model_run` down, by what the compiler says of each function's stack.

gcc writes a call graph for each source (-fcallgraph-info=su).  A node whose label names bytes is a function of that
source; one without is somebody else's:

    node: { title: "model_run" label: "model_run\\nmodel.c:437:18\\n168 bytes (static)" }
    edge: { sourcename: "model_run" targetname: "bench_conv_2d_s8_row" label: "model.c:90:9" }
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tools import Unmeasured

_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*\\n(\d+) bytes \(([^)]*)\)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


@dataclass(frozen=True)
class Stack:
    """Bytes of the deepest chain, and its functions, outermost first."""

    bytes: int
    chain: tuple[str, ...]
    uncounted: tuple[str, ...]
    """Functions that are called and whose stack the compiler does not know: those of the C library."""


def deepest(objects: Sequence[Path]) -> Stack:
    """Follow the call graphs beside the objects of a model.  Raises Unmeasured when there is no fixed depth."""
    return follow("".join(path.with_suffix(".ci").read_text("utf-8") for path in objects), "model_run")


def follow(text: str, root: str) -> Stack:
    """Follow call graphs, given as one text, from a function.  Raises Unmeasured for recursion and dynamic stack."""
    frames: dict[str, int] = {}
    for name, count, kind in _NODE.findall(text):
        if kind != "static":
            raise Unmeasured(f"{name} has a stack of {kind} size")
        frames[name] = int(count)
    calls: dict[str, list[str]] = {}
    for caller, called in _EDGE.findall(text):
        calls.setdefault(caller, []).append(called)
    uncounted: set[str] = set()
    count, chain = _below(root, frames, calls, (), uncounted)
    return Stack(count, chain, tuple(sorted(uncounted)))


def _below(
    name: str, frames: dict[str, int], calls: dict[str, list[str]], above: tuple[str, ...], uncounted: set[str]
) -> tuple[int, tuple[str, ...]]:
    if name in above:
        raise Unmeasured(f"{name} calls itself")
    if name not in frames:
        uncounted.add(name)
        return 0, ()
    found = (_below(called, frames, calls, (*above, name), uncounted) for called in dict.fromkeys(calls.get(name, ())))
    count, chain = max(found, default=(0, ()), key=lambda pair: pair[0])
    return frames[name] + count, (name, *chain)
