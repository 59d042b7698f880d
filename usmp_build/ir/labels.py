"""How messages speak of the parts of a model."""

from __future__ import annotations

_LONGEST_NAME = 60


def tensor_label(subgraph: int, tensor: int, name: str) -> str:
    """Name a tensor for people.

    >>> tensor_label(0, 3, "conv/Relu"), tensor_label(1, 3, "")
    ('tensor 3 "conv/Relu"', 'tensor 3 of subgraph 1')
    """
    return f"tensor {tensor}{_within(subgraph)}" + (f' "{_shortened(name)}"' if name else "")


def operator_label(subgraph: int, operator: int, kind: str) -> str:
    """Name an operator for people.

    >>> operator_label(0, 3, "CONV_2D"), operator_label(1, 3, "")
    ('operator 3 (CONV_2D)', 'operator 3 of subgraph 1')
    """
    return f"operator {operator}" + (f" ({_shortened(kind)})" if kind else "") + _within(subgraph)


def _within(subgraph: int) -> str:
    return f" of subgraph {subgraph}" if subgraph else ""


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
