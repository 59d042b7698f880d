"""Reads .tflite files into models: subgraphs and signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from usmp_build.document.formats import other_format
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.tflite import schema
from usmp_build.importers.tflite.enums import TYPES
from usmp_build.importers.tflite.flatbuffer import decode
from usmp_build.importers.tflite.handles import with_own_handles
from usmp_build.importers.tflite.list_items import with_updates
from usmp_build.importers.tflite.offline import offset_faults
from usmp_build.importers.tflite.operators import operator_kinds, read_operator
from usmp_build.ir.graph import DType, Model, Port, Quantization, Subgraph, Tensor
from usmp_build.ir.labels import tensor_label
from usmp_build.operators.well_formed import first_fault

_VERSION = 3

_NO_DATA = 0
"""The index of the buffer that stands for none, whatever is in it."""
_TYPES = {number: DType[name] for number, name in enumerate(TYPES) if name in DType.__members__}


def import_tflite(data: bytes, name: str, path: str, /) -> Model:
    """Return the model in `data`, called `name`, as C can run it.

    Raises ModelError, placed at `path`, when it is not valid, or has operators that need the interpreter's arena.
    """
    return _imported(data, name, path, for_interpreter=False)


def import_stored(data: bytes, name: str, path: str, /) -> Model:
    """As `import_tflite`, but as TensorFlow Lite Micro's interpreter runs it, which has the tensors of the file."""
    return _imported(data, name, path, for_interpreter=True)


def _imported(data: bytes, name: str, path: str, *, for_interpreter: bool) -> Model:
    try:
        file = decoded(data)
        stored = as_model(file, name)
        model = with_updates(stored if for_interpreter else with_own_handles(stored))
        if fault := first_fault(model):
            raise ModelError(fault)
        if not for_interpreter and (faults := tuple(offset_faults(file, model.subgraphs))):
            raise ModelError(faults[0])
    except ModelError as error:
        raise ModelError(*(replace(diagnostic, place=path) for diagnostic in error.diagnostics)) from None
    return model


def resizes(data: bytes) -> bool:
    """Tell whether loops of a valid file change the sizes of tensors, which TensorFlow Lite Micro does not follow."""
    model = with_own_handles(read_tflite(data, ""))
    return with_updates(model) is not model


def read_tflite(data: bytes, name: str) -> Model:
    """Return what a file says, whether or not it makes sense; raise ModelError, without a place, when it is damaged."""
    return as_model(decoded(data), name)


def decoded(data: bytes) -> schema.Model:
    """Return the records of a file; raise ModelError, without a place, when it is damaged or something else."""
    if not data:
        raise ModelError(Diagnostic("T201", "the file is empty", help="copy or export the model again"))
    if data[4:8] != b"TFL3":
        other = other_format(data)
        why = f"it is {other.name}" if other else 'the mark "TFL3" is missing'
        cure = other.way_out if other else "give the path of a .tflite file"
        raise ModelError(Diagnostic("T201", f"not a TensorFlow Lite model: {why}", help=cure))
    file = decode(schema.Model, data)
    if file.version != _VERSION:
        raise ModelError(Diagnostic("T202", f"version {file.version} of the schema; only {_VERSION} is supported"))
    return file


def as_model(file: schema.Model, name: str) -> Model:
    """Return what the records of a file say, called `name`; raise ModelError for what no `Model` can say."""
    kinds = operator_kinds(file.operator_codes)
    subgraphs = tuple(_subgraph(record, index, kinds, file.buffers) for index, record in enumerate(file.subgraphs))
    signature = next((s for s in file.signature_defs if s.subgraph_index == 0), None)
    if not signature or not subgraphs:
        return Model(name, subgraphs)
    main = subgraphs[0]
    return Model(name, subgraphs, _ports(signature.inputs, main.inputs), _ports(signature.outputs, main.outputs))


def _subgraph(
    record: schema.SubGraph, index: int, kinds: tuple[str, ...], buffers: tuple[schema.Buffer, ...]
) -> Subgraph:
    tensors = [_read_tensor(stored, index, position, buffers) for position, stored in enumerate(record.tensors)]
    operators = tuple(read_operator(stored, index, position, kinds) for position, stored in enumerate(record.operators))
    written = set(record.inputs).union(*(operator.outputs for operator in operators))
    return Subgraph(
        name=record.name,
        tensors=tuple(tensor if t in written else _constant_if_empty(tensor) for t, tensor in enumerate(tensors)),
        inputs=record.inputs,
        outputs=record.outputs,
        operators=operators,
    )


def _constant_if_empty(tensor: Tensor) -> Tensor:
    """Return a tensor without elements as a constant: no operator needs to write it."""
    is_empty = 0 in tensor.shape and tensor.dtype.bits > 0
    return replace(tensor, data=b"") if is_empty and tensor.data is None and not tensor.is_variable else tensor


def _ports(names: tuple[schema.TensorMap, ...], tensors: tuple[int, ...]) -> tuple[Port, ...]:
    """Return the names of `tensors`, without those that tools left when they changed a model's inputs or outputs."""
    indices = set(tensors)
    return tuple(Port(entry.name, entry.tensor_index) for entry in names if entry.tensor_index in indices)


def _read_tensor(stored: schema.Tensor, subgraph: int, index: int, buffers: Sequence[schema.Buffer]) -> Tensor:
    """Return tensor `index` of a subgraph; raise ModelError for what a `Tensor` cannot say."""
    label = tensor_label(subgraph, index, stored.name)
    if stored.type not in _TYPES:
        raise ModelError(Diagnostic("T205", f"{label} has the unknown type {stored.type}"))
    if stored.is_sparse:
        cure = "convert the model without sparsity: the zeros may stay, but must be stored"
        raise ModelError(Diagnostic("T206", f"{label} is sparse, which is not supported", help=cure))
    if stored.external_buffer:
        cure = "convert the model into one file"
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
