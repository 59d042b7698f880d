"""The counting plugin of QEMU: how much a firmware runs, reads and writes between two places in its code."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.processes import output, run
from tests.support.tools import missing
from tests.support.tree import ROOT
from usmp_build.interfaces.kernels import Traffic

SOURCE = ROOT / "tests" / "firmware" / "counting" / "plugin.c"
"""Its first comment says what is counted and what is not."""

Range = tuple[int, int]
"""Base and size."""

_BUILD = ("cc", "-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")


@dataclass(frozen=True)
class Access:
    """What of an access was outside of the named regions, and the address of its instruction."""

    address: int
    pc: int
    size: int
    write: bool


@dataclass(frozen=True)
class Timing:
    """What decides, besides the number of instructions, how many cycles they take."""

    accesses: int = 0
    """Words, or parts of words, read or written."""
    unaligned: int = 0
    """Cycles that unaligned ones cost a Cortex-M4 in addition."""
    branches: int = 0
    """Taken; a return is one, too."""
    multiplications: int = 0
    """Of integers, as divisions are; these and the following are counted on Arm only."""
    divisions: int = 0
    float_divisions: int = 0
    """And roots."""
    float_sums: int = 0
    """Multiplications with an addition."""


@dataclass(frozen=True)
class Interval:
    """What ran up to a mark, from the mark before."""

    mark: str
    instructions: int
    regions: Mapping[str, Traffic]
    """Those that were touched."""
    outside: Traffic
    first: tuple[Access, ...]
    """The first accesses outside, at most eight."""
    timing: Timing = Timing()


def build_plugin(folder: Path) -> Path:
    """Compile the plugin into the folder."""
    plugin = folder / "counting.so"
    output([*_BUILD, SOURCE, "-o", plugin])
    return plugin


def need_plugins(qemu: str) -> None:
    """Skip the test where this QEMU cannot use the plugin."""
    if reason := obstacle(qemu):
        pytest.skip(reason)


@cache
def obstacle(qemu: str) -> str:
    """Say why this QEMU cannot use the plugin; empty if it can.

    Found out by trying, without a board: no version of QEMU says whether it was built with plugins.
    """
    if sys.platform != "linux":
        return "the counting plugin is built on Linux only"
    if reason := missing(_BUILD[0], qemu):
        return reason
    with TemporaryDirectory() as name:
        arguments = plugin_arguments(build_plugin(Path(name)), Path(name) / "out", {}, {}, ())
        command = [qemu, "-M", "none", "-display", "none", "-serial", "none", "-monitor", "stdio", *arguments]
        done = run(command, stdin="quit\n", timeout=60)
    assert "counting:" not in done.err, done.err
    return f"{qemu} cannot use the counting plugin: {done.err.strip()}" if done.code else ""


def plugin_arguments(
    plugin: Path, out: Path, regions: Mapping[str, Range], marks: Mapping[str, int], ignored: Sequence[Range]
) -> list[str]:
    """Return options for QEMU; they name a file of the plugin's arguments, which is written beside `out`.

    Where regions overlap, the first one counts.  Code may be given by symbols, with the bit that says Thumb.
    """
    lines = [f"out={out}"]
    lines += [f"region={name}:{base:#x}:{size:#x}" for name, (base, size) in regions.items()]
    lines += [f"mark={name}:{address & ~1:#x}" for name, address in marks.items()]
    lines += [f"ignore={base & ~1:#x}:{size:#x}" for base, size in ignored]
    config = out.with_name(f"{out.name}.config")
    config.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    doubled = [str(path).replace(",", ",,") for path in (plugin, config)]
    return ["-plugin", f"{doubled[0]},config={doubled[1]}"]


def read_intervals(path: Path) -> list[Interval]:
    """Read what the plugin wrote.  Fails the test if QEMU did not come to its end."""
    intervals = [_interval(json.loads(line)) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert intervals, f"{path.name} is empty"
    assert intervals[-1].mark == "end", f"{path.name} stops after the mark {intervals[-1].mark}"
    return intervals


def _interval(entry: dict[str, Any]) -> Interval:
    first = (Access(int(a["address"], 16), int(a["pc"], 16), a["size"], a["write"]) for a in entry["outside"]["first"])
    regions = {name: Traffic(**traffic) for name, traffic in entry["regions"].items()}
    outside = Traffic(entry["outside"]["read"], entry["outside"]["written"])
    timing = Timing(**entry["timing"])
    return Interval(entry["mark"], entry["instructions"], regions, outside, tuple(first), timing)
