"""Images of one row, turned by a quarter: signals along time then run sample by sample, as images do row by row.

    [1, 1, 8000, 4]    one row of 8,000 pixels        window 1 x 3, stride 1 x 2
    [1, 8000, 1, 4]    8,000 rows of one pixel        window 3 x 1, stride 2 x 1

All bytes are where they were, those of weights, too, and so are the results.
"""

from __future__ import annotations

from dataclasses import fields, replace

from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import Options
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import are_apart
from usmp_build.operators.pooling import Pool2D

KINDS = frozenset("AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D L2_POOL_2D MAX_POOL_2D TRANSPOSE_CONV".split())
"""Operators that treat both axes of an image alike."""


def turned(node: Node) -> Node | None:
    """Return the operator that makes the turned output of the turned image; None if that is not one long row."""
    operator = node.operator
    if operator.kind not in KINDS or are_apart(node) or not _is_long_row(node):
        return None
    options = operator.options and _turned(operator.options)
    return node.with_tensors(lambda _, tensor: _turned_image(tensor), options)


def _is_long_row(node: Node) -> bool:
    """Tell whether an image is a single row of several pixels, and its window, too.

    A window of several rows and columns would have its weights in another order.
    """
    source = node.input(2 if node.operator.kind == "TRANSPOSE_CONV" else 0)
    shapes = source.shape, node.output.shape
    is_row = all(len(shape) == 4 and shape[:2] == (1, 1) for shape in shapes) and source.shape[2] > 1
    return is_row and (isinstance(node.operator.options, Pool2D) or node.input(1).shape[1:2] == (1,))


def _turned_image(tensor: Tensor) -> Tensor:
    if len(tensor.shape) != 4:
        return tensor
    images, height, width, channels = tensor.shape
    return replace(tensor, shape=(images, width, height, channels))


def _turned(options: Options) -> Options:
    """Return the options with heights and widths exchanged."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    pairs = {"_h": "_w", "_w": "_h"}
    changed = {name: values[name[:-2] + pairs[name[-2:]]] for name in values if name[-2:] in pairs}
    if frame := values.get("frame"):
        above, below, left, right = frame
        changed["frame"] = (left, right, above, below)
    return replace(options, **changed)
