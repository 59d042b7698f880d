"""Finds what is stale in a folder of generated files: how it differs from a bundle.

The folder is read and not changed.  It is untrusted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal, get_args

from usmp_build.errors import printable
from usmp_build.frozen import frozen
from usmp_build.output.bundle import Bundle, OutputFile
from usmp_build.output.provenance import says_generated, staged_files

Kind = Literal["changed", "missing", "left over"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_WITH_NOTICE = (".c", ".h", ".inc", ".ld", ".cmake", ".mk", ".bazel", ".bzl")
"""Suffixes of the files that have our notice."""
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".s")
_CONTEXT = 3
"""Equal lines shown before and after differing ones."""
_COMPARED = 2000
"""Most lines compared, from the first that differs: time grows with the square of their number."""
_SHOWN = 200
"""Most lines shown of the diff of one file: retrained weights fill thousands."""
_LONGEST = 300
"""Most characters shown of a line."""
_HUNK = re.compile(r"@@ -(\d+)(\S*) \+(\d+)")


@frozen
class Difference:
    """One file that differs from the generated one."""

    path: str
    kind: Kind
    text: str
    """A sentence, and for changed texts a unified diff; whole lines."""
    line_ends_only: bool = False


def differences(bundle: Bundle, folder: str | Path) -> Iterator[Difference]:
    """Yield the differences between a folder and a bundle; none when it is up to date.

    Files left by an earlier plan count as well: a build of `*.c` would compile them.
    """
    root = Path(folder)
    for file in bundle.files:
        if difference := _difference(file, root / file.path):
            yield difference
    for name in leftovers(bundle, root):
        yield Difference(name, "left over", f"{printable(name)} is left from an earlier plan\n")
    for path in staged_files(root):
        yield Difference(path.name, "left over", f"{printable(path.name)} is left from a run that was stopped\n")


def leftovers(bundle: Bundle, folder: str | Path) -> list[str]:
    """Return the names of files in a folder, sorted, that we generated, but that are not in this bundle.

    They have our notice, or they are bytes beside a file that has it.
    """
    others = _others(bundle, Path(folder))
    ours = [path for path in others if path.suffix in _WITH_NOTICE and says_generated(path)]
    bytes_of = {path.with_suffix(".bin") for path in ours if path.suffix == ".inc"}
    return sorted(path.name for path in others if path in ours or path in bytes_of)


def other_sources(bundle: Bundle, folder: str | Path) -> list[str]:
    """Return the names of sources in a folder, sorted, that we did not generate: builds of `*.c` take them."""
    others = (path for path in _others(bundle, Path(folder)) if path.suffix.lower() in _SOURCES)
    return sorted(path.name for path in others if not says_generated(path))


def _others(bundle: Bundle, root: Path) -> list[Path]:
    """Return the files in a folder that are not in this bundle."""
    expected = {file.path.lower(): root / file.path for file in bundle.files}
    paths = root.iterdir() if root.is_dir() else ()
    return [path for path in paths if path.is_file() and not _is_one_of(expected, path)]


def _is_one_of(expected: Mapping[str, Path], path: Path) -> bool:
    """Return whether a file is expected, also on disks that ignore case."""
    same_name = expected.get(path.name.lower())
    return same_name is not None and (same_name == path or (same_name.exists() and same_name.samefile(path)))


def _difference(file: OutputFile, path: Path) -> Difference | None:
    if not path.is_file():
        odd = "is a folder" if path.is_dir() else "is not a file" if path.is_symlink() or path.exists() else ""
        kind: Kind = "changed" if odd else "missing"
        return Difference(file.path, kind, f"{file.path} {odd or 'is missing'}\n")
    try:
        old = path.read_bytes()
    except OSError as error:
        return Difference(file.path, "changed", f"{file.path} cannot be read: {_reason(error)}\n")
    if old == file.data:
        return None
    if isinstance(file.content, bytes):
        return Difference(file.path, "changed", f"{file.path} differs\n")
    if old.replace(b"\r\n", b"\n") == file.data:
        return Difference(file.path, "changed", f"{file.path} differs in line ends only\n", line_ends_only=True)
    text = "\n".join([f"{file.path} differs", *_unified(_lines(old), _lines(file.data), file.path)])
    return Difference(file.path, "changed", f"{text}\n")


def _lines(data: bytes) -> list[str]:
    """Return the lines of a file for display: every byte is visible, and none can harm a terminal."""
    text = data.decode("utf-8", "backslashreplace")
    *lines, last = text.split("\n")
    lines += [f"{last} (no line end)"] if last else []
    return ["\t".join(map(printable, line[:_LONGEST].split("\t"))) for line in lines]


def _unified(before: Sequence[str], after: Sequence[str], path: str) -> Iterator[str]:
    """Yield a unified diff, shortened to the first differing lines when there are many."""
    head = _common_prefix(before, after)
    tail = min(_common_prefix(before[::-1], after[::-1]), len(before) - head, len(after) - head)
    start, rest = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old, new = (lines[start : len(lines) - rest] for lines in (before, after))
    diff = difflib.unified_diff(
        old[:_COMPARED], new[:_COMPARED], f"{path} (on disk)", f"{path} (generated)", n=_CONTEXT, lineterm=""
    )
    shown = list(diff)
    for line in shown[:_SHOWN]:
        yield _HUNK.sub(lambda hunk: f"@@ -{int(hunk[1]) + start}{hunk[2]} +{int(hunk[3]) + start}", line, count=1)
    if len(shown) > _SHOWN or max(len(old), len(new)) > _COMPARED:
        yield "... and more lines of this file"


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
