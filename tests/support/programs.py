"""Random two-level programs: loops of all kinds, branches, calls in calls, parameters that alias, writes in part."""

from hypothesis import strategies as st

from usmp_build.ir.graph import DType, Model, Subgraph, Tensor
from usmp_build.ir.statements import Access, Allocate, For, If, Invoke, LoopKind, Statement

SMALL, SIZES = 4, (4, 6, 8)
"""Bytes: of parameters whose size is told, and of allocations."""
_DEEPEST = 3


@st.composite
def programs(draw: st.DrawFn) -> Model:
    """main(x, y) calls functions, these call others behind them; the last one only copies."""
    count = draw(st.integers(0, 3))
    functions = {count + 1: _COPY}
    for number in range(count, 0, -1):  # callees first: their parameters must be known
        functions[number] = _function(draw, number, functions)
    functions[0] = _main(draw, functions)
    return Model("m", tuple(functions[number] for number in range(count + 2)))


_COPY = Subgraph(
    "copy", (Tensor("from", (), DType.VARIANT), Tensor("to", (), DType.VARIANT)), (), (), (), (Access((0,), (1,)),), 2
)


def _main(draw: st.DrawFn, callees: dict[int, Subgraph]) -> Subgraph:
    copy = max(callees)
    writer = _Writer(draw, callees, [_bytes("x", 8), _bytes("y", 8)], set())
    inner = len(writer.tensors)
    writer.tensors.append(_bytes("first", 8))
    writer.here.add(inner)
    begin = draw(st.sampled_from([Access((0,), (inner,), True), Invoke(copy, (0, inner))]))
    end = draw(st.sampled_from([Access((inner,), (1,)), Invoke(copy, (inner, 1))]))
    body = (Allocate(inner, (begin, *writer.body(_DEEPEST), end)),)
    return Subgraph("main", tuple(writer.tensors), (0,), (1,), (), body, 2)


def _function(draw: st.DrawFn, number: int, callees: dict[int, Subgraph]) -> Subgraph:
    unknown = draw(st.lists(st.booleans(), max_size=3))
    parameters = [Tensor(f"p{i}", (), DType.VARIANT) if u else _bytes(f"p{i}", SMALL) for i, u in enumerate(unknown)]
    writer = _Writer(draw, dict(callees), parameters, set(range(len(parameters))))
    body = writer.body(_DEEPEST)
    return Subgraph(f"f{number}", tuple(writer.tensors), (), (), (), body, len(unknown))


def _bytes(name: str, size: int) -> Tensor:
    return Tensor(name, (size,), DType.INT8)


class _Writer:
    """Makes up a body; `here` are the tensors that it may name."""

    def __init__(self, draw: st.DrawFn, callees: dict[int, Subgraph], tensors: list[Tensor], here: set[int]) -> None:
        self.draw = draw
        self.callees = callees
        self.tensors = tensors
        self.here = here

    def body(self, depth: int) -> tuple[Statement, ...]:
        return tuple(each for _ in range(self.draw(st.integers(1, 3))) for each in self._statements(depth))

    def _statements(self, depth: int) -> tuple[Statement, ...]:
        """Make up a statement; a call may touch what it is not given, as `importers.program` says it."""
        statement = self._statement(depth)
        if isinstance(statement, Invoke) and self.here and self.draw(st.booleans()):
            touched = (self.draw(st.sampled_from(sorted(self.here))),)
            around = Access(touched, touched, name="touched")
            return around, statement, around
        return (statement,)

    def _statement(self, depth: int) -> Statement:
        kinds = ["access"] * 3 + ["call"] * 2 + ["allocate", "loop", "branch"] * (2 * (depth > 0))
        kind = self.draw(st.sampled_from(kinds))
        if kind == "allocate":
            tensor = len(self.tensors)
            self.tensors.append(_bytes(f"t{tensor}", self.draw(st.sampled_from(SIZES))))
            self.here.add(tensor)
            body = self.body(depth - 1)
            self.here.discard(tensor)
            return Allocate(tensor, body)
        if kind == "branch" and self.here:
            condition = self.draw(st.sampled_from(sorted(self.here)))
            return If(condition, self.body(depth - 1), self.body(depth - 1) if self.draw(st.booleans()) else ())
        if kind == "loop":
            return self._loop(depth)
        some = st.lists(st.sampled_from(sorted(self.here)), max_size=2).map(tuple) if self.here else st.just(())
        if kind == "call":
            function = self.draw(st.sampled_from(sorted(self.callees)))
            count = self.callees[function].parameters
            known = st.sampled_from([None, *sorted(self.here)])
            return Invoke(function, tuple(self.draw(st.lists(known, min_size=count, max_size=count))))
        reads, writes = self.draw(some), self.draw(some)
        sized = [t for t in dict.fromkeys(reads) if self.tensors[t].dtype.bits]
        can = len(writes) == 1 and self.tensors[writes[0]].dtype.bits and writes[0] not in reads
        near = tuple(sized) if can and self.draw(st.booleans()) else ()
        return Access(reads, writes, self.draw(st.booleans()), elementwise=near)

    def _loop(self, depth: int) -> For:
        kind = self.draw(st.sampled_from([LoopKind.SERIAL, LoopKind.SERIAL, LoopKind.PARALLEL]))
        extent = self.draw(st.sampled_from([None, 0, 1, 2, 3]))
        workers = self.draw(st.integers(1, 2)) if kind.is_parallel and extent is None else None
        return For(kind, extent, self.body(depth - 1), workers)
