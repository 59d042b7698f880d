"""The names of a model's inputs and outputs: as somebody wants, else the signature's, else the tensor's."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from usmp_build.ir.graph import Model, Tensor
from usmp_build.naming import c_identifier, short_name, unique

Names = tuple[str, ...]
"""The C names of the inputs, or of the outputs, in the model's order."""


def port_names(model: Model, wanted: Mapping[str, str], pools: tuple[str, ...]) -> tuple[Names, Names]:
    """Name the inputs and outputs in C; `wanted` maps names in the model to those that the manifest gives.

    `pools` are the names of all pools, whose macros the names stay clear of.
    """
    main, signature = model.main, _signature(model)
    names = []
    for tensor in (*main.inputs, *main.outputs):
        keys = (main.tensors[tensor].name, signature.get(tensor, ""))
        given = next((wanted[key] for key in keys if key in wanted), "")
        names.append(given or _default_name(main.tensors[tensor], signature.get(tensor)))
    distinct = _unlike(names, pools)
    count = len(main.inputs)
    return distinct[:count], distinct[count:]


def own_names(model: Model) -> frozenset[str]:
    """Return what the model itself calls its inputs and outputs: names of tensors, and of its signature."""
    return frozenset(chain.from_iterable(aliases(model, t) for t in (*model.main.inputs, *model.main.outputs)))


def aliases(model: Model, tensor: int) -> tuple[str, ...]:
    """Return what the model itself calls an input or output."""
    return tuple(name for name in (_signature(model).get(tensor), model.main.tensors[tensor].name) if name)


def show_type(tensor: Tensor) -> str:
    """Write type and shape: `int8[1,49,10,1]`."""
    return f"{tensor.dtype.name.lower()}[{','.join(map(str, tensor.shape))}]"


def _signature(model: Model) -> dict[int, str]:
    return {port.tensor: port.name for port in (*model.input_names, *model.output_names)}


def _default_name(tensor: Tensor, signature: str | None) -> str:
    return c_identifier(signature or short_name(tensor.name).removesuffix(":0"), 32)


def _unlike(names: list[str], pools: tuple[str, ...]) -> Names:
    """Make names distinct even in capitals, for their macros, and unlike the macros of pools.

    "x" and "X" become "x" and "X_2".
    """
    taken = [f"{pool}_{kind}_pool".upper() for pool in pools for kind in ("workspace", "constant")]
    numbered = unique([*taken, *(name.upper() for name in names)])[len(taken) :]
    return tuple(name + big[len(name) :] for name, big in zip(names, numbered, strict=True))
