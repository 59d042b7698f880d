"""Reads model files to Relax modules, by TVM's own front ends.  Runs in the process that has TVM."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from usmp_build.importers.tvm.refusal import Refusal


def relax_module(data: bytes, suffix: str) -> tuple[Any, list[str]]:
    """Return the module of a file, with its weights bound and one function `main`, and names of main's results.

    Only ONNX names results.  Raises Refusal.
    """
    module, results = _from_onnx(data) if suffix == ".onnx" else (_from_json(data), [])
    functions = {name.name_hint: f for name, f in module.functions.items() if isinstance(f, relax.Function)}
    if "main" not in functions:
        raise Refusal(f"it has no Relax function main, but {', '.join(sorted(functions)) or 'none at all'}")
    return _at_upper_bounds(_with_weights(relax.transform.InlinePrivateFunctions()(module))), results


def _from_onnx(data: bytes) -> tuple[Any, list[str]]:
    import onnx
    from tvm.relax.frontend.onnx import from_onnx

    model = onnx.load_model_from_string(data)
    return from_onnx(model, keep_params_in_input=False), [output.name for output in model.graph.output]


def _from_json(data: bytes) -> Any:
    module = tvm.ir.load_json(data.decode("utf-8"))
    if not isinstance(module, tvm.IRModule):
        raise Refusal(f"it holds {type(module).__name__}, not a module: save one by tvm.ir.save_json(module)")
    return module


def _with_weights(module: Any) -> Any:
    """Bind the weights that a front end attached to main as its last parameters."""
    attributes = module["main"].attrs
    if not attributes or "params" not in attributes:
        return module
    module, weights = relax.frontend.detach_params(module)
    own = {parameter.name for parameter in module["main"].params[int(attributes.get("num_input", 0)) :]}
    if len(own) < len(weights["main"]):
        return module
    return relax.transform.BindParams("main", weights["main"])(module)


def _at_upper_bounds(module: Any) -> Any:
    """Give each size that varies its upper bound: nothing is planned, or runs, at any other size."""
    main = module["main"]
    bounds = dict(main.attrs.get("tir_var_upper_bound", {})) if main.attrs else {}
    sizes = {size.name: size for size in relax.analysis.defined_symbolic_vars(main)}
    if unbound := sorted(sizes.keys() - bounds.keys()):
        example = f'relax.transform.BindSymbolicVars({{"{unbound[0]}": 1}})(module)'
        help_ = f'fix it, as by {example}, or state the attribute "tir_var_upper_bound" of main'
        raise Refusal(f"the size {unbound[0]} varies", help_)
    if not sizes:
        return module
    return relax.transform.BindSymbolicVars({name: int(bounds[name]) for name in sizes}, "main")(module)
