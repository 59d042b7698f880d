"""Protocols of the four kinds of plug-in, and the declarations of kernel libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from usmp_build.interfaces.kernels import KernelLibrary

if TYPE_CHECKING:
    from usmp_build.ir.graph import Model
    from usmp_build.layout.layout import Layout
    from usmp_build.output.bundle import OutputFile

__all__ = ["Emitter", "Importer", "KernelLibrary"]


class Importer(Protocol):
    """Reads one kind of model file (entry-point group `usmp_build.importers`, by suffix of the file name)."""

    def __call__(self, data: bytes, name: str, path: str, /) -> Model:
        """Return the model in `data`, called `name`.  Raises ModelError, placed at `path`, if it is invalid."""


class Emitter(Protocol):
    """Writes one kind of output (entry-point group `usmp_build.emitters`)."""

    def __call__(self, layout: Layout, /) -> Iterator[OutputFile]:
        """Yield the files for a layout: the same bytes for the same layout, on any machine."""
