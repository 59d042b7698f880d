"""Parses the textual form of a model by recursive descent over lines; `text` describes the form.

For any text, the outcome is a model or a `ModelError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from usmp_build.ir.graph import Model, Operator, Port, Subgraph, Tensor
from usmp_build.ir.statements import Statement
from usmp_build.textual.body import WORDS, read_statement
from usmp_build.textual.lines import Allowance, Line
from usmp_build.textual.options import read_options
from usmp_build.textual.tensors import read_data, read_type


def read(text: str, name: str = "", path: str = "") -> Model:
    """Return the model that `text` spells, called `name` if that is given.

    Raises ModelError, placed in the file `path`.  The model is not checked; `ir.check` does that.
    """
    return _Reader(text, path).model(name)


class _Reader:
    """A text, and the current line."""

    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._sources = text.split("\n")
        self._read = 0
        self._allowance = Allowance()
        self._line = self._next()

    def _next(self) -> Line:
        """Return the next line that is not blank; at the end of the text, an empty one."""
        while self._read < len(self._sources):
            self._read += 1
            line = Line(self._path, self._read, self._sources[self._read - 1], self._allowance)
            if line.peek().kind != "end":
                return line
        return Line(self._path, self._read, "", self._allowance)

    def _end_line(self) -> None:
        self._line.end()
        self._line = self._next()

    def _following(self) -> Line:
        self._end_line()
        return self._line

    def model(self, name: str) -> Model:
        self._line.expect("model")
        name_in_file = self._line.string("the name of the model")
        self._end_line()
        inputs, outputs = self._ports("input"), self._ports("output")
        subgraphs: list[Subgraph] = []
        while self._line.peek().kind != "end":
            subgraphs.append(self._subgraph(len(subgraphs)))
        tensor_count = len(subgraphs[0].tensors) if subgraphs else 0
        return Model(
            name or name_in_file,
            tuple(subgraphs),
            tuple(_port(port, line, tensor_count) for port, line in inputs),
            tuple(_port(port, line, tensor_count) for port, line in outputs),
        )

    def _ports(self, role: str) -> list[tuple[str, Line]]:
        """Read lines like `input "audio" = %0` up to the tensor, which is only declared later."""
        ports = []
        while self._line.accept(role):
            name = self._line.string("the name in the signature")
            self._line.expect("=")
            ports.append((name, self._line))
            self._line = self._next()
        return ports

    def _subgraph(self, number: int) -> Subgraph:
        header = self._line
        word = header.expect("subgraph")
        header.number("number", "", number)
        name = header.string("the name of the subgraph")
        self._end_line()
        tensors: list[Tensor] = []
        operators: list[Operator] = []
        positions: set[int] = set()
        body: list[Statement] = []
        parameters = 0
        ends: dict[str, tuple[int, ...]] = {}
        while self._line.peek().text not in {"", "subgraph"}:
            if self._line.peek().text in WORDS:
                statement, self._line = read_statement(self._line, len(tensors), self._following)
                body.append(statement)
            elif self._line.peek(1).kind == "string":
                tensors.append(self._tensor(len(tensors)))
            elif self._line.accept("parameters"):
                parameters = self._line.integer("a number of parameters")
                self._end_line()
            elif self._line.peek().text in {"inputs", "outputs"}:
                self._read_ends(ends, len(tensors))
            else:
                operators.append(_operator(self._line, len(tensors), positions))
                self._end_line()
        for missing in sorted({"inputs", "outputs"} - ends.keys()):
            cure = f"write one, for example `{missing} %0`"
            raise header.error("T308", f"subgraph {number} has no line `{missing}`", cure, word)
        parts = (tuple(tensors), ends["inputs"], ends["outputs"], tuple(operators), tuple(body))
        return Subgraph(name, *parts, parameters)

    def _tensor(self, number: int) -> Tensor:
        line = self._line
        line.number("tensor", "%", number)
        tensor = read_type(line, line.string("the name of the tensor"))
        if not line.accept("="):
            self._end_line()
            return tensor
        data = read_data(line, tensor)
        self._end_line()
        value = self._rows() if data is None else data
        return replace(tensor, initial=value) if tensor.is_variable else replace(tensor, data=value)

    def _rows(self) -> bytes:
        data = bytearray()
        while self._line.peek().kind == "data":
            data += self._line.data()
            self._end_line()
        return bytes(data)

    def _read_ends(self, ends: dict[str, tuple[int, ...]], tensor_count: int) -> None:
        """Read `inputs %0, %1` or `outputs %2`."""
        role = self._line.take("word", "inputs or outputs")
        if role.text in ends:
            raise self._line.error("T307", f"`{role.text}` is given twice", "write all tensors into one line", role)
        ends[role.text] = tuple(_tensors(self._line, tensor_count))
        self._end_line()


def _port(name: str, line: Line, tensor_count: int) -> Port:
    port = Port(name, line.tensor(tensor_count))
    line.end()
    return port


def _operator(line: Line, tensor_count: int, positions: set[int]) -> Operator:
    """Read `%7 = CONV_2D(%0, %3, _) padding=VALID @0`; the position may be left out.

    Add it to `positions`, those of the operators above: it tells operators of one subgraph from each other.
    """
    outputs = () if line.accept("_") else tuple(_tensors(line, tensor_count))
    line.expect("=")
    quoted = line.peek().kind == "string"
    kind = line.string("a kind") if quoted else line.take("word", "a kind of operator, for example CONV_2D").text
    line.expect("(")
    inputs = tuple(_inputs(line, tensor_count))
    line.expect(")")
    options = read_options(kind, line)
    token = line.peek()
    position = line.position() if token.kind == "position" else len(positions)
    if position in positions:
        cure = "give each operator another one, or leave all of them out"
        raise line.error("T307", f"position {position} is that of an operator above", cure, token)
    positions.add(position)
    return Operator(kind, inputs, outputs, options, position)


def _inputs(line: Line, tensor_count: int) -> Iterator[int | None]:
    """Read references up to the bracket; `_` is an omitted input."""
    while line.peek().text != ")":
        yield None if line.accept("_") else line.tensor(tensor_count)
        if line.peek().text != ")":
            line.expect(",")


def _tensors(line: Line, tensor_count: int) -> Iterator[int]:
    """Read references separated by commas; there may be none."""
    if line.peek().kind == "tensor":
        yield line.tensor(tensor_count)
        while line.accept(","):
            yield line.tensor(tensor_count)
