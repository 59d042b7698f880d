"""Images with another number of pixels along their axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from usmp_build.frozen import frozen
from usmp_build.ir.options import Options, slot
from usmp_build.operators.general_rules import integers, not_empty, rank, same_type, shape_fault, shown
from usmp_build.operators.kind import OperatorKind, StoredOptions, pure
from usmp_build.operators.operands import Fault, Signature, Subject


@frozen
class ResizeBilinear(Options):
    """RESIZE_BILINEAR."""

    align_corners: bool = field(default=False, metadata=slot(2, "?"))
    """The first and the last pixels of both images are at the same places."""
    half_pixel_centers: bool = field(default=False, metadata=slot(3, "?"))
    """Pixels are squares, and both images have the same borders."""


@frozen
class ResizeNearest(Options):
    """RESIZE_NEAREST_NEIGHBOR."""

    align_corners: bool = field(default=False, metadata=slot(0, "?"))
    half_pixel_centers: bool = field(default=False, metadata=slot(1, "?"))


def _resized(subject: Subject) -> Iterator[Fault]:
    """The output has the size that is an operand, and images and channels of the input."""
    sizes, (images, _, _, channels) = subject.numbers("size"), subject.shape("input")
    if sizes is None:
        return
    if len(sizes) != 2 or min(sizes) < 1:
        yield Fault("T249", f"its size is {shown(sizes)}, but must be a height and a width")
        return
    yield from shape_fault(subject, "output", (images, *sizes, channels))


_SIGNATURE = Signature(
    "input size",
    rules=(same_type("input", "output"), rank(4, "input", "output"), not_empty("input"), integers("size"), _resized),
)


def _resizing(name: str, options: type[Options], table: str) -> OperatorKind:
    return pure(
        name,
        _SIGNATURE,
        options=StoredOptions(options, table),
        keeps_axes=True,
        within_inputs=True,
        streams=True,
    )


KINDS = (
    _resizing("RESIZE_BILINEAR", ResizeBilinear, "ResizeBilinearOptions"),
    _resizing("RESIZE_NEAREST_NEIGHBOR", ResizeNearest, "ResizeNearestNeighborOptions"),
)
