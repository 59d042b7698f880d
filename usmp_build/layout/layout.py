"""A plan with everything that C needs: what emitters see."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.layout.code import ModelCode
from usmp_build.layout.constants import ConstantGroup, PoolBytes
from usmp_build.layout.models import ModelRow
from usmp_build.layout.summary import Summary


@frozen
class CachedRow:
    """A function of the application that gets operands in cached memory."""

    function: str
    arguments: tuple[str, ...]
    """As they are declared."""


@frozen
class Layout:
    """A plan and everything that C needs."""

    summary: Summary
    constants: tuple[ConstantGroup, ...]
    pool_bytes: tuple[PoolBytes, ...]
    """Of all constant pools of the application, in the order of pools."""
    models: tuple[tuple[ModelRow, ModelCode], ...]
    excluded: tuple[tuple[int, ...], ...]
    """For each model, those that may not run while it does: itself, and all but its concurrent ones."""
    kernel_header: str
    kernel_source: str
    needs_math: bool
    """Whether the kernels call functions of <math.h>, which some linkers find only when they are told."""
    links: tuple[str, ...]
    """Libraries of the application that the kernels call, as CMake names them."""
    cached: tuple[CachedRow, ...] = ()
