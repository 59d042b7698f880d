"""Names tensors and operators in messages."""

from __future__ import annotations

from usmp_build.errors import one_line
from usmp_build.naming import short_name

_LONGEST_NAME = 60


def tensor_label(subgraph: int, tensor: int, name: str) -> str:
    """Return the name of a tensor in messages.

    >>> tensor_label(0, 3, "conv/Relu"), tensor_label(1, 3, "")
    ('tensor 3 "conv/Relu"', 'tensor 3 of subgraph 1')
    >>> print(tensor_label(0, 3, "line\\nbreak"))
    tensor 3 "line\\nbreak"
    """
    return f"tensor {tensor}{_within(subgraph)}" + (f' "{_shortened(name)}"' if name else "")


def operator_label(subgraph: int, operator: int, kind: str) -> str:
    """Return the name of an operator in messages.

    >>> operator_label(0, 3, "CONV_2D"), operator_label(1, 3, "")
    ('operator 3 (CONV_2D)', 'operator 3 of subgraph 1')
    """
    return f"operator {operator}" + (f" ({_shortened(kind)})" if kind else "") + _within(subgraph)


def short_label(name: str, tensor: int) -> str:
    """Return a short name of a tensor, on one line; its number if it has no name.

    >>> short_label("a/conv/Relu;a/bn", 3), short_label("", 3)
    ('conv/Relu', 't3')
    """
    return one_line(short_name(name)) or f"t{tensor}"


def _within(subgraph: int) -> str:
    return f" of subgraph {subgraph}" if subgraph else ""


def _shortened(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
