"""Parts that lie in turn in every pixel of the whole: whoever touches one must be able to pass over the others.

joined, 20 channels     | a: 8 | b: 12     | a: 8 | b: 12     | ...
a                       pitch 20: |------->|
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.options import Pitched
from usmp_build.passes.parts.offsets import Cut
from usmp_build.passes.parts.sharing import Sharing


@dataclass
class Pitches:
    """What is known of one subgraph so far."""

    graph: Subgraph
    kernels: Mapping[int, Kernel]
    """Operator → its kernel, of those that may get another one."""
    is_any_cost_fine: bool
    """Whether kernels may take more instructions."""
    found: dict[int, int] = field(default_factory=dict)
    """Part → bytes from one of its pixels to the next."""

    def may_lie_in_turn(self, wanted: Cut, index: int, sharing: Sharing) -> bool:
        """Tell whether all who touch the parts, but for operator `index`, can do so; views of parts are not known."""
        return all(
            sharing.members(part) == {part}
            and wanted.pitch % sharing.demands.get(part, 1) == 0
            and all(self._may_touch(op, i, part) for i, op in enumerate(self.graph.operators) if i != index)
            for part in wanted.parts
        )

    def _may_touch(self, op: Operator, index: int, part: int) -> bool:
        read = {Input(position) for position, tensor in enumerate(op.inputs) if tensor == part}
        touched: set[Operand] = {*read, *(Output(i) for i, tensor in enumerate(op.outputs) if tensor == part)}
        if not touched:
            return True
        kernel = self.kernels.get(index)
        if kernel is None or not isinstance(op.options, Pitched):
            return False
        return touched <= kernel.pitched and (self.is_any_cost_fine or touched.isdisjoint(kernel.slower))

    def apart(self, op: Operator) -> Operator:
        """Return an operator that passes over the pixels of other parts, if it touches one."""
        if not isinstance(op.options, Pitched):
            return op
        touched = (op.inputs[0], op.outputs[0])
        if self.found.keys().isdisjoint(touched):
            return op
        source, output = (self._elements(tensor) for tensor in touched)
        return replace(op, options=replace(op.options, pitches=(source, output)))

    def _elements(self, tensor: int | None) -> int:
        """Return the elements from one pixel to the next."""
        if tensor is None:
            return 0
        known = self.graph.tensors[tensor]
        pitch = self.found.get(tensor)
        return known.shape[-1] if pitch is None else pitch * 8 // known.dtype.bits
