"""A plot of planning time against the number of buffers, both on logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_TITLE = "Planning time by number of buffers"
_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 44, 56, 56
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #333 } .title { font-weight: 600; font-size: 15px }
.back { fill: #fff } .grid { stroke: #ddd } .axis { stroke: #666 } .guide { stroke: #999; stroke-dasharray: 5 4 }
.best { fill: #0b6bcb } .other { fill: #fff; stroke: #0b6bcb; stroke-width: 1.5 }
.small { font-size: 12px; fill: #666 }"""


@dataclass(frozen=True, slots=True)
class Point:
    """A problem that was solved."""

    count: int
    """Buffers."""
    seconds: float
    best: bool
    """Whether no plan is lower, but for less than the alignment."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """Whole decades, as powers of ten."""

    left: int
    right: int
    low: int
    high: int

    def x(self, count: float) -> float:
        """Return where so many buffers are."""
        return _LEFT + (log10(count) - self.left) / (self.right - self.left) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, seconds: float) -> float:
        """Return where a time is."""
        return _HEIGHT - _BOTTOM - (log10(seconds) - self.low) / (self.high - self.low) * (_HEIGHT - _TOP - _BOTTOM)


def plot(points: Sequence[Point]) -> str:
    """Return an SVG file with a dot for each point; there is one at least."""
    shown = [Point(point.count, max(point.seconds, 0.001), point.best) for point in points]
    left, right = _decades([point.count for point in shown])
    low, high = _decades([point.seconds for point in shown])
    axes = _Axes(left, right, low, high)
    lines = (*_frame(axes), *_guide(axes, shown), *_legend(shown), *_dots(axes, shown))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_TITLE}">'
    return "\n".join((head, f"<style>\n{_STYLE}\n</style>", *lines, "</svg>")) + "\n"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return powers of ten around some values."""
    low = floor(log10(min(values)))
    return low, max(low + 1, ceil(log10(max(values))))


def _frame(axes: _Axes) -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    yield f'<rect class="back" width="{_WIDTH}" height="{_HEIGHT}"/>'
    yield f'<text class="title" x="{_LEFT}" y="24">{_TITLE}</text>'
    for power in range(axes.left, axes.right + 1):
        x = axes.x(10**power)
        yield _line("grid", x, _TOP, x, bottom)
        yield f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{10**power:,}</text>'
    for power in range(axes.low, axes.high + 1):
        y = axes.y(10.0**power)
        yield _line("grid", _LEFT, y, right, y)
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>'
    yield _line("axis", _LEFT, bottom, right, bottom)
    yield _line("axis", _LEFT, _TOP, _LEFT, bottom)
    yield f'<text class="small" x="{(_LEFT + right) / 2:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">buffers</text>'


def _guide(axes: _Axes, points: Sequence[Point]) -> Iterator[str]:
    """Draw proportional growth through the largest problem."""
    last = max(points, key=lambda point: (point.count, -point.seconds))
    start = max(min(point.count for point in points), last.count * 10.0**axes.low / last.seconds)
    yield _line(
        "guide", axes.x(start), axes.y(last.seconds * start / last.count), axes.x(last.count), axes.y(last.seconds)
    )


def _legend(points: Sequence[Point]) -> Iterator[str]:
    entries = [("best", "at the greatest load", any(point.best for point in points))]
    entries.append(("other", "above it", not all(point.best for point in points)))
    x = _LEFT + 6
    for kind, text, used in entries:
        if used:
            yield f'<circle class="{kind}" cx="{x}" cy="41" r="4.5"/>'
            yield f'<text class="small" x="{x + 10}" y="45">{text}</text>'
            x += 24 + 7 * len(text)
    yield _line("guide", x, 41, x + 24, 41)
    yield f'<text class="small" x="{x + 30}" y="45">proportional to the buffers</text>'


def _dots(axes: _Axes, points: Sequence[Point]) -> Iterator[str]:
    for point in points:
        kind, seconds = "best" if point.best else "other", f"{point.seconds:.3g} s"
        place = f'cx="{axes.x(point.count):.1f}" cy="{axes.y(point.seconds):.1f}"'
        yield f'<circle class="{kind}" {place} r="4.5"><title>{point.count:,} buffers: {seconds}</title></circle>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
