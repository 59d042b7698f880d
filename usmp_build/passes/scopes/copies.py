"""Chooses who makes a copy: operators of kind COPY have kernels from a library like any other.

`memcpy`: target 0 moves the bytes, with the kernel of the library "reference".  `copies = "extern"` of the target that
reads, else of the one that writes: the library "extern" of that target calls a function of the application, which may
start a DMA transfer and wait for it.
"""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.request import Copying, Request


class Copier(NamedTuple):
    """Who makes a copy."""

    target: int
    library: str


MEMCPY = Copier(0, "reference")
"""Makes all copies that no target makes itself."""


def copiers(request: Request) -> list[tuple[int, str]]:
    """Return (target, library) of all that may make copies."""
    targets = [t for t, target in enumerate(request.targets) if target.copies is Copying.EXTERN]
    return [MEMCPY, *map(_extern, targets)]


def copier(request: Request, writer: int, reader: int) -> Copier:
    """Return who copies a tensor from one target to another."""
    targets = (t for t in (reader, writer) if request.targets[t].copies is Copying.EXTERN)
    return next(map(_extern, targets), MEMCPY)


def _extern(target: int) -> Copier:
    return Copier(target, "extern")
