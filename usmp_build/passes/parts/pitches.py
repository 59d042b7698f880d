"""Tracks pixel strides of interleaved parts: kernels that touch one must be able to skip the others.

joined, 20 channels     | a: 8 | b: 12     | a: 8 | b: 12     | ...
a                       pitch 20: |------->|

A whole may itself be some channels of another one.  Then so are its parts, with the pitch of the outermost whole:

outer, 24 channels      | a: 8 | b: 12     | c: 4 | a: 8 | ...
a, b, joined            pitch 24: |-------------->|
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.options import Parts
from usmp_build.passes.parts.offsets import Cut
from usmp_build.passes.parts.sharing import Sharing


@dataclass
class PartPitches:
    """The pixel strides decided so far in one subgraph."""

    graph: Subgraph
    kernels: Mapping[int, Kernel]
    """Operator → its kernel, if it may get another one."""
    is_any_cost_fine: bool
    """Whether kernels may run more instructions."""
    by_tensor: dict[int, int] = field(default_factory=dict)
    """Tensor that is some channels of another one → its pixel stride in bytes."""
    idle: set[int] = field(default_factory=set)
    """Operators that no longer run."""

    def fitted(self, cut: Cut) -> Cut | None:
        """Return a cut with the pitch of the outermost whole; None if a contiguous one has tensors with a pitch."""
        outer = self.by_tensor.get(cut.whole, cut.pitch)
        if cut.pitch:
            return cut._replace(pitch=outer)
        return cut if self.by_tensor.keys().isdisjoint((cut.whole, *cut.parts)) else None

    def may_interleave(self, cut: Cut, index: int, sharing: Sharing) -> bool:
        """Tell whether all operators that touch bytes of the parts, except number `index`, support a pixel stride.

        Views of the parts, and contiguous parts of them, do not support one.
        """
        inner = {tensor for part in cut.parts for tensor in sharing.members(part)}
        return (
            all(tensor in self.by_tensor or tensor in sharing.sets for tensor in inner)
            and all(cut.pitch % sharing.demands.get(tensor, 1) == 0 for tensor in inner)
            and all(self._may_touch(op, i, inner) for i, op in enumerate(self.graph.operators) if i != index)
        )

    def _may_touch(self, op: Operator, index: int, parts: set[int]) -> bool:
        read = {Input(position) for position, tensor in enumerate(op.inputs) if tensor in parts}
        touched: set[Operand] = {*read, *(Output(i) for i, tensor in enumerate(op.outputs) if tensor in parts)}
        if not touched or index in self.idle:
            return True
        kernel = self.kernels.get(index)
        if kernel is None:
            return False
        return touched <= kernel.pitched and (self.is_any_cost_fine or touched.isdisjoint(kernel.slower))

    def join(self, cut: Cut, index: int, sharing: Sharing) -> None:
        """Note that operator `index` no longer runs, and the pitch of all tensors in the bytes of the parts."""
        self.idle.add(index)
        if cut.pitch:
            inner = {tensor for part in cut.parts for tensor in sharing.members(part)}
            self.by_tensor.update(dict.fromkeys(inner, cut.pitch))

    def outermost(self, op: Operator) -> Operator:
        """Return an operator with the pitch of the outermost whole."""
        if not isinstance(op.options, Parts) or not op.options.pitch:
            return op
        return replace(op, options=replace(op.options, pitch=self.by_tensor[op.shares[0].part]))
