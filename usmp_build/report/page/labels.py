"""Names in a memory map: only where they fit and hide no other, the largest shapes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usmp_build.report.page.shapes import Rectangle, Shape
from usmp_build.units import show_bytes

_CHARACTER, _LINE = 6.3, 13.0
"""Width of a character and height of a line, in units of the picture: somewhat more than fonts take."""
_MARGIN = 4.0
_MOST = 60
"""Labels in a map."""
_SHORTEST = 6
"""Characters of a name that is cut; what is shorter says nothing."""


@dataclass(frozen=True, slots=True)
class Label:
    """Lines of text, centered at `x`; the base of the first one is at `y`."""

    x: float
    y: float
    lines: tuple[str, ...]


def fitted(text: str, width: float) -> str:
    """Return the text, cut if it is wider; empty if hardly anything would be left."""
    room = int(width / _CHARACTER)
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if room >= _SHORTEST else ""


def labels(shapes: Sequence[Shape]) -> tuple[Label, ...]:
    """Return the labels of shapes, which come with the largest first."""
    occupied, result = list[Rectangle](), list[Label]()
    for shape in shapes:
        if len(result) == _MOST:
            break
        frame = _frame(shape)
        for lines in _choices(shape, frame):
            box = _free_box(frame, lines, occupied)
            if box is not None:
                occupied.append(box)
                result.append(Label((box.left + box.right) / 2, box.top + _LINE - 3, lines))
                break
    return tuple(result)


def _frame(shape: Shape) -> Rectangle:
    """Return where the label of a shape goes: onto its middle row, if that has room, else anywhere between all rows."""
    middle = shape.rectangles[len(shape.rectangles) // 2]
    has_room = fitted(shape.label, middle.width - _MARGIN) == shape.label and middle.height > 2 * _LINE + 2
    return middle if has_room else shape.frame


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
