"""Exact rewrites: Model → Model, the same values for every tensor that is kept.

Tensor indices never change and operators keep their `position`, so that two dumps can be compared line by line.
Inputs and outputs of a subgraph are pins: no rewrite removes or replaces them.  So is what the manifest places by name
(`Pins`), and no rewrite moves a value from one target to another.
"""

from __future__ import annotations

from usmp_build.ir.graph import Model
from usmp_build.passes.rewrite.fold_shapes import fold_shapes
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.variables import variables
from usmp_build.passes.rewrite.views import views

REWRITES = (variables, fold_shapes, views)


def rewrite(model: Model, pins: Pins = NO_PINS) -> Model:
    """Apply every rewrite, in order."""
    for step in REWRITES:
        model = step(model, pins)
    return model
