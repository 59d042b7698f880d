"""What the process with TVM says of a model that it cannot import."""

from __future__ import annotations


class Refusal(Exception):
    """A model that has no program; `help_` is the suggested fix."""

    def __init__(self, message: str, help_: str = "") -> None:
        super().__init__(message)
        self.help_ = help_


class TooDeep(Refusal):
    """An expression that nests deeper than C compilers take, as operators do that are computed in one loop."""
