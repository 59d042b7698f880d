"""Inputs and outputs of subgraphs look the same before and behind every rewrite."""

from __future__ import annotations

from usmp_build.ir.graph import DType, Model


class PortChanged(Exception):
    """A rewrite changed what callers see: a bug of ours, whatever the model is."""


def check_ports(rewrite: str, before: Model, after: Model) -> None:
    """Raise PortChanged where the shape, type or quantization of an input or output is another one.

    Handles of variables have none of these, and become tensors; a subgraph that nobody runs any more has no ports.
    """
    if (before.main.inputs, before.main.outputs) != (after.main.inputs, after.main.outputs):
        raise PortChanged(f"the rewrite {rewrite} exchanges inputs or outputs of the model {before.name!r}")
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        for port in (*new.inputs, *new.outputs):
            one, other = old.tensors[port], new.tensors[port]
            looks = [(each.shape, each.dtype, each.quantization) for each in (one, other)]
            if looks[0] != looks[1] and one.dtype is not DType.RESOURCE:
                raise PortChanged(f"the rewrite {rewrite} changes {one.name!r}, an input or output")
