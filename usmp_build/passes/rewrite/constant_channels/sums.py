"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: sums of products with constant weights.

    sum[o] = bias[o] + Σ over taps and inputs of weights[o, tap, input] * (x[tap, input] - zero point)
    y[o]   = limited(scaled(sum[o]) + zero point)

A tap outside of the image adds nothing.  Scaling and limiting are monotone, so the ends of an interval of sums become
the ends of the interval of outputs; where a sum may leave int32 it may become anything within the limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic import vectors
from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.operators.values.interval import Interval, full
from usmp_build.passes.rewrite.constant_channels.tie import Tie

Weights: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True)
class Sum:
    """An operator as a sum."""

    source: int
    target: int
    weights: Weights
    """[outputs, taps, inputs]; of a depthwise convolution [outputs, taps, 1].  The bytes of the constant itself."""
    weight_zero_point: int
    channel: Integers
    """The source's channel for each input; of a depthwise convolution, for each output."""
    depthwise: bool
    bias: Integers
    """[outputs]"""
    has_bias: bool
    inside: Booleans
    """[taps]: whether a tap is in the image at some place of the window."""
    outside: Booleans
    """[taps]: whether it is out of the image at some place."""
    factors: tuple[Factor, ...]
    """One, or one for each output."""
    zero_point: int
    """Of the source."""
    target_zero_point: int
    limits: tuple[int, int]
    """Of the quantized output."""

    @property
    def tensors(self) -> tuple[int, int]:
        """Those that may lose channels here."""
        return self.source, self.target

    @property
    def ties(self) -> tuple[Tie, ...]:
        """A depthwise convolution works channel by channel."""
        outputs = np.arange(len(self.bias))
        return (Tie(self.source, self.target, self.channel, outputs),) if self.depthwise else ()

    def accumulated(self, x: Interval) -> Interval:
        """Return what the sums may be, in unlimited integers; `x` is that of the source."""
        low, high = self._inputs(x.low), self._inputs(x.high)
        some, none = self.inside[:, None], np.int64(0)
        low = np.where(some, np.where(self.outside[:, None], np.minimum(low, none), low), none)
        high = np.where(some, np.where(self.outside[:, None], np.maximum(high, none), high), none)
        weights = self.widened()
        positive = weights > 0
        least = (weights * np.where(positive, low, high)).sum((1, 2)) + self.bias
        most = (weights * np.where(positive, high, low)).sum((1, 2)) + self.bias
        return Interval(least, most)

    def widened(self) -> Integers:
        """Return the weights less their zero point: eight times as many bytes, so only while something is computed."""
        return self.weights.astype(np.int64) - self.weight_zero_point

    def output(self, sums: Interval) -> Interval:
        """Return what the outputs may be."""
        safe, anything = self.is_safe(sums), full(len(self.bias), *self.limits)
        low, high = (self._requantized(np.where(safe, end, 0)) for end in (sums.low, sums.high))
        return Interval(np.where(safe, low, anything.low), np.where(safe, high, anything.high))

    def is_safe(self, sums: Interval) -> Booleans:
        """Whether no sum leaves int32, and none wraps when it is scaled."""
        return vectors.fits(sums.low, self.factors) & vectors.fits(sums.high, self.factors)

    def is_foldable(self, x: Interval) -> Booleans:
        """Tell of each channel of the source whether a constant added to the bias stands for it.

        What pads adds nothing, so what is padded must add nothing, too.
        """
        nothing = x.is_constant & (x.low == self.zero_point)
        return x.is_constant if self.has_bias and not self.outside.any() else nothing

    def is_settled(self, sums: Interval) -> Booleans:
        """Tell of each output whether a bias alone, with weights of zero, gives it: it is constant."""
        return np.asarray(self.output(sums).is_constant & self.is_safe(sums) & self.has_bias)

    @cached_property
    def is_used(self) -> Booleans:
        """[outputs, inputs]: whether a weight is not zero.  Not of depthwise convolutions."""
        return np.asarray((self.weights != self.weight_zero_point).any(1))

    def _inputs(self, ends: Integers) -> Integers:
        """Return ends of intervals, less the zero point, so that they multiply with the weights."""
        taken = ends[self.channel] - self.zero_point
        return taken[:, None, None] if self.depthwise else taken[None, None, :]

    def _requantized(self, sums: Integers) -> Integers:
        return np.clip(vectors.scale(sums, self.factors) + self.target_zero_point, *self.limits)
