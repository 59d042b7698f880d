"""SignalRfft and SignalIrfft: Fourier transforms of real signals, with the same integers as kiss_fft.

A signal of n samples is n / 2 complex numbers.  Their transform goes by radices: as many 4 as there are, then 2, 3, 5.
"""

from __future__ import annotations

from math import cos, floor, pi, prod, sin

import numpy as np

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, Moved, kernel
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.signal import apart
from usmp_build.operators.signal import Fft

_TYPES = {DType.INT16, DType.INT32, DType.FLOAT32}
_ONE = {DType.INT16: (1 << 15) - 1, DType.INT32: (1 << 31) - 1}
"""What stands for 1 in fixed point."""
_MOST_STAGES = 16
_ROOTS = {3: 1, 5: 4}
"""Elements of the roots of 1 by radix, without those that only change signs: of three, an imaginary part; of five, two
points."""


def rfft(node: Node) -> Kernel:
    """The first half of the spectrum, and the number in the middle; a frame that is too short is followed by zeros."""
    source, output, points = node.input(0), node.output, _points(node)
    samples = source.shape[-1] if source.shape else 1
    frames = source.elements // samples
    node.expect(samples <= 2 * points, f"transforms {samples} samples as {2 * points}")
    node.expect(output.elements == frames * 2 * (points + 1), "has an output of another size than its spectrum")
    return _kernel(node, "signal_rfft", points, (("frames", frames), ("samples", samples)), inverse=False)


def irfft(node: Node) -> Kernel:
    """The samples of a spectrum, which is given by its first half, and the number in the middle."""
    source, output, points = node.input(0), node.output, _points(node)
    frames = source.elements // (2 * (points + 1))
    node.expect(source.elements == frames * 2 * (points + 1), "has an input of another size than its spectrum")
    node.expect(output.elements == frames * 2 * points, "has an output of another size than its samples")
    return _kernel(node, "signal_irfft", points, (("frames", frames),), inverse=True)


def _points(node: Node) -> int:
    length = node.options(Fft).fft_length
    node.expect(length >= 2 and length % 2 == 0, f"transforms {length} samples")
    if length == 2:
        raise Unsupported("it transforms two samples, on which TensorFlow Lite Micro fails")
    return length // 2


def _kernel(node: Node, function: str, points: int, fields: tuple[tuple[str, int], ...], *, inverse: bool) -> Kernel:
    """Put the kernel together, in one direction: every number of an output is read again in each stage."""
    source, output, dtype = node.input(0), node.output, node.input(0).dtype
    if dtype not in _TYPES or output.dtype is not dtype:
        raise unsupported_types(source, output)
    radices = _radices(points)
    twiddles = _constant("twiddles", dtype, [-2 * pi * i / points for i in range(points)], inverse)
    turns = _constant("turns", dtype, [-pi * ((i + 1) / points + 0.5) for i in range(points // 2)], inverse)
    padded = (*radices, *(0,) * (_MOST_STAGES - len(radices)))
    frames = dict(fields)["frames"]
    parameters: Fields = (
        *fields,
        ("points", points),
        ("stages", len(radices)),
        ("radices", padded),
    )
    unit, length, floats = frames * dtype.bits // 8, source.elements // frames, dtype is DType.FLOAT32
    return kernel(
        node,
        c_name(function, dtype),
        apart(source.elements, output.elements),
        parameters,
        struct=f"{function}_parameters",
        operands=(Input(0), Derived(0), Derived(1), Output(0)),
        constants=(twiddles, turns),
        moved=_traffic(radices, unit, length, inverse=inverse, floats=floats),
    )


def _radices(points: int) -> tuple[int, ...]:
    """Return the radices of a transform, the outermost first.  Raises Unsupported for other prime factors."""
    radices = []
    for radix in (4, 2, 3, 5):
        while points % radix == 0:
            radices.append(radix)
            points //= radix
    if points > 1:
        raise Unsupported(f"its length has the prime factor {_least_factor(points)}")
    if len(radices) > _MOST_STAGES:
        raise Unsupported(f"it has {len(radices)} stages")
    return tuple(radices)


def _least_factor(number: int) -> int:
    return next(factor for factor in range(7, number + 1, 2) if number % factor == 0)


def _constant(name: str, dtype: DType, phases: list[float], inverse: bool) -> Constant:
    """Return points on the unit circle: real and imaginary parts in turn, at least one point."""
    turned = [-phase if inverse else phase for phase in phases] or [0.0]
    parts = [part for phase in turned for part in (cos(phase), sin(phase))]
    if dtype in _ONE:
        rounded = [floor(0.5 + _ONE[dtype] * part) for part in parts]
        return Constant(name, dtype, np.array(rounded, f"<i{dtype.bits // 8}").tobytes())
    return Constant(name, dtype, np.array(parts, "<f4").tobytes())


def _traffic(radices: tuple[int, ...], unit: int, length: int, *, inverse: bool, floats: bool) -> Moved:
    """Return the bytes that all frames move of the input, both constants and the output.

    `unit` is what one element takes in all frames together, `length` the number of elements in a frame of the input.
    """
    points, stages, pairs = prod(radices), len(radices), prod(radices) // 2
    staged, twiddles = points * stages, _twiddles(radices)
    if inverse:
        rest = points if floats else 0
        read, turns, moved = 2 * (2 * points - 1), points - 1, (staged + rest, staged + points + rest)
    else:
        read, turns, moved = length, pairs, (staged + 1 + 2 * pairs, staged + points + 2 + 2 * pairs)
    return {
        Input(0): Traffic(unit * read),
        Derived(0): Traffic(unit * twiddles),
        Derived(1): Traffic(unit * 2 * turns),
        Output(0): Traffic(*(unit * 2 * numbers for numbers in moved)),
    }


def _twiddles(radices: tuple[int, ...]) -> int:
    """Return how many elements of twiddles the stages of one transform read.

    Each butterfly reads one for all of its inputs but the first; butterflies side by side share their roots of 1.
    """
    points, side_by_side, elements = prod(radices), 1, 0
    for radix in reversed(radices):
        butterflies = points // radix
        elements += butterflies * 2 * (radix - 1) + butterflies // side_by_side * _ROOTS.get(radix, 0)
        side_by_side *= radix
    return elements
