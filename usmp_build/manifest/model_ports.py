"""Checks the keys `inputs` and `outputs` of models against their other keys."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.errors import Diagnostic
from usmp_build.manifest.model import Manifest


def model_ports(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield models that keep inputs or outputs which are not in pools, or have rows from outside that cannot be."""
    yield from _kept_by_the_caller(manifest)
    yield from _rows_from_outside(manifest)


def _kept_by_the_caller(manifest: Manifest) -> Iterator[Diagnostic]:
    for name, model in manifest.models.items():
        for side, value in (("inputs", model.inputs), ("outputs", model.outputs)):
            if model.io == "application" and value in ("preserved", "reserved"):
                message = f'model "{name}" has {side} = "{value}", which is for pools, and io = "application"'
                help_ = f"leave `{side}` out: the arrays are the caller's, and nothing else uses their memory; or `io`"
                yield Diagnostic("M112", message, manifest.places.value("models", name, side), help_)


def _rows_from_outside(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield models with such ports where the manifest has layers run as a whole, or rows computed again."""
    for name, model in manifest.models.items():
        recompute = manifest.plan.recompute if model.recompute is None else model.recompute
        obstacles = {
            "[plan] does not let layers run row by row": ("write rows = true in [plan]", not manifest.plan.rows),
            "[plan] has overlap = false, which is for whole layers": (
                "leave `overlap` out",
                not manifest.plan.overlap,
            ),
            'order = "file" is for whole layers': ("leave `order` out", model.order == "file"),
            f'recompute = "{recompute} %" is for whole inputs and outputs': (
                f'write recompute = "0 %" in [models.{name}]',
                recompute > 0,
            ),
        }
        for side in (side for side in ("inputs", "outputs") if getattr(model, side) == "rows"):
            for obstacle, (way_out, is_there) in obstacles.items():
                if is_there:
                    message = f'model "{name}" has {side} = "rows", but {obstacle}'
                    help_ = f"{way_out}, or another value of `{side}`"
                    yield Diagnostic("M112", message, manifest.places.value("models", name, side), help_)
