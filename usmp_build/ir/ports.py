"""The names of a model's inputs and outputs: as somebody wants, else the signature's, else the tensor's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from usmp_build.ir.graph import Model, Port, Tensor
from usmp_build.naming import c_identifier, short_name, unique

Names = tuple[str, ...]
"""The C names of the inputs, or of the outputs, in the model's order."""


def port_names(model: Model, wanted: Mapping[str, str], pools: tuple[str, ...]) -> tuple[Names, Names]:
    """Name the inputs and outputs in C; `wanted` maps names in the model to those that the manifest gives.

    `pools` are the names of all pools, whose macros the names stay clear of.
    """
    main = model.main
    signature = (*_signature(model.input_names, main.inputs), *output_signature(model))
    names = []
    for tensor, said in zip((*main.inputs, *main.outputs), signature, strict=True):
        given = next((wanted[key] for key in (main.tensors[tensor].name, said) if key in wanted), "")
        names.append(given or _default_name(main.tensors[tensor], said))
    distinct = _unlike(names, pools)
    count = len(main.inputs)
    return distinct[:count], distinct[count:]


def own_names(model: Model) -> frozenset[str]:
    """Return what the model itself calls its inputs and outputs: names of tensors, and of its signature."""
    return frozenset(chain.from_iterable(aliases(model, t) for t in (*model.main.inputs, *model.main.outputs)))


def aliases(model: Model, tensor: int) -> tuple[str, ...]:
    """Return what the model itself calls an input or output."""
    signature = (port.name for port in (*model.output_names, *model.input_names) if port.tensor == tensor)
    return tuple(name for name in (*signature, model.main.tensors[tensor].name) if name)


def output_signature(model: Model) -> Names:
    """Return what the signature calls each output; empty where it says nothing."""
    return _signature(model.output_names, model.main.outputs)


def show_type(tensor: Tensor) -> str:
    """Write type and shape: `int8[1,49,10,1]`."""
    return f"{tensor.dtype.name.lower()}[{','.join(map(str, tensor.shape))}]"


def _signature(ports: Sequence[Port], tensors: Sequence[int]) -> Names:
    """Return the name of each tensor; of one that is there twice and has two names, first one, then the other."""
    names: dict[int, list[str]] = {}
    for port in ports:
        names.setdefault(port.tensor, []).append(port.name)
    said = (names.get(tensor, [""]) for tensor in tensors)
    return tuple(each.pop(0) if len(each) > 1 else each[0] for each in said)


def _default_name(tensor: Tensor, signature: str) -> str:
    return c_identifier(signature or short_name(tensor.name).removesuffix(":0"), 32)


def _unlike(names: list[str], pools: tuple[str, ...]) -> Names:
    """Make names distinct even in capitals, for their macros, and unlike the macros of pools.

    "x" and "X" become "x" and "X_2".
    """
    taken = [f"{pool}_{kind}_pool".upper() for pool in pools for kind in ("workspace", "constant")]
    numbered = unique([*taken, *(name.upper() for name in names)])[len(taken) :]
    return tuple(name + big[len(name) :] for name, big in zip(names, numbered, strict=True))
