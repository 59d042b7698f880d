"""The memory map of one workspace pool, ready for its template: everything in units of the picture, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.errors import one_line
from usmp_build.frozen import frozen
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.report.page import scale as scales
from usmp_build.report.page.labels import Label, fitted, labels
from usmp_build.report.page.places import Place
from usmp_build.report.page.scale import Scale
from usmp_build.report.page.shapes import Rectangle, Shape, overlaps, path, shapes
from usmp_build.units import count_bytes, show_bytes

_NARROWEST_STRIPE = 4.0
_IN_KIB = 4096
"""The highest grid line, from which on they count KiB."""
_WORDS = 22.0
"""Height that words above a line take."""
_NAMED_STEPS = 16
"""Steps that have their names below the map, at most; only if all names fit."""


@frozen
class Text:
    """A line of text: where it is, and at which point of it."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@frozen
class ModelBand:
    """The heading of a model's steps."""

    frame: Rectangle
    color: int
    name: Text


@frozen
class PoolMap:
    """What a picture of a pool shows."""

    name: str
    title: str
    bands: tuple[ModelBand, ...]
    grid: tuple[Text, ...]
    shapes: tuple[Shape, ...]
    overlaps: str
    """A path; empty if nothing overlaps."""
    labels: tuple[Label, ...]
    stripe: Rectangle | None
    """The step that no plan can make smaller."""
    steps: tuple[Text, ...]
    """Names below the map: of all steps, or only of the stripe."""
    limit: float | None
    """Its height, if it is in sight."""
    budget: float | None
    """Its height, if it is in sight."""
    used: float
    words: str
    """How full the pool is."""
    words_at: Text


def pool_map(plan: PlanRecord, pool: PoolRecord, places: Mapping[str, Place]) -> PoolMap:
    """Lay out the map of a workspace pool that is not empty."""
    scale = Scale(scales.bands(plan.steps), scales.height(pool.size, pool.limit))
    members = [place for place in places.values() if place.pool == pool.name]
    drawn = shapes(plan, members, scale)
    stripe = _stripe(plan, pool, places, scale)
    used = scale.up(pool.size)
    limit = scale.up(pool.limit) if pool.limit is not None and pool.limit <= scale.top else None
    words, is_close = used_in_words(pool), limit is not None and used - limit < _WORDS
    words_at = Text(scales.LEFT + 6, (limit if limit is not None and is_close else used) - 6, words, "start")
    return PoolMap(
        name=pool.name,
        title=f"{pool.name}: {words}",
        bands=_bands(plan, scale),
        grid=tuple(_grid(scale)),
        shapes=drawn,
        overlaps=path(overlaps(places, pool.name, scale)),
        labels=labels(drawn),
        stripe=stripe,
        steps=_steps(plan, pool, scale, stripe),
        limit=limit,
        budget=scale.up(pool.budget) if pool.budget is not None and pool.budget <= scale.top else None,
        used=used,
        words=words,
        words_at=words_at,
    )


def _grid(scale: Scale) -> Iterator[Text]:
    lines = scales.grid(scale.top)
    in_kib = all(each % 512 == 0 for each in lines) and lines[-1] >= _IN_KIB
    for each in lines:
        yield Text(scales.LEFT - 6, scale.up(each), scales.address(each, in_kib=in_kib), "end")


def used_in_words(pool: PoolRecord) -> str:
    """Say how full a pool is."""
    if pool.limit is None:
        return f"{count_bytes(pool.size)} used, no limit"
    used = f"{show_bytes(pool.size)} of {count_bytes(pool.limit)} used"
    return f"{used}, {show_bytes(pool.limit - pool.size)} free: {percent_full(pool)}"


def percent_full(pool: PoolRecord) -> str:
    """Say what part of its limit a pool takes, rounded down: only a pool without a free byte is 100 % full."""
    return f"{100 * pool.size // (pool.limit or 1)} % full"


def witness_step(plan: PlanRecord, pool: PoolRecord, places: Mapping[str, Place]) -> int | None:
    """Return the step at which the buffers that show a pool's bound are alive together; None where no step shows it."""
    if pool.certificate is None or pool.certificate.step is None:
        return None
    buffers = [places[name] for name in pool.certificate.buffers if name in places]
    for number, step in enumerate(plan.steps):
        if step.text == pool.certificate.step and all(each.is_alive(number) for each in buffers):
            return number
    return None


def _bands(plan: PlanRecord, scale: Scale) -> tuple[ModelBand, ...]:
    colors = {model.name: number for number, model in enumerate(plan.models)}
    result = []
    for band in scale.bands:
        frame = Rectangle(band.left, scales.TOP - 26, band.right, scales.TOP - 6)
        name = Text((band.left + band.right) / 2, scales.TOP - 12, fitted(one_line(band.model), band.right - band.left))
        result.append(ModelBand(frame, colors.get(band.model, 0), name))
    return tuple(result)


def _stripe(plan: PlanRecord, pool: PoolRecord, places: Mapping[str, Place], scale: Scale) -> Rectangle | None:
    step = witness_step(plan, pool, places)
    if step is None:
        return None
    left, right = scale.across(step), scale.across(step + 1, is_stop=True)
    missing = max(0.0, _NARROWEST_STRIPE - (right - left)) / 2
    return Rectangle(left - missing, scales.TOP, right + missing, scales.BOTTOM)


def _steps(plan: PlanRecord, pool: PoolRecord, scale: Scale, stripe: Rectangle | None) -> tuple[Text, ...]:
    y = scales.BOTTOM + 16
    if len(plan.steps) <= _NAMED_STEPS:
        spans = [(scale.across(i), scale.across(i + 1, is_stop=True)) for i in range(len(plan.steps))]
        names = [one_line(step.text.removeprefix(f"{step.model}: ")) for step in plan.steps]
        if all(fitted(name, right - left) == name for name, (left, right) in zip(names, spans, strict=True)):
            return tuple(Text((left + right) / 2, y, name) for name, (left, right) in zip(names, spans, strict=True))
    if stripe is None or pool.certificate is None:
        return ()
    x = (stripe.left + stripe.right) / 2
    anchor = "start" if x < scales.LEFT + 120 else "end" if x > scales.RIGHT - 120 else "middle"
    return (Text(x, y, f"▲ {one_line(pool.certificate.step or '')}", anchor),)
