"""How far apart input and output of a row kernel must be."""

import numpy as np

from tests.support.kernels.drawing import Case
from usmp_build.interfaces.kernels import Kernel, Rows
from usmp_build.ir.schedule import Direction


def separation(case: Case, kernel: Kernel, direction: Direction) -> int:
    """Return how far before the input the output must begin if every pixel is written before it is read.

    Forward that is at least the greatest distance, over all pixels, from the first byte that is still to be read to the
    end of what has been written; backward, at most the least from the end of what is still to be read to the begin of
    what has been written.
    """
    call = kernel.calls[0]
    assert isinstance(call.form, Rows)
    assert call.parameters is not None
    form, p = call.form, {name: int(value) for name, value in call.parameters.fields if isinstance(value, int)}
    width = case.graph.tensors[0].dtype.bits // 8
    columns, pixel = p["output_width"], form.output_row_elements // p["output_width"] * width
    written, first, last = [], [], []
    for image in range(form.images):
        for y in range(form.rows):
            taps = [y * form.stride - form.before + k * form.dilation for k in range(form.window)]
            rows = [image * form.input_rows + tap for tap in taps if 0 <= tap < form.input_rows]
            for x in range(columns):
                taps = [x * p["stride"] - p["before"] + k * p.get("dilation", 1) for k in range(p["window_width"])]
                inside = [tap for tap in taps if 0 <= tap < p["input_width"]] if rows else []
                places = [row * p["input_width"] + column for row in rows for column in inside]
                written.append(((image * form.rows + y) * columns) + x)
                first.append(min(places, default=0))
                last.append(max(places, default=form.images * form.input_rows * p["input_width"] - 1))
    read = form.input_row_elements // p["input_width"] * width
    if direction is Direction.FORWARD:
        to_come = np.minimum.accumulate(np.array(first)[::-1])[::-1] * read
        return int(((np.array(written) + 1) * pixel - to_come).max())
    to_come = (np.maximum.accumulate(np.array(last)) + 1) * read
    return int((np.array(written) * pixel - to_come).min())
