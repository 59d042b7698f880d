"""Checks after every rewrite that inputs, outputs and accesses to variables are unchanged.

After the last one, a model is still as well-formed as it was when it was imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from usmp_build.ir.graph import DType, Model, Subgraph
from usmp_build.ir.variables import READ, handles
from usmp_build.operators.circular_buffer import CIRCULAR_BUFFER
from usmp_build.operators.well_formed import first_fault


class Broken(Exception):
    """A rewrite violated an invariant: a bug of ours, whatever the model is."""


def check_rewrite(rewrite: str, before: Model, after: Model) -> None:
    """Raise Broken if callers, or the next run, could observe a rewrite."""
    _check_ports(rewrite, before, after)
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        _check_variables(rewrite, old, new)


def check_sense(before: Model, after: Model) -> None:
    """Raise Broken if rewrites made a well-formed model ill-formed."""
    fault = first_fault(after)
    if fault and first_fault(before) is None:
        raise Broken(f"rewritten, the model {after.name!r} makes no sense: {fault.message}")


def _check_ports(rewrite: str, before: Model, after: Model) -> None:
    """Raise Broken if ports changed, except handles, which become tensors, and ports of subgraphs that never run."""
    if (before.main.inputs, before.main.outputs) != (after.main.inputs, after.main.outputs):
        raise Broken(f"the rewrite {rewrite} exchanges inputs or outputs of the model {before.name!r}")
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        for port in (*new.inputs, *new.outputs):
            one, other = old.tensors[port], new.tensors[port]
            looks = [(each.shape, each.dtype, each.quantization) for each in (one, other)]
            if looks[0] != looks[1] and one.dtype is not DType.RESOURCE:
                raise Broken(f"the rewrite {rewrite} changes {one.name!r}, an input or output")


class _Access(NamedTuple):
    """An operator that touches variables."""

    position: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    may_go: bool


def _check_variables(rewrite: str, old: Subgraph, new: Subgraph) -> None:
    """Raise Broken if accesses to variables or their order changed, except that a READ_VARIABLE may be removed.

    A handle does not count as a variable, even if the file marks it as one.
    """
    variables = {index for index, tensor in enumerate(old.tensors) if tensor.is_variable} - handles(old).keys()
    for index in variables:
        if old.tensors[index] != new.tensors[index]:
            raise Broken(f"the rewrite {rewrite} changes {old.tensors[index].name!r}, a variable")
    after = list(_accesses(new, variables))
    positions_left = {access.position for access in after}
    before = [access for access in _accesses(old, variables) if not access.may_go or access.position in positions_left]
    if before != after:
        raise Broken(f"the rewrite {rewrite} changes who reads and writes the variables of {old.name!r}, or when")


def _accesses(graph: Subgraph, variables: Set[int]) -> Iterator[_Access]:
    for op in graph.operators:
        reads = tuple(tensor for tensor in op.inputs if tensor is not None and tensor in variables)
        writes = tuple(tensor for tensor in op.outputs if tensor in variables)
        if op.kind == CIRCULAR_BUFFER:  # it updates its output, which `variables` makes an input
            reads, writes = (*reads, *writes), ()
        if reads or writes:
            yield _Access(op.position, reads, writes, op.kind == READ)
