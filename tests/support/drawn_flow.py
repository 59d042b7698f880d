"""Models with loops and branches, drawn at random: subgraphs return what they compute, or anything else they have."""

from dataclasses import dataclass, field

from tests.support.kernels.drawing import Random, pick, span
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.operators.binary import Binary

_FLAG, _NUMBERS = (1,), (6,)


@dataclass
class _Graph:
    """A subgraph that grows."""

    r: Random
    tensors: list[Tensor] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    inputs: tuple[int, ...] = ()

    def tensor(self, dtype: DType, data: bytes | None = None) -> int:
        shape = _FLAG if dtype is DType.BOOL else _NUMBERS
        self.tensors.append(Tensor(f"t{len(self.tensors)}", shape, dtype, data=data))
        return len(self.tensors) - 1

    def tensors_like(self, kinds: list[DType]) -> tuple[int, ...]:
        return tuple(map(self.tensor, kinds))

    def operator(self, kind: str, inputs: tuple[int, ...], kinds: list[DType], options: o.Options | None) -> None:
        outputs = self.tensors_like(kinds)
        self.operators.append(Operator(kind, inputs, outputs, options, len(self.operators)))

    def any(self, dtype: DType) -> int:
        return int(pick(self.r, [i for i, tensor in enumerate(self.tensors) if tensor.dtype is dtype]))

    def compute(self) -> None:
        """Add an operator on numbers."""
        kind = pick(self.r, ["ADD", "MUL", "TANH", "RELU"])
        operands = tuple(self.any(DType.FLOAT32) for _ in range(2 if kind in ("ADD", "MUL") else 1))
        if all(self.tensors[tensor].is_constant for tensor in operands):
            return
        self.operator(kind, operands, [DType.FLOAT32], Binary() if len(operands) == 2 else None)

    def finished(self, name: str, outputs: tuple[int, ...]) -> Subgraph:
        return Subgraph(name, tuple(self.tensors), self.inputs, outputs, tuple(self.operators))


def drawn_flow(r: Random) -> tuple[Subgraph, ...]:
    """Draw a loop with branches in it and after it; some subgraphs have several callers."""
    flags, numbers = span(r, 2, 3), span(r, 1, 3)
    state = [DType.BOOL] * flags + [DType.FLOAT32] * numbers
    arms = [_arm(r, f"arm_{i}", numbers) for i in range(4)]
    main, test, body = _started(r, state), _started(r, state), _started(r, state)
    off = body.tensor(DType.BOOL, bytes(1))
    for _ in range(span(r, 1, 4)):
        _step(body, numbers)
    carried = (*body.inputs[1:flags], off, *(body.any(DType.FLOAT32) for _ in range(numbers)))
    main.operator("WHILE", main.inputs, state, o.While(1, 2))
    after = main.operators[-1].outputs
    for _ in range(span(r, 1, 3)):
        _step(main, numbers)
    outputs = tuple(dict.fromkeys((after[-1], len(main.tensors) - 1)))
    graphs = [main.finished("main", outputs), test.finished("test", (test.inputs[0],)), body.finished("body", carried)]
    return (*graphs, *arms)


def _started(r: Random, kinds: list[DType]) -> _Graph:
    graph = _Graph(r)
    graph.inputs = graph.tensors_like(kinds)
    graph.tensor(DType.FLOAT32, r.uniform(-1, 1, _NUMBERS).astype("<f4").tobytes())
    return graph


def _arm(r: Random, name: str, numbers: int) -> Subgraph:
    arm = _started(r, [DType.FLOAT32] * numbers)
    for _ in range(span(r, 0, 3)):
        arm.compute()
    return arm.finished(name, tuple(arm.any(DType.FLOAT32) for _ in range(span(r, 1, 1))))


def _step(graph: _Graph, numbers: int) -> None:
    """Add an operator on numbers, or a branch to two of the four arms, which are subgraphs 3 to 6."""
    if pick(graph.r, [True, False]):
        graph.compute()
        return
    decided_by = pick(graph.r, [i for i in graph.inputs if graph.tensors[i].dtype is DType.BOOL])
    arguments = tuple(graph.any(DType.FLOAT32) for _ in range(numbers))
    arms = o.If(span(graph.r, 3, 6), span(graph.r, 3, 6))
    graph.operator("IF", (decided_by, *arguments), [DType.FLOAT32], arms)
