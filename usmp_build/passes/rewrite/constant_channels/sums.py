"""Models CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED as sums of products with constant weights, on intervals.

    sum[o] = bias[o] + Σ over taps and inputs of weights[o, tap, input] * (x[tap, input] - zero point)
    y[o]   = limited(scaled(sum[o]) + zero point)

A tap outside the image adds nothing.  Scaling and limiting are monotone, so the ends of an interval of sums map to the
ends of the interval of outputs; if a sum may overflow int32, the output may be anything within the limits.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic import vectors
from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.frozen import frozen
from usmp_build.operators.values.interval import Interval, full


@frozen
class Tie:
    """Pairs of channels of two tensors: the first with the first, and so on."""

    source: int
    target: int
    source_channels: Integers
    target_channels: Integers


Weights: TypeAlias = NDArray[np.int8]


@frozen
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
        """Tensors that may lose channels here."""
        return self.source, self.target

    @property
    def ties(self) -> tuple[Tie, ...]:
        """The channels of source and target that a depthwise convolution ties together."""
        outputs = np.arange(len(self.bias))
        return (Tie(self.source, self.target, self.channel, outputs),) if self.depthwise else ()

    def accumulated(self, x: Interval) -> Interval:
        """Return the interval of the sums, in unlimited integers; `x` is that of the source."""
        low, high = self._inputs(x.low), self._inputs(x.high)
        inside, zero = self.inside[:, None], np.int64(0)
        low = np.where(inside, np.where(self.outside[:, None], np.minimum(low, zero), low), zero)
        high = np.where(inside, np.where(self.outside[:, None], np.maximum(high, zero), high), zero)
        weights = self.widened()
        positive = weights > 0
        least = (weights * np.where(positive, low, high)).sum((1, 2)) + self.bias
        most = (weights * np.where(positive, high, low)).sum((1, 2)) + self.bias
        return Interval(least, most)

    def widened(self) -> Integers:
        """Return the weights minus their zero point; not cached, since int64 takes eight times as many bytes."""
        return self.weights.astype(np.int64) - self.weight_zero_point

    def output(self, sums: Interval) -> Interval:
        """Return the interval of the outputs."""
        safe, anything = self.is_safe(sums), full(len(self.bias), *self.limits)
        low, high = (self._requantized(np.where(safe, end, 0)) for end in (sums.low, sums.high))
        return Interval(np.where(safe, low, anything.low), np.where(safe, high, anything.high))

    def is_safe(self, sums: Interval) -> Booleans:
        """Tell of each output whether its sum neither overflows int32 nor wraps when it is scaled."""
        return vectors.fits(sums.low, self.factors) & vectors.fits(sums.high, self.factors)

    def is_foldable(self, x: Interval) -> Booleans:
        """Tell of each channel of the source whether a constant added to the bias can replace it.

        Padding adds nothing to a sum, so with padding the channel must add nothing either.
        """
        nothing = x.is_constant & (x.low == self.zero_point)
        return x.is_constant if self.has_bias and not self.outside.any() else nothing

    def is_settled(self, sums: Interval) -> Booleans:
        """Tell of each output whether it is constant, so that a bias with zero weights computes it."""
        return np.asarray(self.output(sums).is_constant & self.is_safe(sums) & self.has_bias)

    @cached_property
    def is_used(self) -> Booleans:
        """[outputs, inputs]: whether any tap has a nonzero weight.  Not for depthwise convolutions."""
        return np.asarray((self.weights != self.weight_zero_point).any(1))

    def _inputs(self, ends: Integers) -> Integers:
        """Return ends of intervals minus the zero point, in a shape that broadcasts with the weights."""
        taken = ends[self.channel] - self.zero_point
        return taken[:, None, None] if self.depthwise else taken[None, None, :]

    def _requantized(self, sums: Integers) -> Integers:
        return np.clip(vectors.scale(sums, self.factors) + self.target_zero_point, *self.limits)
