"""Exact rewrites of a model: every tensor that is kept has the same value as before.

Tensor indices never change and operators keep their `position`, so that two dumps can be compared line by line.
Inputs and outputs of a subgraph are pinned: no rewrite removes or replaces them.  So are operators and tensors that the
manifest names (`Pins`), and no rewrite moves a value from one target to another.

Rewrites do not report their savings: these are counted before and after (`work.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from usmp_build.ir.graph import Model
from usmp_build.ir.rewritten import KeptChannels, MovedAxes, Record, RewriteStep, Rewritten
from usmp_build.passes.rewrite.activations import activations
from usmp_build.passes.rewrite.composites import composites
from usmp_build.passes.rewrite.constant_channels import constant_channels
from usmp_build.passes.rewrite.dead import dead
from usmp_build.passes.rewrite.duplicates import duplicates
from usmp_build.passes.rewrite.fold_constants import fold_constants
from usmp_build.passes.rewrite.fold_shapes import fold_shapes
from usmp_build.passes.rewrite.heads import heads
from usmp_build.passes.rewrite.identities import identities
from usmp_build.passes.rewrite.invariants import check_rewrite, check_sense
from usmp_build.passes.rewrite.lookups import lookups
from usmp_build.passes.rewrite.pads import pads
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.uint8 import uint8
from usmp_build.passes.rewrite.variables import variables
from usmp_build.passes.rewrite.views import views
from usmp_build.passes.rewrite.work import saving, tensors_in_use

REWRITES: Mapping[str, Callable[[Model, Pins], Model | RewriteStep]] = {
    "uint8": uint8,
    "variables": variables,
    "shapes": fold_shapes,
    "constants": fold_constants,
    "identities": identities,
    "duplicates": duplicates,
    "composites": composites,
    "pads": pads,
    "activations": activations,
    "constant_channels": constant_channels,
    "lookups": lookups,
    "views": views,
    "heads": heads,
    "dead": dead,
}
"""Rewrites by their names in the manifest, in the order in which they are applied."""


def rewrite(model: Model, pins: Pins = NO_PINS, off: frozenset[str] = frozenset()) -> Rewritten:
    """Apply every rewrite whose name is not in `off`, in order."""
    imported = model
    channels: KeptChannels = {}
    axes: MovedAxes = {}
    gone: dict[tuple[int, int], str] = {}
    savings = []
    for name, step in REWRITES.items():
        if name in off:
            continue
        before, result = model, step(model, pins.of(model))
        if isinstance(result, RewriteStep):
            channels, axes = {**channels, **result.channels}, {**axes, **result.axes}
        model = result.model if isinstance(result, RewriteStep) else result
        check_rewrite(name, before, model)
        savings.append(saving(name, before, model))
        gone |= dict.fromkeys(tensors_in_use(before) - tensors_in_use(model), name)
    check_sense(imported, model)
    return Rewritten(model, Record(channels, axes, tuple(each for each in savings if not each.is_empty), gone))
