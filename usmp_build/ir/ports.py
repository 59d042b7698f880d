"""Names of inputs and outputs in C: from the manifest, else from the signature, else from the tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from usmp_build.ir.graph import Model, Port, Tensor
from usmp_build.naming import c_identifier, short_name, unique

Names = tuple[str, ...]
"""The C names of the inputs, or of the outputs, in the model's order."""


def port_names(model: Model, manifest_names: Mapping[str, str], pools: tuple[str, ...]) -> tuple[Names, Names]:
    """Name the inputs and outputs in C; `manifest_names` maps names in the model to those of the manifest.

    `pools` are the names of all pools; the names must not clash with their macros.
    """
    main = model.main
    signature = (*_signature(model.input_names, main.inputs), *output_signature(model))
    names = []
    for tensor, signature_name in zip((*main.inputs, *main.outputs), signature, strict=True):
        name_in_file = main.tensors[tensor].name
        name = next((manifest_names[key] for key in (name_in_file, signature_name) if key in manifest_names), "")
        names.append(name or c_identifier(signature_name or short_name(name_in_file).removesuffix(":0"), 32))
    distinct = _distinct(names, pools)
    count = len(main.inputs)
    return distinct[:count], distinct[count:]


def names_in_file(model: Model) -> frozenset[str]:
    """Return the names of inputs and outputs in the model itself: of tensors, and in its signature."""
    return frozenset(chain.from_iterable(aliases(model, t) for t in (*model.main.inputs, *model.main.outputs)))


def aliases(model: Model, tensor: int) -> tuple[str, ...]:
    """Return the names of an input or output in the model itself."""
    signature = (port.name for port in (*model.output_names, *model.input_names) if port.tensor == tensor)
    return tuple(name for name in (*signature, model.main.tensors[tensor].name) if name)


def output_signature(model: Model) -> Names:
    """Return the name of each output in the signature; empty if it has none."""
    return _signature(model.output_names, model.main.outputs)


def show_type(tensor: Tensor) -> str:
    """Return type and shape as text: `int8[1,49,10,1]`."""
    return f"{tensor.dtype.name.lower()}[{','.join(map(str, tensor.shape))}]"


def _signature(ports: Sequence[Port], tensors: Sequence[int]) -> Names:
    """Return the name of each tensor; a tensor that occurs twice with two names gets them in turn."""
    names: dict[int, list[str]] = {}
    for port in ports:
        names.setdefault(port.tensor, []).append(port.name)
    by_tensor = (names.get(tensor, [""]) for tensor in tensors)
    return tuple(each.pop(0) if len(each) > 1 else each[0] for each in by_tensor)


def _distinct(names: list[str], pools: tuple[str, ...]) -> Names:
    """Make names distinct even in upper case, for their macros, and different from the macros of pools.

    "x" and "X" become "x" and "X_2".
    """
    reserved = [f"{pool}_{kind}_pool".upper() for pool in pools for kind in ("workspace", "constant")]
    numbered = unique([*reserved, *(name.upper() for name in names)])[len(reserved) :]
    return tuple(name + big[len(name) :] for name, big in zip(names, numbered, strict=True))
