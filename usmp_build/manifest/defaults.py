"""Pools, sections and the target that exist without being declared."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from usmp_build.manifest.kinds import Access

TARGET = "cpu"
"""The processor that runs all operators that are not placed elsewhere."""


class ImplicitPool(NamedTuple):
    """The pool that exists when a manifest declares none of its access."""

    name: str
    prefix: str
    """The prefix of its section."""

    def section(self, project: str) -> str:
        """Return the name of its section."""
        return f"{self.prefix}{section(project, self.name)}"


IMPLICIT_POOLS: Mapping[Access, ImplicitPool] = MappingProxyType(
    {
        "rw": ImplicitPool("workspace", ""),
        # Linker scripts put `.rodata.*` with the other constants, so that weights need no pool and no script of ours.
        "ro": ImplicitPool("constants", ".rodata"),
    }
)


def section(project: str, pool: str) -> str:
    """Return the section of a pool that names none."""
    return f".usmp.{project}.{pool}"
