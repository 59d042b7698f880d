"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from benchmarks.figures import BYTES, COMPARED, INFERENCE, SECONDS, TOGETHER, Column
from benchmarks.measure import Measured
from usmp_build.errors import printable


def parts(rows: Sequence[Measured], plans: Sequence[Measured]) -> dict[str, str]:
    """Return every table and list, by the name that page.md.in uses: of models alone, and of plans of several."""
    return {
        "bytes": _table(rows, BYTES),
        "together": _table(plans, TOGETHER, "one plan of"),
        "inference": _table(rows, INFERENCE),
        "ratios": _ratios(rows),
        "seconds": _table(rows, SECONDS),
        "chains": "\n".join(f"- {row.model}: {_chain(row)}" for row in rows if row.stack),
        "notes": _notes([*rows, *plans]),
    }


def _table(rows: Sequence[Measured], columns: Sequence[Column], head: str = "model") -> str:
    lines = [f"| {head} | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    for row in rows:
        cells = [_show(row.figures.get(column)) for column in columns]
        lines += [f"| {_safe(row.model)} | {' | '.join(cells)} |"]
    return "\n".join(lines)


def _ratios(rows: Sequence[Measured]) -> str:
    """The least and the most of ours divided by theirs, over the models that have both."""
    lines = ["| ours | theirs | least | most |", "|---|---|--:|--:|"]
    for ours, theirs in COMPARED:
        both = [row.figures for row in rows if ours in row.figures and theirs in row.figures]
        ratios = [figures[ours] / figures[theirs] for figures in both]
        least, most = min(ratios, default=None), max(ratios, default=None)
        lines += [f"| {ours} | {theirs} | {_show(least)} | {_show(most)} |"]
    return "\n".join(lines)


def _show(figure: float | None) -> str:
    """Whole numbers in full, others with three digits that mean something."""
    if figure is None:
        return "-"
    decimals = 0 if isinstance(figure, int) or not figure else max(0, 2 - floor(log10(figure)))
    return f"{figure:,.{decimals}f}"


def _chain(row: Measured) -> str:
    assert row.stack is not None
    uncounted = ", ".join(f"`{name}`" for name in row.stack.uncounted) or "nothing"
    return f"{' → '.join(f'`{name}`' for name in row.stack.chain)}; not counted: {uncounted}"


def _notes(rows: Sequence[Measured]) -> str:
    """Each reason once, with the models it holds for."""
    models: dict[str, list[str]] = {}
    for row in rows:
        for note in dict.fromkeys(row.notes):
            models.setdefault(note, []).append(row.model)
    return "\n".join(f"- {_safe(', '.join(names))}: {_safe(note)}" for note, names in models.items())


def _safe(text: str) -> str:
    return printable(text).replace("|", "\\|")
