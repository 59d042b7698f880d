"""The C of a function that an importer has with its statements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """C statements, at the depth of a function's body."""

    parts: tuple[str | int, ...]
    """C; a number stands for the name of that tensor of the function."""
    choices: tuple[tuple[str, str], ...] = ()
    """Functions of two numbers that it calls: "min" or "max", and their C type; `usmp_max_float` is one."""
    needs_math: bool = False
    """Whether it calls functions of <math.h>."""
