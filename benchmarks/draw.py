"""The command: draw the pages of figures from the CSV files that measurements write.

    python -m benchmarks.draw

Each folder below `data` has the figures of a page, and its text, `page.md.in`: there, `$name` is the table of
`name.csv`, or a fact of `facts.csv`, such as the command that measured.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from textwrap import wrap

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).with_name("data")
PAGES = {ROOT / "docs" / "maintainers" / f"{folder.name}.md": folder for folder in sorted(DATA.iterdir())}
"""Page → the folder of its figures."""
_FACTS = "facts"
_COUNT = re.compile(r"-?\d{1,3}(,\d{3})+")
"""A number with separators, which a CSV file does without."""
_NUMERIC = re.compile(r"[+-]?\d|-$|none")
"""How cells of a column of numbers begin."""


def main() -> int:
    """Draw all pages."""
    for page, folder in PAGES.items():
        page.write_text(draw(folder), "utf-8", newline="\n")
    return 0


def draw(folder: Path) -> str:
    """Return the page of a folder of figures."""
    tables = {path.stem: list(csv.reader(io.StringIO(path.read_text("utf-8")))) for path in folder.glob("*.csv")}
    facts = {name: _folded(fact) if name == "command" else fact for name, fact in tables.pop(_FACTS, ())}
    parts = {name: "\n".join(_markdown(rows)) if rows else "" for name, rows in tables.items()}
    return Template((folder / "page.md.in").read_text("utf-8")).substitute(facts, **parts)


def save(folder: Path, parts: Mapping[str, str], facts: Mapping[str, str] | None = None) -> None:
    """Write tables, given as Markdown, and facts to CSV files by their names."""
    folder.mkdir(exist_ok=True)
    for name, text in parts.items():
        (folder / f"{name}.csv").write_text(as_csv(text), "utf-8", newline="\n")
    if facts:
        (folder / f"{_FACTS}.csv").write_text(_csv(facts.items()), "utf-8", newline="\n")


def as_csv(table: str) -> str:
    """Return a table of Markdown as CSV, with plain numbers; nothing for nothing."""
    if not table:
        return ""
    heads, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines())
    return _csv([heads, *([_plain(cell) for cell in row] for row in rows)])


def _csv(rows: Iterable[Sequence[str]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _folded(command: str) -> str:
    """Break a command before its options, and further where that is not enough."""
    pieces = (piece for option in re.split(r" (?=--)", command) for piece in wrap(option, 100, break_on_hyphens=False))
    return " \\\n  ".join(pieces)


def _plain(cell: str) -> str:
    return cell.replace(",", "") if _COUNT.fullmatch(cell) else cell


def _markdown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, with numbers to the right."""
    heads, *cells = rows
    columns = list(zip(*cells, strict=True)) or [()] * len(heads)
    sides = ("--:" if all(map(_NUMERIC.match, column)) else "---" for column in columns)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join(sides)}|"
    for row in cells:
        yield f"| {' | '.join(map(_shown, row))} |"


def _shown(cell: str) -> str:
    return f"{int(cell):,}" if re.fullmatch(r"-?\d+", cell) else cell


if __name__ == "__main__":
    sys.exit(main())
