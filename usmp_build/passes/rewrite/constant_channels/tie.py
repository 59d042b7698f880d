"""Ties channels of two tensors that are kept or removed together."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.arithmetic.vectors import Integers


@dataclass(frozen=True)
class Tie:
    """Pairs of channels of two tensors: the first with the first, and so on."""

    source: int
    target: int
    source_channels: Integers
    target_channels: Integers
