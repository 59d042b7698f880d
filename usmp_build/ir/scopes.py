"""Memory scopes: the target that runs each operator, and the candidate pools of each value.

A scope is a set of pools.  A value that two operators need in disjoint sets of pools exists twice: the second is a
copy, made by an operator of kind "COPY" that is in the graph like any other.
"""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.frozen import frozen
from usmp_build.ir.graph import OperatorRef, TensorRef

COPY = "COPY"
"""The kind of operators that copy a tensor to other pools."""


@frozen
class Scopes:
    """The scopes of all models, after copies were inserted."""

    targets: Mapping[OperatorRef, int]
    """The target that runs it, as position in `Request.targets`."""
    pools: Mapping[TensorRef, tuple[int, ...]]
    """The candidate pools of a tensor, most preferred first; views have those of their source."""
    scratch: Mapping[OperatorRef, tuple[int, ...]]
    """The same for the scratch of an operator's kernel."""
    derived: Mapping[OperatorRef, tuple[int, ...]]
    """The same for the constants that its kernel derives."""
    reasons: Mapping[TensorRef, str]
    """Why the pools of a tensor are restricted, in a few words; only for tensors where they are."""
