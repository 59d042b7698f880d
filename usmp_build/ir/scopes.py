"""Memory scopes: who runs each operator, and in which pools each value may live.

A scope is a set of pools.  A value that two operators want in pools of which none is the same exists twice: the
second is a copy, made by an operator of kind "COPY" that is in the graph like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from usmp_build.ir.graph import OperatorRef, TensorRef

COPY = "COPY"
"""The kind of operators that bring a tensor to other pools."""


@dataclass(frozen=True)
class Scopes:
    """The answers for all models, after copies were inserted."""

    targets: Mapping[OperatorRef, int]
    """Who runs it: position in `Request.targets`."""
    pools: Mapping[TensorRef, tuple[int, ...]]
    """The pools that a tensor may live in, most preferred first; views have those of their source."""
    scratch: Mapping[OperatorRef, tuple[int, ...]]
    """The same for the scratch of an operator's kernel."""
    derived: Mapping[OperatorRef, tuple[int, ...]]
    """The same for the constants that its kernel derives."""
    reasons: Mapping[TensorRef, str]
    """Why these: who restricts them, in a few words; empty where nobody does."""
