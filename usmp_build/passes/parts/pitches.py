"""Parts that lie in turn in every pixel of the whole: whoever touches one must be able to pass over the others.

joined, 20 channels     | a: 8 | b: 12     | a: 8 | b: 12     | ...
a                       pitch 20: |------->|

A whole may be channels of another one in its turn.  Then its parts are, too, and have the pitch of the outermost:

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
class Pitches:
    """What is known of one subgraph so far."""

    graph: Subgraph
    kernels: Mapping[int, Kernel]
    """Operator → its kernel, of those that may get another one."""
    is_any_cost_fine: bool
    """Whether kernels may take more instructions."""
    found: dict[int, int] = field(default_factory=dict)
    """Tensor that is channels of another one → bytes from one of its pixels to the next."""
    idle: set[int] = field(default_factory=set)
    """Operators that do nothing any more."""

    def fitted(self, wanted: Cut) -> Cut | None:
        """Return a cut with the pitch that it has in the outermost whole; None where no part can be bytes in a row."""
        outer = self.found.get(wanted.whole, wanted.pitch)
        if wanted.pitch:
            return wanted._replace(pitch=outer)
        return wanted if self.found.keys().isdisjoint((wanted.whole, *wanted.parts)) else None

    def may_lie_in_turn(self, wanted: Cut, index: int, sharing: Sharing) -> bool:
        """Tell whether all who touch what is in the bytes of the parts, but for operator `index`, can do so.

        Views of them, and parts that are some of their pixels, are not known to have channels in turn.
        """
        inner = {tensor for part in wanted.parts for tensor in sharing.members(part)}
        return (
            all(tensor in self.found or tensor in sharing.sets for tensor in inner)
            and all(wanted.pitch % sharing.demands.get(tensor, 1) == 0 for tensor in inner)
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

    def join(self, wanted: Cut, index: int, sharing: Sharing) -> None:
        """Note that operator `index` does nothing, and the pitch of all that is in the bytes of the parts."""
        self.idle.add(index)
        if wanted.pitch:
            inner = {tensor for part in wanted.parts for tensor in sharing.members(part)}
            self.found.update(dict.fromkeys(inner, wanted.pitch))

    def outermost(self, op: Operator) -> Operator:
        """Return an operator with the pitch that its parts have in the end."""
        if not isinstance(op.options, Parts) or not op.options.pitch:
            return op
        return replace(op, options=replace(op.options, pitch=self.found[op.shares[0].part]))
