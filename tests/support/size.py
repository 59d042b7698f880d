"""How large the project is: `python -m tests.support.size` prints what `tests/architecture/budget.toml` bounds.

Lines are all lines of a file.  Tokens are those of Python without comments, docstrings and line ends: what has to be
read, however it is laid out.
"""

import ast
import re
import subprocess
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.support.tree import ROOT

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
_PAGES = re.compile(r"docs/.*\.md|README\.md|CONTRIBUTING\.md|SECURITY\.md")


@cache
def sizes() -> dict[str, int]:
    """Return each measure by name."""
    package, tests = _files(r"usmp_build/.*\.py"), _files(r"tests/.*\.py")
    return {
        "files of usmp_build": len(package),
        "lines of usmp_build": _lines(package),
        "tokens of usmp_build": sum(map(_tokens, package)),
        "classes of usmp_build": sum(map(_classes, package)),
        "lines of C": _lines(_files(r"usmp_build/.*\.[ch]")),
        "lines of core": _lines(_files(r"core/.*\.(cpp|h)")),
        "lines of checker": _lines(_files(r"checker/.*\.py")),
        "lines of tests": _lines(tests),
        "tokens of tests": sum(map(_tokens, tests)),
        "words of pages": sum(len(path.read_text("utf-8").split()) for path in _files(_PAGES.pattern)),
    }


def _files(pattern: str) -> list[Path]:
    """Return the files that git knows and whose whole path matches."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if re.fullmatch(pattern, name) and (ROOT / name).is_file()]


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _tokens(path: Path) -> int:
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False)
    }
    with path.open("rb") as file:
        tokens = [each for each in tokenize.tokenize(file.readline) if each.type not in _LAYOUT]
    return sum(each.start not in docstrings for each in tokens)


def _classes(path: Path) -> int:
    return sum(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(path.read_text("utf-8"))))


if __name__ == "__main__":
    for name, size in sizes().items():
        print(f"{name:24} {size:9,}")
