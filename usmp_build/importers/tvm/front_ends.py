"""Reads model files to Relax modules, by TVM's own front ends.  Runs in the process that has TVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from usmp_build.importers.tvm.folding import check_onnx, check_relax
from usmp_build.importers.tvm.refusal import Refusal

_FIX_ONNX = (
    "fix its shape, as for one of 1,3,96,96: python -m onnxruntime.tools.make_dynamic_shape_fixed "
    "--input_name {input} --input_shape 1,3,96,96 net.onnx fixed.onnx"
)
_FIX_RELAX = (
    'fix it, as by relax.transform.BindSymbolicVars({{"{size}": 1}})(module), '
    'or state the attribute "tir_var_upper_bound" of main'
)

_SAVE = "save it by tvm.ir.save_json(module)"


def relax_module(data: bytes, suffix: str) -> tuple[Any, list[str]]:
    """Return the module of a file, with its weights bound and one function `main`, and names of main's results.

    Only ONNX names results.  Raises Refusal.
    """
    module, results = _from_onnx(data) if suffix == ".onnx" else (_from_json(data), [])
    functions = {name.name_hint: f for name, f in module.functions.items() if isinstance(f, relax.Function)}
    if "main" not in functions:
        raise Refusal(f"it has no Relax function main, but {', '.join(sorted(functions)) or 'none at all'}")
    module = _with_weights(_in_one_function(module))
    module = _at_upper_bounds(module, _FIX_ONNX if suffix == ".onnx" else _FIX_RELAX)
    main = next(name for name in module.get_global_vars() if name.name_hint == "main")
    module.update_func(main, _Guarded(module).visit_expr(module["main"]))
    check_relax(module, len(data))
    return module, results


def _from_onnx(data: bytes) -> tuple[Any, list[str]]:
    import onnx
    from google.protobuf.message import DecodeError
    from tvm.relax.frontend.onnx import from_onnx

    try:
        model = onnx.load_model_from_string(data)
    except DecodeError:
        model = onnx.ModelProto()
    if not model.HasField("graph"):
        raise Refusal("it is not an ONNX file, or is damaged", "export it again")
    outside = (each.name for each in model.graph.initializer if onnx.external_data_helper.uses_external_data(each))
    if name := next(outside, None):
        help_ = 'export it with external_data=False, or: onnx.save(onnx.load("net.onnx"), "one.onnx")'
        raise Refusal(f"the data of {name} are in another file", help_)
    check_onnx(model, len(data))
    try:
        return from_onnx(model, keep_params_in_input=False), [output.name for output in model.graph.output]
    except tvm.error.OpNotImplemented:
        raise
    except Exception:  # it may be of any kind; ONNX's checker, which is stricter than need be, says it in words
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as fault:
            raise Refusal(f"ONNX's checker says: {' '.join(str(fault).split())}", "export it again") from None
        raise


def _from_json(data: bytes) -> Any:
    try:
        module = tvm.ir.load_json(data.decode("utf-8"))
    except ValueError:  # of the decoder, or of JSON
        raise Refusal("it is not JSON, or is damaged", _SAVE) from None
    if not isinstance(module, tvm.IRModule):
        raise Refusal(f"it holds {type(module).__name__}, not a module", _SAVE)
    return module


def _in_one_function(module: Any) -> Any:
    """Inline what main calls, as front ends make functions of the arms of branches."""
    for name, function in module.functions.items():
        if isinstance(function, relax.Function) and name.name_hint != "main":
            module.update_func(name, function.without_attr("global_symbol"))
    module = relax.transform.InlinePrivateFunctions()(module)
    rest = (name.name_hint for name, f in module.functions.items() if isinstance(f, relax.Function))
    if called := next((name for name in sorted(rest) if name != "main"), None):
        raise Refusal(f"function {called} calls itself", "repeat what it does as often as it runs")
    return module


def _with_weights(module: Any) -> Any:
    """Bind the weights that a front end attached to main as its last parameters."""
    attributes = module["main"].attrs
    if not attributes or "params" not in attributes:
        return module
    module, weights = relax.frontend.detach_params(module)
    attached = {parameter.name for parameter in module["main"].params[int(attributes.get("num_input", 0)) :]}
    if len(attached) < len(weights["main"]):
        return module
    return relax.transform.BindParams("main", weights["main"])(module)


def _at_upper_bounds(module: Any, fix: str) -> Any:
    """Give each size that varies its upper bound: nothing is planned, or runs, at any other size."""
    main = module["main"]
    bounds = dict(main.attrs.get("tir_var_upper_bound", {})) if main.attrs else {}
    for parameter in main.params:
        if getattr(parameter.ty, "shape", None) is None:
            raise Refusal(f"input {parameter.name} has no shape", fix.format(input=parameter.name, size="n"))
        for axis, extent in enumerate(parameter.ty.shape.values):
            for size in (each.name for each in tirx.analysis.undefined_vars(extent) if each.name not in bounds):
                message = f"axis {axis} of input {parameter.name} varies"
                raise Refusal(message + f", as {size} does" * bool(size), fix.format(input=parameter.name, size=size))
    sizes = {size.name for size in relax.analysis.defined_symbolic_vars(main)}
    if unbound := sorted(sizes - bounds.keys()):
        raise Refusal(f"the size {unbound[0]} depends on data", "compute that part in the application")
    if not sizes:
        return module
    return relax.transform.BindSymbolicVars({name: int(bounds[name]) for name in sizes}, "main")(module)


_GATHERS = ("relax.gather_elements", "relax.gather_nd", "relax.scatter_elements", "relax.scatter_nd")


@relax.expr_functor.mutator
class _Guarded(relax.PyExprMutator):  # type: ignore[misc]
    """Clips the indices of gathers and scatters, which then touch nothing outside of their tensors, and drops
    assertions.
    """

    def visit_call_(self, call: Any) -> Any:
        """Return a call whose indices are in range."""
        call = self.visit_expr_post_order(call)
        name = getattr(call.op, "name", "")
        if name == "relax.assert_op":
            return relax.Tuple([])
        if name == "relax.take" and str(call.attrs.mode) == "fast":
            return relax.op.take(*call.args, axis=call.attrs.axis, mode="clip")
        if name in {"relax.index_tensor", "relax.index_put"}:
            return self._with_index_of_each_axis(call, name == "relax.index_tensor")
        if name not in _GATHERS:
            return call
        table, indices, *others = call.args
        shape = [int(extent) for extent in table.ty.shape.values]
        if name.endswith("elements"):
            sizes = np.array(shape[int(call.attrs.axis)])
        else:
            first = int(getattr(call.attrs, "batch_dims", 0))
            count = int(indices.ty.shape.values[-1])
            sizes = np.array(shape[first : first + count])
        lowest = -sizes if name == "relax.scatter_elements" else 0 * sizes  # the others have no negative indices left
        return relax.Call(call.op, [table, self._clipped(indices, lowest, sizes), *others], call.attrs, call.ty_args)

    def _with_index_of_each_axis(self, call: Any, is_read: bool) -> Any:
        """Clip each of a tuple of indices; what counts from the end is what reads do not know."""
        table, indices, *others = call.args
        clipped = []
        for axis in range(len(indices.ty.fields)):
            index = self.builder_.emit(relax.TupleGetItem(indices, axis))
            size = np.array(int(table.ty.shape.values[axis]))
            if is_read:
                kind = str(index.ty.dtype)
                is_negative = self.builder_.emit(relax.op.less(index, relax.const(0, kind)))
                from_start = self.builder_.emit(relax.op.add(index, relax.const(size, kind)))
                index = self.builder_.emit(relax.op.where(is_negative, from_start, index))
            clipped.append(self._clipped(index, 0 * size if is_read else -size, size))
        return relax.Call(call.op, [table, relax.Tuple(clipped), *others], call.attrs, call.ty_args)

    def _clipped(self, indices: Any, lowest: Any, sizes: Any) -> Any:
        kind = str(indices.ty.dtype)
        raised = self.builder_.emit(relax.op.maximum(indices, relax.const(lowest, kind)))
        return self.builder_.emit(relax.op.minimum(raised, relax.const(sizes - 1, kind)))
