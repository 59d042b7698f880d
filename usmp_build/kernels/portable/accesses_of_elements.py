"""Accesses of elementwise kernels: each turn is an element, in memory order."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.interfaces.accesses import Accesses, Part, Touch


def elementwise_accesses(size: int, element_sizes: tuple[int, ...]) -> Accesses:
    """Operands of one shape; the last one is the output.

    `element_sizes` are the bytes of an element of each operand; 0 for a table, which is read anywhere.
    """
    last = len(element_sizes) - 1
    touches = tuple(
        Touch(operand, 1, (1,), writes=operand == last)
        for operand, element_size in enumerate(element_sizes)
        if element_size
    )
    return Accesses((Part((size,), touches),), element_sizes)


def row_by_row_accesses(rows: int, size: int, element_sizes: tuple[int, ...]) -> Accesses:
    """SOFTMAX: it looks over a row first, then it reads each element once more right before it writes that element.

    The last operand is the output; `element_sizes` are as in `elementwise_accesses`.
    """
    strides = (size, 1)
    touches = (Touch(0, 1, strides), Touch(len(element_sizes) - 1, 1, strides, writes=True))
    return Accesses((Part((rows, size), touches),), element_sizes)


def broadcast_accesses(axes: Sequence[Sequence[int]], element_sizes: tuple[int, ...]) -> Accesses:
    """Operands that are stretched to the shape of the output, which is the last one.

    Each axis has its size, and the steps of all operands before the output that are not tables; see above.
    """
    sizes, *operands = zip(*axes, strict=True)
    steps, step = [], 1
    for size in reversed(sizes):
        steps.append(step)
        step *= size
    *given, output = (operand for operand, element_size in enumerate(element_sizes) if element_size)
    touches = [Touch(operand, 1, strides) for operand, strides in zip(given, operands, strict=True)]
    touches.append(Touch(output, 1, tuple(reversed(steps)), writes=True))
    return Accesses((Part(sizes, tuple(touches)),), element_sizes)
