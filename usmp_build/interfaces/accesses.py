"""What a kernel call reads and writes, turn by turn: a small nest of loops with what its body touches.

    for each pixel of the row
        for each four channels of it                    a turn
            read   the pixels under the window that are inside the row, with all channels
            write  the four channels

From it follows how far an output may lie over an input: a byte may be written once nothing will read it any more.  So
only the *last* read of a byte and its *first* write count: a kernel that passes over a row several times declares the
pass in which it reads a byte last, and that in which it writes one first.  Within a turn everything is read before
anything is written.

Operands are numbered as in `KernelCall.operands`.  All sizes are in elements of the operand.  Nothing is known of an
operand that no touch names: it keeps its full size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Window:
    """Places along an axis: `index * step - before + tap * dilation` for taps in [0, taps), if they are in [0, size).

    When none of them is, nothing is touched.
    """

    loop: int
    """Whose index it is; loops are numbered from the outermost."""
    pitch: int
    """From one place to the next."""
    size: int
    taps: int = 1
    step: int = 1
    dilation: int = 1
    before: int = 0


@dataclass(frozen=True, slots=True)
class Touch:
    """`size` elements side by side, from `start` plus each loop's index times its stride; at each place of windows."""

    operand: int
    size: int
    strides: tuple[int, ...] = ()
    """Of the loops, outermost first; 0 for those that are left out."""
    start: int = 0
    windows: tuple[Window, ...] = ()
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A nest of loops inside the common ones."""

    loops: tuple[int, ...]
    """How often each runs, the outermost first."""
    touches: tuple[Touch, ...]
    """Of one turn; their loops are the common ones and these."""
    forward: bool = False
    """Whether its own loops run from the first index to the last even where all others run backward: sums of floats
    depend on the order."""


@dataclass(frozen=True, slots=True)
class Accesses:
    """`for common loops: first part; second part; ...`"""

    parts: tuple[Part, ...]
    widths: tuple[int, ...]
    """Bytes of an element of each operand; 0 for those that are never planned over one another, as constants."""
    loops: tuple[int, ...] = ()
    """The common ones, the outermost first."""
    phases: bool = False
    """Whether each part needs what the one before it did: then, backward, loops are reversed, but parts are not."""
    backward: bool = False
    """Whether loops run from the last index to the first, but for those of parts that are `forward`, and parts from the
    last to the first."""

    def reversed(self) -> Accesses:
        """Return the same turns in reverse order."""
        return replace(self, backward=not self.backward)
