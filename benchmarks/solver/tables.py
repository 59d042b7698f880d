"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.solver.figures import Figures
from benchmarks.solver.instances import Instance
from benchmarks.solver.models import Planned
from benchmarks.solver.overlaps import Overlapped
from benchmarks.solver.pools import Shared
from benchmarks.solver.published import MINIMALLOC
from benchmarks.solver.scale import Run


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is text, and the others numbers; nothing without rows."""
    filled = [f"| {' | '.join(row)} |" for row in rows]
    lines = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    return "\n".join([*lines, *filled]) if filled else ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Who fits an instance into its capacity."""

    instance: Instance
    search: float
    """Seconds of the search alone."""
    ours: Figures
    theirs: Sequence[Figures]


def capacities(answers: Mapping[str, Fitted]) -> str:
    """Return who fits each instance into its capacity, how fast, and how much faster than MiniMalloc our search is."""
    solvers = [figures.solver for figures in next(iter(answers.values())).theirs] if answers else []
    head = ["instance", "buffers", "capacity", "max load", "nodes", "search", "all"]
    head += ["MiniMalloc", "times faster", *solvers]
    rows = []
    for name, fitted in answers.items():
        instance, ours = fitted.instance, fitted.ours
        minimalloc = MINIMALLOC.get(name)
        rows.append(
            [
                name,
                str(len(instance.rectangles)),
                f"{instance.capacity:,}",
                f"{instance.max_load:,}",
                f"{ours.work:,}",
                seconds(fitted.search),
                _answered(ours),
                "-" if minimalloc is None else f"{minimalloc:.2f}",
                "-" if minimalloc is None else f"{minimalloc / fitted.search:.0f}",
                *map(_answered, fitted.theirs),
            ]
        )
    return table(head, rows)


def _answered(figures: Figures) -> str:
    return seconds(figures.seconds) if figures.peak is not None else f"none in {seconds(figures.seconds)}"


def least(answers: Mapping[Instance, Sequence[Figures]]) -> str:
    """Return what every solver makes of each instance."""
    head = ["instance", "algorithm", "peak", "above max load", "status", "work", "seconds"]
    rows = []
    for instance, all_figures in answers.items():
        for figures in all_figures:
            work = "-" if figures.work is None else f"{figures.work:,}"
            peak = "-" if figures.peak is None else f"{figures.peak:,}"
            above = _above(instance, figures)
            rows.append([instance.name, figures.solver, peak, above, figures.status, work, seconds(figures.seconds)])
    return table(head, rows)


def gaps(answers: Mapping[Instance, Sequence[Figures]]) -> str:
    """Return how far every solver ends above the max load of each instance, side by side."""
    heads = ["algorithm", *(instance.name for instance in answers)]
    lines = zip(*answers.values(), strict=True)
    return table(heads, ([line[0].solver, *map(_above, answers, line)] for line in lines))


def _above(instance: Instance, figures: Figures) -> str:
    return "-" if figures.peak is None else f"{100 * (figures.peak / instance.max_load - 1):.2f} %"


def families(results: Mapping[str, Sequence[Figures]], bounds: Sequence[float]) -> str:
    """Return how many instances of each family were solved within some seconds."""
    head = ["family", "instances", *(f"within {bound:g} s" for bound in bounds), "median", "slowest solved"]
    rows = []
    for name, answers in results.items():
        solved = sorted(figures.seconds for figures in answers if figures.peak is not None)
        within = [str(sum(spent <= bound for spent in solved)) for bound in bounds]
        middle = seconds(solved[len(solved) // 2]) if solved else "-"
        rows.append([name, str(len(answers)), *within, middle, seconds(solved[-1]) if solved else "-"])
    return table(head, rows)


def models(planned: Iterable[Planned]) -> str:
    """Return what planning real models takes."""
    head = ["model", "buffers", "bytes", "proven best", "ms"]
    rows = []
    for row in planned:
        best = "yes" if row.best else "no"
        rows.append([row.model, str(row.buffers), f"{row.peak:,}", best, f"{row.milliseconds:.1f}"])
    return table(head, rows)


def overlaps(families: Iterable[tuple[str, Sequence[Overlapped]]]) -> str:
    """Return what is known of problems whose buffers may share bytes: sums over the problems of a family."""
    head = ["family", "problems", "proven best", "above the fullest step", "without overlaps", "median", "slowest"]
    rows = []
    for name, found in families:
        total = sum(one.peak for one in found)
        spent = sorted(one.seconds for one in found)
        above = 100 * (total / sum(one.step for one in found) - 1)
        more = 100 * (sum(one.disjoint for one in found) / total - 1)
        best = str(sum(one.best for one in found))
        times = seconds(spent[len(spent) // 2]), seconds(spent[-1])
        rows.append([name, str(len(found)), best, f"{above:.2f} %", f"+{more:.0f} %", *times])
    return table(head, rows)


def pools(rows: Iterable[Shared]) -> str:
    """Return what instances reach in two pools."""
    head = ["instance", "seed", "bound", "ours", "ratio", "USMP", "work", "seconds"]
    return table(
        head,
        (
            [
                row.name,
                str(row.seed),
                f"{row.bound:,}",
                f"{row.ours:,}",
                f"{row.ours / row.bound:.3f}",
                f"{row.usmp / row.bound:.3f}",
                f"{row.work:,}",
                seconds(row.seconds),
            ]
            for row in rows
        ),
    )


def scale(runs: Iterable[Run]) -> str:
    """Return how planning grows with the number of buffers."""
    head = ["buffers", "seed", "load", "peak", "gap %", "work", "seconds", "MiB"]
    return table(
        head,
        (
            [
                f"{run.count:,}",
                str(run.seed),
                f"{run.load:,}",
                f"{run.peak:,}",
                f"{run.gap:.4f}",
                f"{run.work:,}",
                seconds(run.seconds),
                f"{run.memory / (1 << 20):.0f}",
            ]
            for run in runs
        ),
    )


def seconds(spent: float) -> str:
    """Show seconds with two digits that mean something."""
    return f"{spent:.1f}" if spent >= 1 else f"{spent:.2g}"
