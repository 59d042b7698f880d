"""Operators whose only output row needs all of their input: by rows they add it up, so that it never exists as a whole.

window over all rows     reads 15 rows of 48 bytes              makes 48 bytes
by rows                  adds each row to 48 sums of 4 bytes    makes 48 bytes after the last
"""

from __future__ import annotations

from usmp_build.interfaces.call_traffic import call_traffic
from usmp_build.interfaces.kernels import Constant, Kernel, KernelCall, Reduce, Rows, Scratch, ScratchRequest, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, InTurn, kernel
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import are_apart


def is_less_as_sums(node: Node, sums: DType = DType.INT32) -> bool:
    """Tell whether an image of several rows makes one row whose sums, with a row and the output, take less than it."""
    source, output = node.streamed(), node.output
    images, height = source.shape[:2]
    if images != 1 or height == 1 or output.shape[1] != 1 or are_apart(node):
        return False
    return sums.bits // 8 * output.elements + source.size // height + output.size <= source.size


def added_up(
    node: Node,
    whole: KernelCall,
    does: str,
    fields: Fields,
    nest: InTurn,
    rows: int,
    constants: tuple[Constant, ...] = (),
    sums: DType | None = None,
) -> Kernel:
    """Return the kernel of functions that add up rows, given the call that makes the output row from all of them.

    The window covers `rows` of them.  What the call gets right after its input is for each row, all else for the end.
    `sums` is the type of the sums if that is neither int32 nor float32.
    """
    assert isinstance(whole.form, Rows)
    source, output = node.streamed(), node.output
    form = Reduce(
        images=1,
        rows=whole.form.input_rows,
        input_row_elements=whole.form.input_row_elements,
        output_row_elements=whole.form.output_row_elements,
        any_order=not source.dtype.is_float,
        numbered=True,
    )
    split = min(2, len(whole.operands) - 1)
    operands = (*whole.operands[:split], Scratch(0), *whole.operands[split:])
    sums = sums or (DType.FLOAT32 if source.dtype.is_float else DType.INT32)
    size = sums.bits // 8 * output.elements
    each = size * (rows + 1)  # a sum is begun, added to for every row, and read at the end
    # rows that the window does not cover are not read
    moved = {operand: moved for operand, moved in zip(whole.operands, call_traffic(whole), strict=True) if moved}
    return kernel(
        node,
        c_name(does, source.dtype),
        nest,
        fields,
        form=form,
        operands=operands,
        constants=constants,
        scratch=(ScratchRequest("sums", size, sums),),
        moved={**moved, Scratch(0): Traffic(each, each)},
    )
