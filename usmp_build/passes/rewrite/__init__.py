"""Exact rewrites: Model → Model, the same values for every tensor that is kept.

Tensor indices never change and operators keep their `position`, so that two dumps can be compared line by line.
Inputs and outputs of a subgraph are pins: no rewrite removes or replaces them.  So is what the manifest places by name
(`Pins`), and no rewrite moves a value from one target to another.

No rewrite says what it saved: that is found by counting before and after (`work.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from usmp_build.ir.graph import Model
from usmp_build.ir.rewritten import KeptChannels, Made, Record, Rewritten
from usmp_build.passes.rewrite.activations import activations
from usmp_build.passes.rewrite.constant_channels import constant_channels
from usmp_build.passes.rewrite.dead import dead
from usmp_build.passes.rewrite.duplicates import duplicates
from usmp_build.passes.rewrite.fold_shapes import fold_shapes
from usmp_build.passes.rewrite.identities import identities
from usmp_build.passes.rewrite.pads import pads
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.ports import check_ports
from usmp_build.passes.rewrite.variables import variables
from usmp_build.passes.rewrite.views import views
from usmp_build.passes.rewrite.work import saving, tensors_in_use

Step: TypeAlias = Callable[[Model, Pins], Made]


def _whole(step: Callable[[Model, Pins], Model], model: Model, pins: Pins) -> Made:
    """Take a step that leaves all channels."""
    return Made(step(model, pins))


REWRITES: Mapping[str, Step] = {
    "variables": partial(_whole, variables),
    "shapes": partial(_whole, fold_shapes),
    "identities": partial(_whole, identities),
    "duplicates": partial(_whole, duplicates),
    "pads": partial(_whole, pads),
    "activations": partial(_whole, activations),
    "constant_channels": constant_channels,
    "views": partial(_whole, views),
    "dead": partial(_whole, dead),
}
"""By the names that the manifest gives them, in the order in which they are made."""


def rewrite(model: Model, pins: Pins = NO_PINS, off: frozenset[str] = frozenset()) -> Rewritten:
    """Apply every rewrite that is not switched off, in order."""
    channels: KeptChannels = {}
    gone: dict[tuple[int, int], str] = {}
    savings = []
    for name, step in REWRITES.items():
        if name in off:
            continue
        before, made = model, step(model, pins)
        model, channels = made.model, _behind(channels, made.channels)
        check_ports(name, before, model)
        savings.append(saving(name, before, model))
        gone |= dict.fromkeys(tensors_in_use(before) - tensors_in_use(model), name)
    return Rewritten(model, Record(channels, tuple(each for each in savings if not each.is_empty), gone))


def _behind(first: KeptChannels, then: KeptChannels) -> KeptChannels:
    """Return what two rewrites leave together; the second one counts the channels that the first one left."""
    both = {
        tensor: tuple(first[tensor][channel] for channel in kept) if tensor in first else kept
        for tensor, kept in then.items()
    }
    return {**first, **both}
