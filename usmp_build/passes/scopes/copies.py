"""Who copies: operators of kind COPY, whose kernels a library brings like any other.

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
"""Makes the copies that nobody else makes."""


def copiers(request: Request) -> list[tuple[int, str]]:
    """Return targets and libraries that may be asked for copies."""
    own = [t for t, target in enumerate(request.targets) if target.copies is Copying.EXTERN]
    return [MEMCPY, *map(_extern, own)]


def copier(request: Request, writer: int, reader: int) -> Copier:
    """Return who brings a tensor from one target to another."""
    own = (t for t in (reader, writer) if request.targets[t].copies is Copying.EXTERN)
    return next(map(_extern, own), MEMCPY)


def _extern(target: int) -> Copier:
    return Copier(target, "extern")
