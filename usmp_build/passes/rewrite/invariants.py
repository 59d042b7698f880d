"""What is the same before and behind every rewrite: inputs and outputs, and what happens to variables.

Behind the last one, a model still makes sense as it does when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from usmp_build.ir.graph import DType, Model, Subgraph
from usmp_build.ir.variables import READ, handles
from usmp_build.operators.well_formed import first_fault


class Broken(Exception):
    """A rewrite does what none may do: a bug of ours, whatever the model is."""


def check_rewrite(rewrite: str, before: Model, after: Model) -> None:
    """Raise Broken where callers, or the next run, would see what a rewrite did."""
    _check_ports(rewrite, before, after)
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        _check_variables(rewrite, old, new)


def check_sense(before: Model, after: Model) -> None:
    """Raise Broken where a model that made sense makes none behind its rewrites; programs have nothing to rewrite."""
    fault = None if after.is_program else first_fault(after)
    if fault and first_fault(before) is None:
        raise Broken(f"rewritten, the model {after.name!r} makes no sense: {fault.message}")


def _check_ports(rewrite: str, before: Model, after: Model) -> None:
    """Handles of variables have no type, and become tensors; a subgraph that nobody runs any more has no ports."""
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
    """The same operators read and write the same variables in the same order, but for a READ_VARIABLE that is gone.

    A handle is none of them, even where the file says that it is a variable: its bytes are those that it leads to.
    """
    variables = {index for index, tensor in enumerate(old.tensors) if tensor.is_variable} - handles(old).keys()
    for index in variables:
        if old.tensors[index] != new.tensors[index]:
            raise Broken(f"the rewrite {rewrite} changes {old.tensors[index].name!r}, a variable")
    after = list(_accesses(new, variables))
    left = {access.position for access in after}
    before = [access for access in _accesses(old, variables) if not access.may_go or access.position in left]
    if before != after:
        raise Broken(f"the rewrite {rewrite} changes who reads and writes the variables of {old.name!r}, or when")


def _accesses(graph: Subgraph, variables: Set[int]) -> Iterator[_Access]:
    for op in graph.operators if variables else ():
        reads = tuple(tensor for tensor in op.inputs if tensor is not None and tensor in variables)
        writes = tuple(tensor for tensor in op.outputs if tensor in variables)
        if reads or writes:
            yield _Access(op.position, reads, writes, op.kind == READ)
