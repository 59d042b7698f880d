"""The kernel library "extern": the application supplies the kernels, and the generated code calls them.

A function for each kind of operator and the types of its tensors, called once for an operator.  It gets a struct with
shapes, quantization and options, then pointers: inputs, the scales of filters, outputs, scratch.
How it accesses memory is unknown, so inputs, outputs and scratch never overlap.
"""

from __future__ import annotations

from collections.abc import Iterable

from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.extern.calls import compute, copy
from usmp_build.kernels.extern.declarations import declarations
from usmp_build.kernels.extern.describe import refusal
from usmp_build.naming import matches
from usmp_build.request import OperandRule, TargetRequest


class Extern:
    """The kernels of one target."""

    def __init__(self, target: str = "cpu", rules: tuple[OperandRule, ...] = ()) -> None:
        self._target = target
        self._rules = rules

    @classmethod
    def for_target(cls, target: TargetRequest) -> Extern:
        """Return the library of a target; its rules say what scratch the kernels need."""
        return cls(target.name, target.rules)

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        """Return how `operator` of `graph` is called, or why it cannot be."""
        reason = refusal(operator, graph)
        if reason:
            return NoKernel(reason)
        rules = [rule for rule in self._rules if matches(rule.operators, operator.kind)]
        if operator.kind == "COPY":
            return copy(operator, graph, self._target)
        return compute(operator, graph, self._target, max((rule.scratch for rule in rules), default=0))

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the prototypes of these functions and the structs of their parameters; nothing is defined."""
        return KernelSources(declarations(calls, prefix), "")
