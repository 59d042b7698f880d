"""Describes one call of a kernel for the template: its arguments, and where the rows of its loop begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import starmap
from typing import TypeAlias

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import KernelCall, Operand, Pieces, Reduce, Rows, Scratch, Value, Whole
from usmp_build.interfaces.row_jobs import goes_forward
from usmp_build.ir.c_types import float_literal, int_literal
from usmp_build.layout.code import CallCode, LoopCode
from usmp_build.layout.rows import RowOffsets

Index: TypeAlias = tuple[tuple[str, int], ...]
"""The index of a row: a sum of counters, each times a factor."""


@frozen
class Parameter:
    """A pointer that a step's function takes: to the data, or to a table of its rows."""

    c_type: str
    """The type of a pointer to the data: `const int8_t *`."""
    name: str
    argument: str
    row: int = 0
    """Elements of a row where the pointer is to a table of rows; else 0."""
    offsets: RowOffsets | None = None
    """The offsets of rows where the pointer is to the pool that they are in, or to an array of pools."""

    @property
    def declaration(self) -> str:
        """The declaration in C."""
        if self.offsets:
            return f"uint8_t *{'const *' if self.offsets.is_in_several else ''}{self.name}"
        return f"{self.c_type}{'const *' if self.row else ''}{self.name}"

    def at(self, index: Index, pitch: int, base: str = "") -> str:
        """Return where row `index` of a loop begins, whose rows have `pitch` elements; `base` stands for row 0.

        A row of the table holds one of these, or several.
        """
        if self.offsets:
            cast = "" if "int8_t" in self.c_type else f"({'const ' * self.c_type.startswith('const')}void *)"
            number, within = _divided(index, self.offsets.elements // pitch, pitch)
            return f"({self.c_type.rstrip()}){cast}({self.offsets.at(self.name, number)}){within}"
        if self.row:
            number, within = _divided(index, self.row // pitch, pitch)
            return f"{self.name}[{number}]{within}"
        if not index:
            return base or self.name
        if len(index) == 1:
            counter, factor = index[0]
            return f"{base or self.name} + {_times(counter, factor * pitch)}"
        return f"{base or self.name} + {_times(f'({_sum(index)})', pitch)}"


def _divided(index: Index, each: int, pitch: int) -> tuple[str, str]:
    """Return the row of a table that has row `index` of a loop among its `each`, and what leads to that from there."""
    number = _sum(index)
    if each == 1 or not index:
        return number, ""
    number = f"({number})" if " " in number else number
    return f"{number} / {each}", f" + {_times(f'{number} % {each}', pitch)}"


def _times(counter: str, factor: int) -> str:
    return counter if factor == 1 else f"{counter} * {factor}"


def _sum(index: Index) -> str:
    return " + ".join(_times(counter, factor) for counter, factor in index) or "0"


def _term(counter: str, count: int, factor: int = 1) -> Index:
    """Return what a counter adds to the index of a row; empty where it is always 0."""
    return ((counter, factor),) if count > 1 else ()


def call_code(
    call: KernelCall, prefix: str, parameters: Mapping[Operand, Parameter], expression: Callable[[Operand], str]
) -> CallCode:
    """Return the code of a call; `expression` returns where an operand is.  Names begin with `prefix`."""
    function = f"{prefix}_{call.function}"
    struct = f"{prefix}_{call.parameters.struct}" if call.parameters else ""
    values = call.parameters.fields if call.parameters else ()
    fields = tuple((name, _initializer(value)) for name, value in values)
    match call.form:
        case Whole():
            return CallCode("whole", function, struct, fields, tuple(map(expression, call.operands)))
        case Pieces(count, pitches):
            pieces = tuple(
                parameters[operand].at(_term("y", count), pitch) if pitch else expression(operand)
                for operand, pitch in zip(call.operands, pitches, strict=True)
            )
            form = "pieces" if count > 1 else "whole"
            return CallCode(form, function, struct, fields, pieces, LoopCode(rows=count, backward=call.backward))
    first, *others, last = call.operands
    source, result = parameters[first], parameters[last]
    arguments = tuple(map(expression, others))
    if isinstance(call.form, Reduce):
        loop, read, written = _reduced(call, call.form, source, result)
        code = CallCode("reduce", function, struct, fields, arguments, loop, read, written)
        return _with_scratch(code, call.form, [isinstance(each, Scratch) for each in others])
    loop, read, written = _streamed(call, call.form, source, result)
    if call.form.numbered:
        arguments = ("y" if call.form.rows > 1 else "0", *arguments)
    streamed_type = "const void *" if call.form.untyped else source.c_type
    return CallCode("rows", function, struct, fields, arguments, loop, read, written, streamed_type)


def of_one_row(code: CallCode, call: KernelCall) -> CallCode:
    """Return the code of a call for row `y` only: without the loop over rows."""
    if code.form == "reduce":
        return replace(code, form="reduce_row", loop=replace(code.loop, backward=not goes_forward(call)))
    return replace(code, form="whole" if code.form == "pieces" else code.form, loop=replace(code.loop, rows=1))


def _with_scratch(code: CallCode, form: Reduce, is_scratch: list[bool]) -> CallCode:
    """Share out the arguments of a reduction: all parts get the scratch, a row those before it, the finish the rest."""
    at = is_scratch.index(True) if True in is_scratch else 0
    number = ("y" if form.rows > 1 else "0",) if form.numbered else ()
    before, scratch, after = code.arguments[:at], code.arguments[at : at + 1], code.arguments[at + 1 :]
    return replace(code, arguments=(*number, *before, *scratch), begin=scratch, finish=(*scratch, *after))


def _reduced(call: KernelCall, form: Reduce, source: Parameter, result: Parameter) -> tuple[LoopCode, str, str]:
    """Return the loop, the row that it reads, and the result of an image."""
    image = _term(_times("n", form.rows), form.images)
    read = source.at((*image, *_term("y", form.rows)), form.input_row_elements)
    written = result.at(_term("n", form.images), form.output_row_elements)
    return LoopCode(form.images, form.rows, backward=call.backward), read, written


def _streamed(call: KernelCall, form: Rows, source: Parameter, result: Parameter) -> tuple[LoopCode, str, str]:
    """Return the loop, the input row at `k` of the window, and the output row."""
    source_opening, source_base, source_image = _image(
        source, "image", form.images, form.input_rows, form.input_row_elements
    )
    result_opening, result_base, result_image = _image(
        result, "result", form.images, form.rows, form.output_row_elements
    )
    row, is_inside, index = _window(form)
    loop = LoopCode(
        form.images, form.rows, (*source_opening, *result_opening), form.window, row, is_inside, call.backward
    )
    read = source.at((*source_image, *index), form.input_row_elements, source_base)
    return loop, read, result.at((*result_image, *_term("y", form.rows)), form.output_row_elements, result_base)


def _image(parameter: Parameter, name: str, images: int, rows: int, pitch: int) -> tuple[tuple[str, ...], str, Index]:
    """Return how image `n` begins: plain memory has a pointer to each, a table numbers the rows of all images."""
    if images == 1:
        return (), "", ()
    if parameter.row:
        return (), "", _term(_times("n", rows), images)
    return (f"{parameter.c_type}const {name} = {parameter.name} + n * {rows * pitch};",), name, ()


def _window(form: Rows) -> tuple[str, str, Index]:
    """Return the number of an input row and the condition that the image has it, in C, and the index of that row.

    Without padding, no condition is needed: number and condition are empty.
    """
    first = _term("y", form.rows, form.stride)
    if form.repeat > 1:
        place = _times("y", form.stride)
        place = f"({place} + {form.phase})" if form.phase else place
        first = _term(f"{place} / {form.repeat}", form.rows)
    index = (*first, *_term("k", form.window, form.dilation))
    end = form.first_row(form.rows - 1) + (form.window - 1) * form.dilation + 1
    conditions = ["row >= 0"] * (form.before > 0) + [f"row < {form.input_rows}"] * (end > form.input_rows)
    if not conditions:
        return "", "", index
    terms = [*starmap(_times, index)] or ["0"]
    terms[0] += f" - {form.before}" if form.before else ""
    return " + ".join(terms), " && ".join(conditions), (("row", 1),)


def _initializer(value: Value) -> str:
    if isinstance(value, tuple):
        return f"{{{', '.join(map(_initializer, value))}}}"
    return float_literal(value) if isinstance(value, float) else int_literal(value)
