"""Refuses models that compute large constants, before TVM does: a few bytes of file can ask for gigabytes.

A constant is what an operator makes of constants alone, or of the shape of anything.  TVM's front end computes some of
these as it reads ONNX, and TVM all others when it lowers a module.  Where ONNX does not know the shape of one that the
front end computes, there is only the bound of this process's memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from typing import Any

from usmp_build.importers.tvm.refusal import Refusal

_MOST, _MOST_PER_BYTE = 64 << 20, 16
"""Bytes of all constants that operators compute; more for larger files, whose weights are dequantized and moved."""
_OF_SHAPES = ("Shape", "Size")
"""Operators of ONNX that look at the shape of their operand alone."""


class _Budget:
    """How many bytes of constants may still be computed, of a file of this size."""

    def __init__(self, file: int) -> None:
        self._most = self._left = _MOST + _MOST_PER_BYTE * file

    def take(self, operator: str, name: str, dtype: str, shape: Iterable[int], width: int) -> None:
        """Take the bytes of one constant.  Raises Refusal."""
        extents = list(shape)
        size = prod(extents) * width
        self._left -= size
        if self._left < 0:
            what = f"{dtype}[{','.join(map(str, extents))}], {size:,} bytes"
            message = f'{operator} makes the constant "{name}" of {what}; all that are computed may take {self._most:,}'
            raise Refusal(message, "compute it in the application, and make it an input; or make it smaller")


def check_onnx(model: Any, file: int) -> None:
    """Refuse an ONNX model, of a file of so many bytes, that computes large constants."""
    import onnx

    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except Exception:  # of several kinds: something is wrong with it, which the front end says in other words
        graph = model.graph
    _check_graph(graph, set(), _Budget(file))


def _check_graph(graph: Any, constants: set[str], budget: _Budget) -> None:
    import onnx

    constants = constants | {each.name for each in graph.initializer} | {""}
    types = {each.name: each.type.tensor_type for each in (*graph.value_info, *graph.output)}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _check_graph(attribute.g, constants, budget)
        if node.op_type not in _OF_SHAPES and not constants.issuperset(node.input):
            continue
        constants.update(node.output)
        for name in node.output if node.op_type != "Constant" else ():
            extents = [extent.dim_value for extent in types[name].shape.dim] if name in types else []
            if name in types and types[name].elem_type and all(extents):
                dtype = onnx.helper.tensor_dtype_to_np_dtype(types[name].elem_type)
                budget.take(node.op_type, name, str(dtype), extents, dtype.itemsize)


def check_relax(module: Any, file: int) -> None:
    """Refuse a Relax module, of a file of so many bytes, that computes large constants."""
    from tvm import relax

    budget, constants = _Budget(file), set[Any]()

    def is_constant(value: Any) -> bool:
        if isinstance(value, relax.Tuple):
            return all(map(is_constant, value.fields))
        return not isinstance(value, relax.Var) or value in constants

    @relax.expr_functor.visitor
    class Calls(relax.PyExprVisitor):  # type: ignore[misc]
        """Goes through the bindings of main in order."""

        def visit_var_binding_(self, binding: Any) -> None:
            self.visit_expr(binding.value)
            call = binding.value
            if isinstance(call, relax.TupleGetItem) and is_constant(call.tuple_value):
                constants.add(binding.var)
            if not isinstance(call, relax.Call) or not all(map(is_constant, call.args)):
                return
            constants.add(binding.var)
            for each in getattr(binding.var.ty, "fields", [binding.var.ty]):
                extents = getattr(getattr(each, "shape", None), "values", None)
                if extents is not None and all(hasattr(extent, "value") for extent in extents):
                    dtype = str(each.dtype)
                    bits = re.search(r"\d+", dtype)
                    width = int(bits.group()) // 8 if bits else 1
                    name = getattr(call.op, "name", "a call")
                    budget.take(name, binding.var.name, dtype, [int(extent.value) for extent in extents], width)

    Calls().visit_expr(module["main"])
