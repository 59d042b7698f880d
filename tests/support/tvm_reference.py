"""How far TVM is from the evaluator that comes with ONNX: a line for each model, its name and the difference.

    python -m tests.support.tvm_reference NAME...

Integers differ by a number, floats by a share of the value, or of 1 if that is more.
"""

import sys
from typing import Any

import numpy as np
import tvm
from onnx.reference import ReferenceEvaluator

from tests.support.tvm_models import MODELS
from usmp_build.importers.tvm.front_ends import relax_module


def _difference(name: str) -> float:
    model = MODELS[name]()
    module, _ = relax_module(model.SerializeToString(), ".onnx")
    machine = tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    draw = np.random.default_rng(0)
    inputs = {port.name: _values(port.type.tensor_type, draw) for port in model.graph.input}
    ours = machine["main"](*map(tvm.runtime.tensor, inputs.values()))
    wanted = ReferenceEvaluator(model).run(None, inputs)
    pairs = zip([ours] if len(wanted) == 1 else ours, wanted, strict=True)
    return max(_apart(one.numpy(), np.asarray(other)) for one, other in pairs)


def _values(port: Any, draw: np.random.Generator) -> Any:
    kind = np.dtype({1: "float32", 3: "int8", 7: "int64"}[port.elem_type])
    shape = [dim.dim_value for dim in port.shape.dim]
    return draw.uniform(-2, 2, shape).astype(kind) if kind.kind == "f" else draw.integers(0, 2, shape).astype(kind)


def _apart(one: Any, other: Any) -> float:
    assert (one.shape, one.dtype) == (other.shape, other.dtype)
    return float(np.max(np.abs(one.astype(float) - other) / np.maximum(np.abs(other.astype(float)), 1)))


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(wanted, _difference(wanted))
