"""Shapes of a memory map: a path for each buffer, one for all rows of a tensor, one for all that are too small to see.

A path is a list of rectangles, so a tensor of a thousand rows is one shape, and shows the band in which its rows go
round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.errors import one_line
from usmp_build.frozen import frozen
from usmp_build.layout import PlanRecord, RowsRecord
from usmp_build.report.page.places import Place, label
from usmp_build.report.page.scale import Scale
from usmp_build.units import count_bytes, show_range

_TINTS = 3
"""Shades of a model's color, which distinguish adjacent buffers."""
_SMALL = 1.0
"""Area of a rectangle that is too small to point at."""
_THINNEST = 0.5
"""Width and height of what is drawn, at least."""
_OUTLINED, _ROWS_OUTLINED = 3.0, 7.0
"""Least width and height with an outline; of rows, whose neighbors are alike, more."""
_LISTED = 4
"""Lives and overlaps of a buffer that its title has; the tables have all."""
_MANY = 500
"""Shapes of a map; where there are more, small ones are drawn together."""


@frozen
class Rectangle:
    """A part of a picture, in its units; `top` is less than `bottom`."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """How high it is."""
        return self.bottom - self.top


@frozen
class Shape:
    """What a buffer, or all rows of a tensor, takes of a pool."""

    color: int
    """Position of its model."""
    tint: int
    is_outlined: bool
    title: str
    """Shown where the pointer is: lines of text."""
    label: str
    rows: int
    """How many rows it is of; 1 for a buffer."""
    size: int
    """Bytes; those of one row."""
    rectangles: tuple[Rectangle, ...]

    @property
    def path(self) -> str:
        """Its outline, for the attribute `d`."""
        return path(self.rectangles)

    @property
    def frame(self) -> Rectangle:
        """The smallest rectangle around it."""
        return Rectangle(
            min(each.left for each in self.rectangles),
            min(each.top for each in self.rectangles),
            max(each.right for each in self.rectangles),
            max(each.bottom for each in self.rectangles),
        )


def path(rectangles: Iterable[Rectangle]) -> str:
    """Return rectangles as a path; none is too flat to be seen."""
    return "".join(
        f"M{_short(each.left)} {_short(each.top)}"
        f"h{_short(max(_THINNEST, each.width))}v{_short(max(_THINNEST, each.height))}"
        f"h{_short(-max(_THINNEST, each.width))}z"
        for each in rectangles
    )


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def rectangles(place: Place, scale: Scale) -> Iterator[Rectangle]:
    """Yield what a buffer takes of the map of its pool: a rectangle for each of its lives."""
    for start, stop in place.intervals:
        left, right = scale.across(start), scale.across(stop, is_stop=True)
        yield Rectangle(left, scale.up(place.end), right, scale.up(place.offset))


def shapes(plan: PlanRecord, places: Sequence[Place], scale: Scale) -> tuple[Shape, ...]:
    """Return the shapes of a pool's buffers, the largest first, so that small ones are not hidden."""
    grouped: dict[str, list[Place]] = {}
    for place in places:
        if place.size and place.intervals:
            grouped.setdefault(place.record.name, []).append(place)
    colors = {model.name: number for number, model in enumerate(plan.models)}
    drawn = [
        _shape(plan, members, scale, colors.get(members[0].record.model, 0), number % _TINTS)
        for number, members in enumerate(grouped.values())
    ]
    drawn.sort(key=lambda shape: -sum(each.width * each.height for each in shape.rectangles))
    return tuple(drawn) if len(drawn) <= _MANY else _without_small_ones(drawn)


def overlaps(places: Mapping[str, Place], pool: str, scale: Scale) -> tuple[Rectangle, ...]:
    """Return where two buffers share bytes while both are alive."""
    areas: dict[tuple[str, str], list[Rectangle]] = {}
    for name, place in places.items():
        for other_name in _overlapping(place):
            other = places.get(other_name)
            pair = (min(name, other_name), max(name, other_name))
            if other is not None and place.pool == other.pool == pool and pair not in areas:
                areas[pair] = list(_common(place, other, scale))
    return tuple(area for each in areas.values() for area in each)


def _overlapping(place: Place) -> Iterator[str]:
    if isinstance(place.record, RowsRecord):
        return (each.buffer for each in place.record.overlaps if each.row == place.row)
    return (each.buffer for each in place.record.overlaps)


def _common(one: Place, other: Place, scale: Scale) -> Iterator[Rectangle]:
    low, high = max(one.offset, other.offset), min(one.end, other.end)
    for start, stop in one.intervals:
        for other_start, other_stop in other.intervals:
            first, last = max(start, other_start), min(stop, other_stop)
            if first < last and low < high:
                left, right = scale.across(first), scale.across(last, is_stop=True)
                yield Rectangle(left, scale.up(high), right, scale.up(low))


def _shape(plan: PlanRecord, members: Sequence[Place], scale: Scale, color: int, tint: int) -> Shape:
    record = members[0].record
    drawn = tuple(each for member in members for each in rectangles(member, scale))
    thinnest = min(sum(each.width for each in drawn) / len(drawn), drawn[0].height)
    is_outlined = thinnest >= (_ROWS_OUTLINED if isinstance(record, RowsRecord) else _OUTLINED)
    title = _title_of_rows(plan, members) if isinstance(record, RowsRecord) else _title(plan, members[0])
    return Shape(color, tint, is_outlined, title, label(record), len(members), members[0].size, drawn)


def _title(plan: PlanRecord, place: Place) -> str:
    """Return the tooltip of a buffer: name, bytes, place, lifetime, and why it exists."""
    lines = [
        one_line(place.record.name),
        f"{count_bytes(place.size)} at {show_range(place.offset, place.end)}",
        *(f"alive from {_steps(plan, *interval)}" for interval in place.intervals[:_LISTED]),
        f"{place.record.kind}: {one_line(place.record.reason)}",
        *(
            f"{count_bytes(each.bytes)} lie over {one_line(each.buffer)} ({one_line(each.operator)})"
            for each in place.record.overlaps[:_LISTED]
        ),
    ]
    return "\n".join(lines)


def _title_of_rows(plan: PlanRecord, members: Sequence[Place]) -> str:
    record = members[0].record
    starts, stops = zip(*(interval for each in members for interval in each.intervals), strict=True)
    low, high = min(each.offset for each in members), max(each.end for each in members)
    written = len(members) - (len(record.moved) if isinstance(record, RowsRecord) else 0)
    lines = [
        one_line(record.name),
        f"{written} rows of {count_bytes(members[0].size)}, at most {_alive_together(members)} alive together",
        f"in {len({each.offset for each in members})} places in {show_range(low, high)}",
        f"alive from {_steps(plan, min(starts), max(stops))}",
        f"{record.kind}: {one_line(record.reason)}",
    ]
    return "\n".join(lines)


def _alive_together(members: Sequence[Place]) -> int:
    """Return the most rows that are alive at one step."""
    edges = sorted(edge for each in members for start, stop in each.intervals for edge in ((start, 1), (stop, -1)))
    alive = most = 0
    for _, change in edges:
        alive += change
        most = max(most, alive)
    return most


def _steps(plan: PlanRecord, start: int, stop: int) -> str:
    return f"{one_line(plan.steps[start].text)} to {one_line(plan.steps[stop - 1].text)}"


def _without_small_ones(drawn: Sequence[Shape]) -> tuple[Shape, ...]:
    """Draw the shapes of each model that are too small to point at as one."""
    small: dict[int, list[Shape]] = {}
    shown: list[Shape] = []
    for shape in drawn:
        is_small = all(each.width * each.height < _SMALL for each in shape.rectangles)
        (small.setdefault(shape.color, []) if is_small else shown).append(shape)
    for color, members in sorted(small.items()):
        areas = tuple(each for member in members for each in member.rectangles)
        title = f"{len(members)} buffers too small to draw apart, the largest of {count_bytes(members[0].size)}"
        shown.append(Shape(color, 0, False, title, "", 1, max(each.size for each in members), areas))
    return tuple(shown)
