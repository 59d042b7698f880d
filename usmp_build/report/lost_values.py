"""Values that a model reads and does not have: its conversion lost them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic
from usmp_build.ir.graph import Model
from usmp_build.ir.variables import unassigned
from usmp_build.request import ModelRequest


def lost_values(requests: Iterable[ModelRequest], models: Iterable[Model]) -> Iterator[Diagnostic]:
    """Yield a warning for each variable that a model reads and nothing assigns; `models` are as they were imported."""
    for request, model in zip(requests, models, strict=True):
        for resource in unassigned(model):
            name = quoted(resource.removeprefix("/"))
            message = f'model "{request.name}" reads variable {name}, to which nothing assigns a value: it is zero here'
            help_ = "its conversion lost a weight, such as a bias: convert it again, and compare it with the original"
            yield Diagnostic("T280", message, request.path, help_, is_warning=True)
