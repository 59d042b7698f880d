"""Reads a file into a checked program: its functions, main first, and which of main's parameters are inputs."""

from __future__ import annotations

from dataclasses import replace
from graphlib import CycleError

from usmp_build.document.faults import PROGRAMS, Place
from usmp_build.document.json_text import Paths, parse, validate
from usmp_build.document.source import Source, check_size, decode
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.program.function import FunctionReader
from usmp_build.importers.program.records import ProgramRecord
from usmp_build.importers.program.sizes import Sizes
from usmp_build.ir.check import check
from usmp_build.ir.check_body import count_fault, size_fault
from usmp_build.ir.graph import Model, Subgraph
from usmp_build.ir.uses import demands, role_fault, uses


def import_program(data: bytes, name: str, path: str, /) -> Model:
    """Return the program in `data`, called `name`; raise ModelError, placed in `path`, when it is not valid."""
    check_size(data, path, PROGRAMS)
    source = decode(data, path, PROGRAMS)
    document = parse(source)
    at: Place = ("program",) if "program" in document else ()
    inside = document["program"] if at else document
    if not isinstance(inside, dict):
        place = Paths(source).span(at)
        raise ModelError(Diagnostic("T262", '"program" must be an object', place, "it has main and functions"))
    model = _Program(source, validate(ProgramRecord, inside, source, at), at).model(name)
    if fault := check(model):
        raise ModelError(replace(fault, place=source.span(1, 1)))
    return model


class _Program:
    """A program as its file states it."""

    def __init__(self, source: Source, record: ProgramRecord, at: Place) -> None:
        self._source = source
        self._record = record
        self._at = at
        self._names = sorted(record.functions, key=lambda name: name != record.main)

    def model(self, name: str) -> Model:
        main = self._record.main
        if main not in self._record.functions:
            help_ = suggestion(main, self._record.functions, "functions are")
            raise self._fault("T263", f"there is no function {quoted(main)}", ("main",), help_)
        numbers = {name: number for number, name in enumerate(self._names)}
        sizes = Sizes(self._record.upper_bounds)
        readers = [FunctionReader(self._source, sizes, numbers, f, (*self._at, "functions", f)) for f in self._names]
        functions = tuple(reader.read(self._record.functions[reader.name]) for reader in readers)
        program = Model(name, functions)
        self._check_calls(program, readers)
        return self._with_ports(program)

    def _check_calls(self, model: Model, readers: list[FunctionReader]) -> None:
        """Raise ModelError for calls that do not fit; sizes are checked last, after recursion is ruled out."""
        calls = [(reader, *call) for reader in readers for call in reader.calls]
        for reader, call, place in calls:
            callee = model.subgraphs[call.function]
            if message := count_fault(callee, call):
                raise _misfit(reader, callee, message, place)
        try:
            demanded = demands(model)
        except CycleError as error:
            raise self._recursion(error.args[1], readers) from None
        for reader, call, place in calls:
            if message := size_fault(model, reader.functions[reader.name], call, demanded):
                raise _misfit(reader, model.subgraphs[call.function], message, place)

    def _with_ports(self, model: Model) -> Model:
        """Return the model with its ports: parameters of main that are inputs, and those that are outputs."""
        in_main = uses(model)[0]
        main = model.main
        declared = self._declared_outputs(main)
        for position in range(main.parameters):
            is_output = None if declared is None else position in declared
            is_read, is_written = position in in_main.read, position in in_main.written
            if message := role_fault(main.tensors[position].name, is_output, is_read, is_written):
                help_ = (
                    'use two parameters; for external functions, declare what they do: "reads", "writes"; or list the'
                )
                help_ += ' "outputs" of the program, which may be read, too'
                raise self._fault("T255", message, ("functions", self._record.main, "params", position), help_)
        outputs = in_main.written if declared is None else declared
        parameters = range(main.parameters)
        inputs = tuple(position for position in parameters if position not in outputs)
        ported = replace(main, inputs=inputs, outputs=tuple(position for position in parameters if position in outputs))
        return replace(model, subgraphs=(ported, *model.subgraphs[1:]))

    def _declared_outputs(self, main: Subgraph) -> set[int] | None:
        """Return the parameters of main that the program lists as outputs; None if it lists none."""
        if self._record.outputs is None:
            return None
        numbers = {main.tensors[position].name: position for position in range(main.parameters)}
        for position, name in enumerate(self._record.outputs):
            if name not in numbers:
                help_ = suggestion(name, numbers, "parameters are")
                raise self._fault("T263", f"main has no parameter {quoted(name)}", ("outputs", position), help_)
        return {numbers[name] for name in self._record.outputs}

    def _recursion(self, cycle: list[int], readers: list[FunctionReader]) -> ModelError:
        """Return the error for a cycle of calls, which goes from callee to caller."""
        reader, callee = readers[cycle[1]], cycle[0]
        place = next(place for call, place in reader.calls if call.function == callee)
        message = f"{quoted(reader.name)} calls {quoted(readers[callee].name)}, which leads back to it"
        return reader.fault("T243", message, (*place, "fn"), "unfold the recursion: memory is planned for one call")

    def _fault(self, code: str, message: str, place: Place, help_: str) -> ModelError:
        return ModelError(Diagnostic(code, message, Paths(self._source).span((*self._at, *place)), help_))


def _misfit(reader: FunctionReader, callee: Subgraph, message: str, place: Place) -> ModelError:
    help_ = "parameters are the bytes of arguments: as many as there are, and not larger"
    return reader.fault("T252", f"{quoted(callee.name)} cannot be called like this: {message}", place, help_)
