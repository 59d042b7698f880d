"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import floor, log10

from benchmarks.cmsis_nn import BOARDS
from benchmarks.figures import BYTES, COMPARED, CYCLES, FLASH, HOST, INFERENCE, SECONDS, TOGETHER, Column
from benchmarks.measure import Measured
from benchmarks.processors import PROCESSORS, Group, Place
from usmp_build.errors import printable
from usmp_build.request import Isa


def parts(rows: Sequence[Measured], plans: Sequence[Measured], compared: Sequence[Measured] = ()) -> dict[str, str]:
    """Return every table and list, by the name that page.md.in uses.

    They are of models alone, of plans of several, and of models that are only compared with CMSIS-NN.
    """
    return {
        "bytes": _table(rows, BYTES),
        "together": _table(plans, TOGETHER, "one plan of"),
        "flash": _flash(rows),
        "inference": _table(rows, INFERENCE),
        "cycles": _table(rows, CYCLES),
        "processors": _processors(rows),
        "kinds": _kinds(rows),
        "beside": _beside([*rows, *compared]),
        "layers": _layers([*rows, *compared]),
        "host": _table(rows, HOST),
        "ratios": _ratios(rows),
        "seconds": _table(rows, SECONDS),
        "chains": _chains(rows),
        "notes": _notes([*rows, *plans, *compared]),
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
    "M4, portable": Place("M4", Isa.PORTABLE),
    **{f"{name}, scalar": Place(name, Isa.SCALAR) for name in ("M3", "RISC-V")},
    **{f"{name}, dsp": Place(name, Isa.DSP) for name in ("M4", "M33")},
    "M55, mve": Place("M55", Isa.MVE),
}


_M4 = _BEST["M4, dsp"]
_GOAL = 0.65
"""At most this part of CMSIS-NN's instructions."""


def _kinds(rows: Sequence[Measured]) -> str:
    """Instructions of each multiply-accumulate of the operators of a kind, or of all of them where there are none."""
    lines = _heads("model", "operators", ("MACs", *_BEST))
    for row in rows:
        for name, kind in row.profile.kinds.items() if row.profile else ():
            lines += [_line(row.model, f"{kind.operators} {name}", _ours(kind))]
    return "\n".join(lines)


def _layers(rows: Sequence[Measured]) -> str:
    """The same of layers whose instructions with CMSIS-NN are known, and ours divided by theirs on the M4."""
    lines = _heads("model", "layers", ("MACs", *_BEST, *(f"{name}, CMSIS-NN" for name in BOARDS), "M4, ratio"))
    for row in rows:
        for name, layer in row.profile.layers.items() if row.profile else ():
            theirs = (_show(_for_each_mac(layer, layer.cmsis_nn.get(processor))) for processor in BOARDS)
            cells = (*_ours(layer), *theirs, _show(_ratio(layer)))
            lines += [_line(row.model, f"{layer.operators} {name}", cells)]
    return "\n".join(lines)


def _beside(rows: Sequence[Measured]) -> str:
    """Whole models on the M4: the layers that are compared, what they take, and the others."""
    columns = ("M4, dsp", "TFLM, CMSIS-NN", "compared", "CMSIS-NN", "ratio", "above 0.65")
    lines = _heads("model", "not compared", columns)
    for row in rows:
        if row.profile is None or _M4 not in row.profile.totals:
            continue
        both = [layer for layer in row.profile.layers.values() if _ratio(layer)]
        ours, theirs = (sum(each) for each in ([b.instructions[_M4] for b in both], [b.cmsis_nn["M4"] for b in both]))
        above = sum(layer.instructions[_M4] for layer in both if (_ratio(layer) or 0) > _GOAL)
        compared = {name.split()[0] for name in row.profile.layers}
        others = dict.fromkeys(name.split()[0] for name in row.profile.kinds)
        whole = (row.profile.totals[_M4], row.figures.get("M4, CMSIS-NN"))
        figures = (*whole, ours, theirs, ours / theirs if theirs else None, above)
        lines += [_line(row.model, ", ".join(n for n in others if n not in compared) or "-", map(_show, figures))]
    return "\n".join(lines)


def _ours(group: Group) -> Iterator[str]:
    yield _show(group.macs or None)
    yield from (_show(_for_each_mac(group, group.instructions.get(place))) for place in _BEST.values())


def _for_each_mac(group: Group, count: int | None) -> float | None:
    return count / group.macs if count and group.macs else count


def _ratio(group: Group) -> float | None:
    ours, theirs = group.instructions.get(_M4), group.cmsis_nn.get("M4")
    return ours / theirs if ours and theirs else None


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
