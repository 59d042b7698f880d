"""Access declarations: what a kernel call reads and writes turn by turn, as a nest of loops with touched elements.

    for each pixel of the row
        for each four channels of it                    a turn
            read   the pixels under the window that are inside the row, with all channels
            write  the four channels

Overlap constraints follow from it: a byte may be overwritten once it has been read for the last time.  So only the
*last* read of a byte and its *first* write count: a kernel that passes over a row several times declares the pass in
which it reads a byte last, and the one in which it writes a byte first.  Within a turn all reads come before all
writes.

Operands are numbered as in `KernelCall.operands`.  All sizes are in elements of the operand.  An operand without a
touch is undeclared: it overlaps nothing.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.frozen import frozen


@frozen
class Window:
    """Positions along an axis: `(round * step + phase) / repeat - before + tap * dilation`, if within [0, size).

    That is rounded down, for each round of the loop, and each tap in [0, taps).  If none is within, nothing is touched.
    """

    loop: int
    """The loop that moves it; loops are numbered from the outermost."""
    pitch: int
    """Elements from one position to the next."""
    size: int
    taps: int = 1
    step: int = 1
    dilation: int = 1
    before: int = 0
    repeat: int = 1
    """Rounds of the loop in which it moves by `step`."""
    phase: int = 0
    """Less than `repeat`."""
    every: int = 1
    """If more than 1, only positions that it divides count, divided by it, and `dilation` is 1: the inputs that reach
    an output of a transposed convolution."""


@frozen
class Touch:
    """`size` contiguous elements, from `start` plus each loop's index times its stride, at each position of windows."""

    operand: int
    size: int
    strides: tuple[int, ...] = ()
    """Strides of the loops, outermost first; missing ones are 0."""
    start: int = 0
    windows: tuple[Window, ...] = ()
    writes: bool = False
    rows: tuple[int, ...] = ()
    """Strides of the loops, as for `strides`, to the only row under the window of `Rows` that is touched; if there are
    none, all rows of the streamed input are."""


@frozen
class Part:
    """A nest of loops inside the common ones."""

    loops: tuple[int, ...]
    """Number of rounds of each, the outermost first."""
    touches: tuple[Touch, ...]
    """Touches of one turn; they count the common loops first, then these."""
    forward: bool = False
    """Whether its loops run from the first index to the last even if all others run backward: sums of floats depend on
    the order."""


@frozen
class Accesses:
    """`for common loops: first part; second part; ...`"""

    parts: tuple[Part, ...]
    widths: tuple[int, ...]
    """Bytes of an element of each operand; 0 for operands that never overlap others, such as constants."""
    loops: tuple[int, ...] = ()
    """The common loops, the outermost first."""
    phases: bool = False
    """Whether each part needs the results of the one before it: then, backward, loops are reversed, but not parts."""
    backward: bool = False
    """Whether loops run from the last index to the first, except those of parts that are `forward`, and parts from the
    last to the first."""

    def reversed(self) -> Accesses:
        """Return the same turns in reverse order."""
        return replace(self, backward=not self.backward)
