"""Finds operators that converters wrote out as several, and makes them one again.

    RESHAPE, TILE, RESHAPE, TILE, RESHAPE              →    RESIZE_NEAREST_NEIGHBOR        (upsampling.py)
    SPACE_TO_BATCH_ND, CONV_2D, BATCH_TO_SPACE_ND      →    CONV_2D, dilated               (dilation.py)

The one operator goes row by row; the several do not, for between them rows are longer, or in other images.
"""

from __future__ import annotations

from usmp_build.ir.graph import Model
from usmp_build.passes.rewrite.dilation import dilations
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.upsampling import upsampling


def composites(model: Model, pins: Pins = NO_PINS) -> Model:
    """Replace all groups of operators that are known."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    upsampling(net)
    dilations(net)
