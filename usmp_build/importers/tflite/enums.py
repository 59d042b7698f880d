"""The enumerations of the `tflite` package, which gives them as classes full of numbers."""

from __future__ import annotations


def names(enumeration: type) -> dict[int, str]:
    """Return number → name."""
    return {number: name for name, number in vars(enumeration).items() if not name.startswith("_")}
