"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import floor, log10

from benchmarks.figures import BYTES, COMPARED, FLASH, HOST, INFERENCE, SECONDS, TOGETHER, Column
from benchmarks.measure import Measured
from benchmarks.processors import PROCESSORS, Kind, Place
from benchmarks.published import LAYERS
from usmp_build.errors import printable
from usmp_build.request import Isa


def parts(rows: Sequence[Measured], plans: Sequence[Measured]) -> dict[str, str]:
    """Return every table and list, by the name that page.md.in uses: of models alone, and of plans of several."""
    return {
        "bytes": _table(rows, BYTES),
        "together": _table(plans, TOGETHER, "one plan of"),
        "flash": _flash(rows),
        "inference": _table(rows, INFERENCE),
        "processors": _processors(rows),
        "kinds": _kinds(rows),
        "layers": _layers(rows),
        "host": _table(rows, HOST),
        "ratios": _ratios(rows),
        "seconds": _table(rows, SECONDS),
        "chains": _chains(rows),
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


def _flash(rows: Sequence[Measured]) -> str:
    lines = _heads("model", "isa", FLASH)
    for row in rows:
        for isa, figures in row.profile.flash.items() if row.profile else ():
            lines += [_line(row.model, isa.value, (_show(figures.get(column)) for column in FLASH))]
    return "\n".join(lines)


def _processors(rows: Sequence[Measured]) -> str:
    """Instructions of one inference in millions: a row for each `isa`."""
    lines = _heads("model", "isa", PROCESSORS)
    for row, isa in product([row for row in rows if row.profile], Isa):
        assert row.profile is not None
        totals = [row.profile.totals.get(Place(processor, isa)) for processor in PROCESSORS]
        lines += [_line(row.model, isa.value, (_show(total / 1e6 if total else None) for total in totals))]
    return "\n".join(lines)


_BEST = {
    **{f"{name}, portable": Place(name, Isa.PORTABLE) for name in ("M3", "M4", "RISC-V")},
    **{f"{name}, dsp": Place(name, Isa.DSP) for name in ("M4", "M33")},
    "M55, mve": Place("M55", Isa.MVE),
}


def _kinds(rows: Sequence[Measured]) -> str:
    """Instructions of each multiply-accumulate of the operators of a kind, or of all of them where there are none."""
    lines = _heads("model", "operators", ("MACs", *_BEST))
    for row in rows:
        for name, kind in row.profile.kinds.items() if row.profile else ():
            cells = (_show(kind.macs or None), *(_show(_for_each_mac(kind, place)) for place in _BEST.values()))
            lines += [_line(row.model, f"{kind.operators} {name}", cells)]
    return "\n".join(lines)


def _for_each_mac(kind: Kind, place: Place) -> float | None:
    count = kind.instructions.get(place)
    return count / kind.macs if count and kind.macs else count


def _layers(rows: Sequence[Measured]) -> str:
    lines = _heads("model", "layer", ("MACs", "M4, dsp", "M4, CMSIS-NN", "M55, mve", "M55, CMSIS-NN"))
    profiles = {row.model: row.profile for row in rows if row.profile and "M4, CMSIS-NN" in row.figures}
    for layer in LAYERS:
        if profile := profiles.get(layer.model):
            ours = profile.operators.get(layer.position, {})
            m4, m55 = ours.get(_BEST["M4, dsp"]), ours.get(_BEST["M55, mve"])
            lines += [_line(layer.model, layer.shape, map(_show, (layer.macs, m4, layer.m4, m55, layer.m55)))]
    return "\n".join(lines)


def _heads(first: str, second: str, columns: Iterable[str]) -> list[str]:
    columns = list(columns)
    return [f"| {first} | {second} | {' | '.join(columns)} |", f"|---|---|{'--:|' * len(columns)}"]


def _line(model: str, second: str, cells: Iterable[str]) -> str:
    return f"| {_safe(model)} | {second} | {' | '.join(cells)} |"


def _chains(rows: Sequence[Measured]) -> str:
    chains = [(row.model, isa, chain) for row in rows if row.profile for isa, chain in row.profile.chains.items()]
    lines = ["| model | isa | chain | not counted |", "|---|---|---|---|"]
    lines += [
        _line(model, isa.value, (_code(chain.chain, " → "), _code(chain.uncounted, ", ")))
        for model, isa, chain in chains
    ]
    return "\n".join(lines if chains else [])


def _code(names: Iterable[str], between: str) -> str:
    return between.join(f"`{name}`" for name in names) or "-"


def _notes(rows: Sequence[Measured]) -> str:
    """Each reason once, with the models it holds for."""
    models: dict[str, list[str]] = {}
    for row in rows:
        for note in dict.fromkeys(row.notes):
            models.setdefault(note, []).append(row.model)
    return "\n".join(f"- {_safe(', '.join(names))}: {_safe(note)}" for note, names in models.items())


def _safe(text: str) -> str:
    return printable(text).replace("|", "\\|")
