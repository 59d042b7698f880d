"""`explain`: what a tensor may be called besides the name of its buffer."""

from __future__ import annotations

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.labels import short_label


def names_of(analysis: Analysis, imported: tuple[Model, ...], name: str) -> list[str]:
    """Return the names of the buffers of all tensors called `name`, with their model in front or without.

    That may be the name in the model's file, its short form, or the number that `inspect` prints (%7).  A tensor
    without a buffer has the name that its buffer would have.
    """
    names = []
    for index, model in enumerate(imported):
        for number, tensor in enumerate(model.main.tensors):
            label, ref = short_label(tensor.name, number), TensorRef(index, 0, number)
            if name.removeprefix(f"{model.name}.") in {f"%{number}", label, tensor.name or label}:
                buffer = analysis.storage.tensors.get(ref)
                names.append(f"{model.name}.{label}" if buffer is None else analysis.tensor_name(buffer))
    return list(dict.fromkeys(names))
