"""Reads the main function of a lowered Relax module: allocations, calls and branches, as the main of a program.

Views, tuples and other names of one tensor are that tensor.  What main returns are parameters of the program's main,
each in memory of its own: an input, a constant or a tensor that is returned twice is copied.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, TypeAlias

from tvm import relax

from usmp_build.importers.tvm.expressions import c_type
from usmp_build.importers.tvm.prim_function import Item, Names
from usmp_build.importers.tvm.refusal import Refusal

_VIEWS = {"relax.reshape", "relax.memory.view", "relax.memory.ensure_zero_copy"}
_NOTHING = {"relax.memory.kill_tensor", "relax.memory.kill_storage"}

Tensor: TypeAlias = str
"""Its name in main."""


class MainFunction:
    """The main function of a module after `lower`."""

    def __init__(self, function: Any, results: list[str]) -> None:
        self._function = function
        self._results = results
        """Names of what it returns; they are left out, all or none."""
        self._names = Names()
        self._values: dict[Any, Any] = {}
        """Variable → the tensor, or a list of what a tuple holds."""
        self._allocations: dict[Tensor, Item] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}
        self._types: dict[Tensor, Item] = {}
        self._statements: list[Item] = []
        """Of main, or of the arm of a branch that is being read."""
        self.functions: dict[str, Item] = {}
        """Functions that the module lacks, or that only copy."""
        self.code: dict[str, Item] = {}

    def read(self) -> tuple[Item, list[str]]:
        """Return the program's main, and the names of its outputs.  Raises Refusal."""
        inputs = [self._parameter(parameter) for parameter in self._function.params]
        outputs = self._outputs(self._results_of(self._function.body))
        body = self._statements
        for name, typed in reversed(self._allocations.items()):
            if name not in outputs:
                body = [{"op": "alloc", "var": name, **typed, "body": body}]
        for (dtype, extents, data), name in reversed(self._constants.items()):
            item = {"op": "alloc_const", "var": name, "dtype": dtype, "extents": extents, "body": body}
            body = [{**item, "data": base64.b64encode(data).decode()}]
        names = self._named(outputs)
        params = [{"name": name, **self._types[name]} for name in inputs]
        params += [{"name": name, **self._types[output]} for output, name in names.items()]
        return {"params": params, "body": _renamed(body, names)}, [*names.values()]

    def _named(self, outputs: list[Tensor]) -> dict[Tensor, str]:
        """Return the names of outputs: those of the model's file, or `output`."""
        wanted = self._results if len(self._results) == len(outputs) else ["output"] * len(outputs)
        return {output: self._names.new(name) for output, name in zip(outputs, wanted, strict=True)}

    def _parameter(self, parameter: Any) -> Tensor:
        name = self._names.new(parameter.name)
        self._types[name] = {**typed(parameter.ty, parameter.name), "scope": _scope(parameter.ty)}
        self._values[parameter] = name
        return name

    def _results_of(self, sequence: Any) -> list[Tensor]:
        """Read bindings, and return the tensors that they result in."""
        for block in sequence.blocks:
            for binding in block.bindings:
                self._values[binding.var] = self._value(binding.var, binding.value)
        return _leaves(self._operand(sequence.body))

    def _value(self, variable: Any, value: Any) -> Any:
        """Return what a variable is bound to, and keep the statement that computes it."""
        if isinstance(value, relax.If):
            return self._branch(variable, value)
        if type(value).__name__ != "Call":
            return self._operand(value)
        name = getattr(value.op, "name", "")
        if name == "relax.builtin.alloc_tensor":
            return self._allocation(variable, value)
        if name == "relax.to_vdevice":
            return self._moved(variable, value)
        if name in _VIEWS:
            return self._operand(value.args[0])
        if name not in _NOTHING:
            self._call(value)
        return []

    def _branch(self, variable: Any, branch: Any) -> Any:
        """Read both arms, and let them write their results into the same tensors; return these."""
        condition = self._operand(branch.cond)
        results = self._new_tensors(variable.ty, variable.name)
        arms = [self._arm(arm, _leaves(results)) for arm in (branch.true_branch, branch.false_branch)]
        self._statements.append({"op": "if", "condition": condition, "then": arms[0], "else": arms[1]})
        return results

    def _new_tensors(self, type_: Any, name: str) -> Any:
        """Allocate a tensor, or a list of what a tuple holds."""
        if hasattr(type_, "fields"):
            return [self._new_tensors(field, name) for field in type_.fields]
        tensor = self._names.new(name)
        self._types[tensor] = self._allocations[tensor] = {**typed(type_, name), "scope": _scope(type_)}
        return tensor

    def _arm(self, arm: Any, results: list[Tensor]) -> list[Item]:
        """Return the statements of an arm.  What it allocates is the result itself, everything else is copied there."""
        outer, self._statements = self._statements, []
        around = {*self._allocations}
        names: dict[Tensor, Tensor] = {}
        for tensor, result in zip(self._results_of(arm), results, strict=True):
            if tensor in self._allocations.keys() - around - names.keys():
                names[tensor] = result
            else:
                self._copy(tensor, result)
        for tensor in names:
            del self._allocations[tensor]
        statements, self._statements = _renamed(self._statements, names), outer
        return statements

    def _allocation(self, variable: Any, value: Any) -> Tensor:
        name = self._names.new(variable.name)
        scope = str(value.args[3].value) if len(value.args) > 3 else "global"
        self._types[name] = self._allocations[name] = {**typed(variable.ty, variable.name), "scope": scope}
        return name

    def _moved(self, variable: Any, value: Any) -> Tensor:
        """Copy a tensor to the memory of another device."""
        copy: Tensor = self._new_tensors(variable.ty, variable.name)
        self._copy(self._operand(value.args[0]), copy)
        return copy

    def _call(self, value: Any) -> None:
        arguments = [each for argument in value.args for each in _leaves(self._operand(argument))]
        if type(value.op).__name__ == "GlobalVar":
            function = value.op.name_hint
        elif isinstance(value.op, relax.ExternFunc):
            function = self._external(value.op.global_symbol, arguments)
        else:
            raise Refusal(f"{getattr(value.op, 'name', value.op)} was not lowered to a loop or a function")
        self._statements.append({"op": "call", "fn": function, "args": arguments})

    def _external(self, symbol: str, arguments: list[Tensor]) -> str:
        """Declare a function of the application, which writes its last argument."""
        parameters = [{"name": f"arg{position}", **self._types[name]} for position, name in enumerate(arguments)]
        names = [parameter["name"] for parameter in parameters]
        call = {"op": "call", "fn": f"{symbol}()", "args": names, "reads": names[:-1], "writes": names[-1:]}
        self.functions.setdefault(symbol, {"params": parameters, "body": [call]})
        return symbol

    def _operand(self, value: Any) -> Any:
        kind = type(value).__name__
        if kind == "Tuple":
            return [self._operand(field) for field in value.fields]
        if kind == "TupleGetItem":
            return self._operand(value.tuple_value)[int(value.index)]
        if hasattr(value, "value") and hasattr(value.value, "numpy"):
            return self._constant(value.value.numpy())
        if value in self._values:
            return self._values[value]
        raise Refusal(f"{kind} of Relax is neither a tensor nor a tuple of tensors")

    def _constant(self, array: Any) -> Tensor:
        c_type(array.dtype)
        key = (str(array.dtype), tuple(map(int, array.shape)), array.tobytes())
        if key not in self._constants:
            self._constants[key] = self._names.new("constant")
            self._types[self._constants[key]] = {"dtype": key[0], "extents": list(key[1])}
        return self._constants[key]

    def _outputs(self, results: Iterable[Tensor]) -> list[str]:
        """Return the parameter of each result; a tensor that is not main's to give away is copied."""
        outputs: list[str] = []
        for result in results:
            output = result
            if result not in self._allocations or result in outputs:
                output = self._names.new(f"{result}_copy")
                self._types[output] = self._types[result]
                self._copy(result, output)
            outputs.append(output)
        return outputs

    def _copy(self, tensor: Tensor, copy: Tensor) -> None:
        dtype, count = self._types[tensor]["dtype"], prod(self._types[tensor]["extents"])
        name = f"copy_{dtype}_{count}"
        flat = {"dtype": dtype, "extents": [count]}
        store = {"op": "store", "buf": "copy", "reads": ["data"], "elementwise": ["data"], "whole": True}
        self.functions[name] = {"params": [{"name": "data", **flat}, {"name": "copy", **flat}], "body": [store]}
        lines = f"    for (int32_t i = 0; i < {count}; ++i) {{\n        @copy@[i] = @data@[i];\n    }}"
        self.code[name] = {"text": lines, "choices": [], "needs_math": False}
        self._statements.append({"op": "call", "fn": name, "args": [tensor, copy]})


def _renamed(body: list[Item], names: Mapping[Tensor, str]) -> list[Item]:
    """Return statements that name tensors otherwise."""
    renamed = [{**item} for item in body]
    for item in renamed:
        for key in item.keys() & {"body", "then", "else"}:
            item[key] = _renamed(item[key], names)
        if "condition" in item:
            item["condition"] = names.get(item["condition"], item["condition"])
        if "args" in item:
            item["args"] = [names.get(argument, argument) for argument in item["args"]]
    return renamed


def typed(type_: Any, name: str) -> Item:
    """Return element type and extents of a tensor of Relax.  Raises Refusal."""
    shape = getattr(type_, "shape", None)
    if shape is None or any(type(extent).__name__ != "IntImm" for extent in getattr(shape, "values", [None])):
        raise Refusal(f"{name} is no tensor of a fixed size", "fix sizes of inputs, and let both arms of If agree")
    dtype = str(type_.dtype)
    c_type(dtype)
    return {"dtype": dtype, "extents": [int(extent) for extent in shape.values]}


def _scope(type_: Any) -> str:
    """Return the memory scope of a tensor's device."""
    device = getattr(type_, "vdevice", None)
    return str(device.memory_scope) if device is not None else "global"


def _leaves(value: Any) -> list[Tensor]:
    return [leaf for each in value for leaf in _leaves(each)] if isinstance(value, list) else [value]
