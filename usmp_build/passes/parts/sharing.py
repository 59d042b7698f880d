"""Tracks which tensors of a subgraph share bytes, and whether more of them may become parts of a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from usmp_build.ir.graph import Subgraph
from usmp_build.passes.parts.offsets import Cut


@dataclass
class Sharing:
    """Sets of tensors that share bytes: views of one tensor, and the parts aliased so far."""

    graph: Subgraph
    demands: Mapping[int, int]
    """Tensor → the alignment that its readers and writers need, in bytes."""
    sets: dict[int, dict[int, int]] = field(init=False)
    """Root → the tensors in its bytes, including itself, each with its offset in bytes."""
    roots: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Start with the views."""
        count = len(self.graph.tensors)
        self.sets = {tensor: {tensor: 0} for tensor in range(count) if tensor not in self.graph.homes}
        for tensor, home in self.graph.homes.items():
            self.sets[home.root][tensor] = home.offset
        self.roots = {tensor: root for root, members in self.sets.items() for tensor in members}

    def members(self, tensor: int) -> set[int]:
        """Return all tensors that share bytes with one, including itself."""
        return set(self.sets[self.roots[tensor]])

    def may_move(self, parts: Cut) -> bool:
        """Tell whether roots can be moved so that parts get these offsets, and nothing else moves into the whole.

        A root may hold several parts.  Together they must be all of it, at the same distances as in it.
        """
        starts, bytes_left = self._starts(parts), dict[int, int]()
        for part, offset in zip(parts.parts, parts.offsets, strict=True):
            root = self.roots[part]
            if starts[root] != self._start(parts, part, offset):
                return False
            bytes_left[root] = bytes_left.get(root, self.graph.tensors[root].size) - self.graph.tensors[part].size
        return not any(bytes_left.values())

    def fits(self, parts: Cut) -> bool:
        """Tell whether all tensors in the bytes of the parts remain aligned."""
        return all(
            (start + inner) % self.demands.get(tensor, 1) == 0
            for root, start in self._starts(parts).items()
            for tensor, inner in self.sets[root].items()
        )

    def join(self, parts: Cut) -> None:
        """Make the roots of the parts bytes of the whole."""
        whole = self.roots[parts.whole]
        for root, start in self._starts(parts).items():
            for tensor, inner in self.sets.pop(root).items():
                self.sets[whole][tensor] = start + inner
                self.roots[tensor] = whole

    def _starts(self, parts: Cut) -> dict[int, int]:
        """Return the roots of the parts, each with its future offset in the root of the whole, in bytes."""
        places = zip(parts.parts, parts.offsets, strict=True)
        return {self.roots[part]: self._start(parts, part, offset) for part, offset in places}

    def _start(self, parts: Cut, part: int, offset: int) -> int:
        base = self.sets[self.roots[parts.whole]][parts.whole]
        return base + offset - self.sets[self.roots[part]][part]
