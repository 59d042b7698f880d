"""Names the functions of a program, the tensors in them, and the inputs and outputs of a model, in C."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.ports import Names, names_in_file, port_names
from usmp_build.ir.uses import called_by_main
from usmp_build.naming import c_identifier, unique
from usmp_build.request import ModelRequest

OF_MODELS = ("inputs", "outputs", "run", "reset", "map_inputs", "map_outputs", "workspace_pools", "constant_pools")
"""Public names that models have, or may have."""
_TAKEN = (*OF_MODELS, "check_workspace", "check_constants")
"""These, and names inside the files of models."""


def function_names(model: Model) -> Mapping[int, str]:
    """Return the names of the functions that main calls, by number; in C, `<model>_` is in front of them.

    They are distinct even in capitals, for the macros of what is in them.
    """
    numbers = called_by_main(model)
    names = [c_identifier(model.subgraphs[number].name) for number in numbers]
    numbered = unique(name.upper() for name in (*_TAKEN, *names))[len(_TAKEN) :]
    return {number: name + big[len(name) :] for number, name, big in zip(numbers, names, numbered, strict=True)}


def extern_functions(model: Model) -> list[str]:
    """Return the names of the functions that main calls and the application supplies."""
    names = function_names(model).items()
    return sorted(f"{model.name}_{name}" for number, name in names if model.subgraphs[number].code is None)


def ports(request: ModelRequest, model: Model, pools: tuple[str, ...]) -> tuple[Names, Names]:
    """Return the names of inputs and outputs: those of the manifest, else of the signature, else of the tensors.

    `pools` are the names of all pools.  Raises ManifestError for a name in the manifest that is not one of them.
    """
    names = names_in_file(model)
    for key in sorted(request.names.keys() - names):
        message = f'model "{request.name}" has no input or output called "{key}"'
        help_ = suggestion(key, sorted(names), "it has")
        raise ManifestError(Diagnostic("P304", message, request.names_span, help_))
    return port_names(model, request.names, pools)


def variable(functions: Mapping[int, str], ref: TensorRef) -> str:
    """Return the name of a tensor's storage within its model: its number, after its function if that is not main.

    Subgraphs of operators have numbers: `g4_t7`.
    """
    name = f"t{ref.tensor}"
    if not ref.subgraph:
        return name
    return f"{functions.get(ref.subgraph, f'g{ref.subgraph}')}_{name}"
