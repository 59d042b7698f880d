"""Names in a memory map: only where they fit and hide no other, the largest shapes first."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.frozen import frozen
from usmp_build.report.page.shapes import Rectangle, Shape
from usmp_build.units import show_bytes

_CHARACTER, _LINE = 6.3, 13.0
"""Width of a character and height of a line, in units of the picture: somewhat more than fonts take."""
_MARGIN = 4.0
_MOST = 60
"""Labels in a map."""
_NO_GAP = 2.0
"""Between two rows of a tensor that are as good as one."""
_WIDE = 160.0
"""Room for most names: of places that have more, none is better than another."""
_TRIED = 4
"""Places for the label of a shape."""
_SHORTEST = 6
"""Characters of a name that is cut; what is shorter says nothing."""


@frozen
class Label:
    """Lines of text, centered at `x`; the base of the first one is at `y`."""

    x: float
    y: float
    lines: tuple[str, ...]


def fitted(text: str, width: float) -> str:
    """Return the text, without its middle if it is wider; empty if hardly anything would be left.

    Names often begin alike, and end alike, too: what tells them apart is before the end.
    """
    room = int(width / _CHARACTER)
    if len(text) <= room:
        return text
    head = (room - 1) // 3
    return f"{text[:head]}…{text[head + 1 - room :]}" if room >= _SHORTEST else ""


def labels(shapes: Sequence[Shape]) -> tuple[Label, ...]:
    """Return the labels of shapes, which come with the largest first."""
    occupied, result = list[Rectangle](), list[Label]()
    for shape in shapes:
        if len(result) == _MOST:
            break
        for frame, lines in [(each, lines) for each in _frames(shape) for lines in _choices(shape, each)]:
            box = _free_box(frame, lines, occupied)
            if box is not None:
                occupied.append(box)
                result.append(Label((box.left + box.right) / 2, box.top + _LINE - 3, lines))
                break
    return tuple(result)


def _frames(shape: Shape) -> list[Rectangle]:
    """Return where the label of a shape may go, the best first: onto rows side by side, never beside or between them.

    The best are those that have most room, of equal ones the nearest to the middle of the shape.
    """
    runs: list[Rectangle] = []
    for each in sorted(shape.rectangles, key=lambda each: (each.top, each.left)):
        last = runs[-1] if runs else None
        if last and (last.top, last.bottom) == (each.top, each.bottom) and each.left - last.right <= _NO_GAP:
            runs[-1] = Rectangle(last.left, last.top, max(last.right, each.right), last.bottom)
        else:
            runs.append(each)
    middle = shape.frame.left + shape.frame.right
    tall_enough = [each for each in runs if each.height >= _LINE]
    best = sorted(tall_enough, key=lambda each: (-min(each.width, _WIDE), abs(each.left + each.right - middle)))
    return best[:_TRIED]


def _choices(shape: Shape, frame: Rectangle) -> list[tuple[str, ...]]:
    """Return what may be written on a shape, the most telling first."""
    name, size = fitted(shape.label, frame.width - _MARGIN), show_bytes(shape.size)
    rows = f"{shape.rows} × {size}" if shape.rows > 1 else size
    second = rows if len(rows) * _CHARACTER <= frame.width - _MARGIN else ""
    full = [tuple(filter(None, (name, second)))] if name else []
    return [lines for lines in [*full, (name,), (second,)] if lines and all(lines)]


def _free_box(frame: Rectangle, lines: tuple[str, ...], occupied: Sequence[Rectangle]) -> Rectangle | None:
    """Return where in a frame the lines hide nothing: in its middle, above or below; None if nowhere."""
    height, width = _LINE * len(lines), max(map(len, lines)) * _CHARACTER
    if height > frame.height - 2 or width > frame.width:
        return None
    x = (frame.left + frame.right) / 2
    for top in ((frame.top + frame.bottom - height) / 2, frame.top + 1, frame.bottom - height - 1):
        box = Rectangle(x - width / 2, top, x + width / 2, top + height)
        if not any(_meet(box, other) for other in occupied):
            return box
    return None


def _meet(one: Rectangle, other: Rectangle) -> bool:
    is_beside = one.right <= other.left or other.right <= one.left
    return not is_beside and one.top < other.bottom and other.top < one.bottom
