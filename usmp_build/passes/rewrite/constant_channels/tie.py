"""Channels of two tensors that stay or go together."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.arithmetic.vectors import Integers


@dataclass(frozen=True)
class Tie:
    """Channels of one tensor and of another: the first with the first, and so on."""

    source: int
    target: int
    source_channels: Integers
    target_channels: Integers
