"""Which tensors of a subgraph share bytes so far, and whether some of them may become parts of another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from usmp_build.ir.graph import Subgraph
from usmp_build.passes.parts.offsets import Cut


@dataclass
class Sharing:
    """Sets of tensors that share bytes: views of one tensor, and the parts that were found before."""

    graph: Subgraph
    demands: Mapping[int, int]
    """Tensor → the alignment that those who touch it need, in bytes."""
    sets: dict[int, dict[int, int]] = field(init=False)
    """Root → the tensors in its bytes, itself too, and the bytes of it in front of each."""
    roots: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the views."""
        count = len(self.graph.tensors)
        self.sets = {tensor: {tensor: 0} for tensor in range(count) if tensor not in self.graph.homes}
        for tensor, home in self.graph.homes.items():
            self.sets[home.root][tensor] = home.offset
        self.roots = {tensor: root for root, members in self.sets.items() for tensor in members}

    def members(self, tensor: int) -> set[int]:
        """Return all tensors that share bytes with one, itself too."""
        return set(self.sets[self.roots[tensor]])

    def is_whole(self, tensor: int) -> bool:
        """Tell whether a tensor is all bytes of its root."""
        root = self.roots[tensor]
        return self.sets[root][tensor] == 0 and self.graph.tensors[root].size == self.graph.tensors[tensor].size

    def fits(self, parts: Cut) -> bool:
        """Tell whether whoever touches the parts, or what is in their bytes, finds it where it is aligned."""
        base = self.sets[self.roots[parts.whole]][parts.whole]
        return all(
            (base + offset + inner) % self.demands.get(tensor, 1) == 0
            for part, offset in zip(parts.parts, parts.offsets, strict=True)
            for tensor, inner in self.sets[self.roots[part]].items()
        )

    def join(self, parts: Cut) -> None:
        """Make parts, each of which is all bytes of its root, bytes of the whole."""
        root = self.roots[parts.whole]
        base = self.sets[root][parts.whole]
        for part, offset in zip(parts.parts, parts.offsets, strict=True):
            for tensor, inner in self.sets.pop(self.roots[part]).items():
                self.sets[root][tensor] = base + offset + inner
                self.roots[tensor] = root
