"""How an operator kind is declared, and an operator as its rules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.labels import tensor_label

_SEVERAL = {"inputs", "outputs"}
"""Names that stand for any number of operands."""


class Fault(NamedTuple):
    """What is wrong with an operator; the message goes on after the operator's name and a colon."""

    code: str
    message: str
    cure: str | None = None
    """What the user can do about it; None: convert the model again."""


class Label(NamedTuple):
    """How messages speak of an operand: written out only when one is printed."""

    subgraph: int
    position: int
    tensor: str
    name: str

    def __str__(self) -> str:
        role = f"one of its {self.name}" if self.name in _SEVERAL else f"its {self.name}"
        return f"{tensor_label(self.subgraph, self.position, self.tensor)}, {role},"


@frozen
class Subject:
    """An operator whose operands have the names of its signature."""

    operator: Operator
    graph: Subgraph
    subgraph: int
    signature: Signature

    def tensor(self, name: str) -> Tensor | None:
        """Return an operand; None when it was left out."""
        index = next(iter(self._indices(name)), None)
        return None if index is None else self.graph.tensors[index]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an operand that is not optional."""
        tensor = self.tensor(name)
        assert tensor is not None
        return tensor.shape

    def each(self, *names: str) -> Iterator[tuple[Label, Tensor]]:
        """Yield label and tensor of those operands that were not left out."""
        for name in names:
            for index in self._indices(name):
                if index is not None:
                    tensor = self.graph.tensors[index]
                    yield Label(self.subgraph, index, tensor.name, name), tensor

    def numbers(self, name: str) -> list[int] | None:
        """Return the integers of an operand; None when they are not known at build time."""
        tensor = self.tensor(name)
        if tensor is None or not tensor.is_constant or tensor.is_withheld or not tensor.dtype.is_integer:
            return None
        return [int(number) for number in tensor.as_array().reshape(-1)]

    def _indices(self, name: str) -> Sequence[int | None]:
        if self.signature.outputs.has(name):
            return self.signature.outputs.of(name, self.operator.outputs)
        return self.signature.inputs.of(name, self.operator.inputs)


Rule: TypeAlias = Callable[[Subject], Iterator[Fault]]
"""What a kind asks of its operands; when a rule is called, all operands that are not optional are there."""


@frozen
class Operands:
    """Names of operands in their order: `bias?` may be left out; `parts*`, always the last, is one or more."""

    names: str

    @cached_property
    def _list(self) -> list[str]:
        return self.names.split()

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name.rstrip("?*"): position for position, name in enumerate(self._list)}

    def has(self, name: str) -> bool:
        """Tell whether one of them is called so."""
        return name in self._positions

    def of(self, name: str, tensors: Sequence[int | None]) -> Sequence[int | None]:
        """Return the tensors of an operand: several for `parts*`, else at most one."""
        position = self._positions[name]
        return tensors[position:] if self._list[position].endswith("*") else tensors[position : position + 1]

    def faults(self, role: str, tensors: Sequence[int | None]) -> Iterator[Fault]:
        """Yield which operands are missing, and that there are too many."""
        for position, name in enumerate(self._list):
            given = tensors[position : None if name.endswith("*") else position + 1]
            if not name.endswith("?") and (not given or None in given):
                missing = position + (given.index(None) if given else 0)
                yield Fault("T246", f"its {role} {missing} is missing ({name.rstrip('*')})")
        if len(tensors) > len(self._list) and not self.names.endswith("*"):
            yield Fault("T246", f"it has {len(tensors)} {role}s, but takes no more than {len(self._list)}")


class Signature:
    """What an operator of a kind must be like; rules are asked in their order, each relies on those before it."""

    def __init__(self, inputs: str, outputs: str = "output", rules: Sequence[Rule] = ()) -> None:
        self.inputs = Operands(inputs)
        self.outputs = Operands(outputs)
        self.rules = tuple(rules)
