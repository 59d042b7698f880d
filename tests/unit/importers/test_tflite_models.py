"""Whole models: those of the project, and real ones where they are at hand."""

from pathlib import Path
from typing import Any

import pytest
import tflite

from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Subgraph, Tensor

ROOT = Path(__file__).parents[3]
OURS = sorted((ROOT / "tests" / "data").glob("*.tflite"))
REAL = ["hello", "ic", "kws", "micro_speech", "vww"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_models(path: Path) -> None:
    compare(path.read_bytes())


@pytest.mark.parametrize("name", REAL)
def test_real_models(name: str, real_models: Path) -> None:
    compare((real_models / f"{name}.tflite").read_bytes())


def compare(data: bytes) -> None:
    """Compare what we read with what the accessors of the `tflite` package say."""
    theirs = tflite.Model.GetRootAs(data)
    ours = import_tflite(data, "m", "m.tflite")
    assert len(ours.subgraphs) == theirs.SubgraphsLength()
    for index, subgraph in enumerate(ours.subgraphs):
        compare_subgraph(subgraph, theirs, theirs.Subgraphs(index))


def compare_subgraph(ours: Subgraph, model: Any, theirs: Any) -> None:
    assert ours.name.encode() == (theirs.Name() or b"")
    assert list(ours.inputs) == list(theirs.InputsAsNumpy())
    assert list(ours.outputs) == list(theirs.OutputsAsNumpy())
    for i, tensor in enumerate(ours.tensors):
        compare_tensor(tensor, theirs.Tensors(i), model.Buffers(theirs.Tensors(i).Buffer()))
    for i, operator in enumerate(ours.operators):
        other = theirs.Operators(i)
        code = model.OperatorCodes(other.OpcodeIndex()).BuiltinCode()
        assert getattr(tflite.BuiltinOperator, operator.kind) == code
        inputs = [other.Inputs(j) for j in range(other.InputsLength())]
        outputs = [other.Outputs(j) for j in range(other.OutputsLength())]
        assert [-1 if t is None else t for t in operator.inputs] == inputs
        assert list(operator.outputs) == outputs


def compare_tensor(ours: Tensor, theirs: Any, buffer: Any) -> None:
    quantization = theirs.Quantization()
    assert ours.name.encode() == theirs.Name()
    assert list(ours.shape) == [theirs.Shape(j) for j in range(theirs.ShapeLength())]
    assert getattr(tflite.TensorType, ours.dtype.name) == theirs.Type()
    assert ours.is_variable == theirs.IsVariable()
    assert (ours.data or b"") == (buffer.DataAsNumpy().tobytes() if buffer.DataLength() else b"")
    if ours.quantization:
        assert list(ours.quantization.scales) == list(quantization.ScaleAsNumpy())
        assert list(ours.quantization.zero_points) == list(quantization.ZeroPointAsNumpy())
    else:
        assert not (quantization and quantization.ScaleLength())
