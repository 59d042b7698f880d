"""Tensors of a .tflite file: types, quantization and constant data."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.tflite import schema
from usmp_build.importers.tflite.enums import TYPES
from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.ir.labels import tensor_label

_NO_DATA = 0
"""The index of the buffer that stands for none, whatever is in it."""
_TYPES = {number: DType[name] for number, name in enumerate(TYPES) if name in DType.__members__}


def read_tensor(stored: schema.Tensor, subgraph: int, index: int, buffers: Sequence[schema.Buffer]) -> Tensor:
    """Return tensor `index` of a subgraph; raise ModelError for what a `Tensor` cannot say."""
    label = tensor_label(subgraph, index, stored.name)
    if stored.type not in _TYPES:
        raise ModelError(Diagnostic("T205", f"{label} has the unknown type {stored.type}"))
    if stored.is_sparse:
        cure = "Convert the model without sparsity: the zeros may stay, but must be stored."
        raise ModelError(Diagnostic("T206", f"{label} is sparse, which is not supported", help=cure))
    if stored.external_buffer:
        cure = "Convert the model into one file."
        raise ModelError(Diagnostic("T207", f"{label} has its data in another file, which is not supported", help=cure))
    if stored.buffer != _NO_DATA and stored.buffer >= len(buffers):
        message = f"{label} has its data in buffer {stored.buffer}, but the model has {len(buffers)} buffers"
        raise ModelError(Diagnostic("T208", message))
    quantization = _quantization(stored.quantization[0], stored.shape, label) if stored.quantization else None
    return Tensor(
        name=stored.name,
        shape=stored.shape,
        dtype=_TYPES[stored.type],
        quantization=quantization,
        data=(buffers[stored.buffer].data or None) if stored.buffer != _NO_DATA else None,
        is_variable=stored.is_variable,
    )


def _quantization(stored: schema.QuantizationParameters, shape: Sequence[int], label: str) -> Quantization | None:
    """Return the quantization; None where there is none, or its axis means nothing: who needs it will say so.

    The biases of old converters have the axis of the weights that they belong to.
    """
    if stored.details_type:
        message = f"{label} has quantization details of type {stored.details_type}, which are not supported"
        raise ModelError(Diagnostic("T209", message, help="Quantize per tensor or per channel."))
    if not stored.scale or not stored.zero_point:  # TensorFlow Lite Micro, too, then takes numbers for what they are
        return None
    if len(stored.scale) == 1 or len(stored.scale) != len(stored.zero_point):
        return Quantization(stored.scale, stored.zero_point)
    axis = 0 if len(shape) == 1 else stored.quantized_dimension
    if not 0 <= axis < len(shape) or len(stored.scale) != shape[axis]:
        return None
    return Quantization(stored.scale, stored.zero_point, axis)
