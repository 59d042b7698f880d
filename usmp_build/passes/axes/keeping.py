"""Propagates axis separators through operators that keep the axes, to tensors without separators of their own.

    %3 = CONV_2D(%0)          separators [1]
    %4 = MAX_POOL_2D(%3)      inherits those of %3
    %5 = RESHAPE(%4)          inherits none: it makes axes of its own

They also end at a tensor whose kernels need other rows: inherited separators never cause an error or a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.labels import short_label
from usmp_build.operators.table import traits
from usmp_build.passes.axes.rows import RowCut


class _Going(NamedTuple):
    """Separators being propagated."""

    separators: tuple[int, ...]
    name: str
    """Name of the tensor that they were given for."""
    holder: int | None
    """The last tensor that they apply to."""


@dataclass
class Kept:
    """The propagation of separators in a subgraph."""

    graph: Subgraph
    cut: Callable[[int, tuple[int, ...]], RowCut | str]
    """Cuts a tensor at separators, or returns a clause that says why that is impossible."""
    paged: Mapping[int, object]
    """The tensors with rows."""
    going: dict[int, _Going] = field(default_factory=dict, init=False)
    cuts: dict[int, RowCut] = field(default_factory=dict, init=False)
    """Tensor → its rows, by inherited separators."""
    ends: dict[int, list[str]] = field(default_factory=dict, init=False)
    """Tensor → where its separators end, for messages."""

    def walk(self, separators: Mapping[int, tuple[int, ...]]) -> None:
        """Propagate the separators of rules and models, given by tensor, from operator to operator."""
        for tensor, cut in separators.items():
            name = short_label(self.graph.tensors[tensor].name, tensor)
            self.going[tensor] = _Going(cut, name, tensor if tensor in self.paged else None)
        for op in self.graph.operators:
            source = next((t for t in op.inputs if t is not None and t in self.going), None)
            for output in op.outputs:
                if source is not None and output not in self.going:
                    self._step(op, self.going[source], source, output)

    def _step(self, op: Operator, going: _Going, source: int, output: int) -> None:
        ranks = {len(self.graph.tensors[tensor].shape) for tensor in (source, output)}
        if not traits(op.kind).keeps_axes or len(ranks) > 1:
            self._end(op, going, "which makes axes of its own")
        elif output not in self.paged:
            self.going[output] = going
        else:
            cut = self.cut(output, going.separators)
            if isinstance(cut, str):
                self._end(op, going, cut)
            else:
                self.cuts[output] = replace(cut, why=f"the axis separators of {going.name}")
                self.going[output] = going._replace(holder=output)

    def _end(self, op: Operator, going: _Going, why: str) -> None:
        if going.holder is not None:
            self.ends.setdefault(going.holder, []).append(f"{op.kind} {op.position}, {why}")
