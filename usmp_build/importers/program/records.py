"""What is written in a program's file.  The classes here are its published schema.

A record holds the statements within it as they are in the file: each is validated when it is its turn, so that
neither depth nor number of statements is a matter of recursion.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticKnownError

from usmp_build.units import MAX_BYTES

_LONGEST_NAME = 1024
_MOST_DIMENSIONS = 16

Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Count = Annotated[int, Field(ge=0, le=MAX_BYTES)]
# JSON makes lists, and what cannot be changed are tuples: hence `strict=False`, which concerns nothing else.
Names = Annotated[tuple[Name, ...], Field(strict=False)]
Extents = Annotated[tuple[Count | Name, ...], Field(strict=False, max_length=_MOST_DIMENSIONS)]
Separators = Annotated[tuple[Count, ...] | None, Field(strict=False, max_length=_MOST_DIMENSIONS)]
Body: TypeAlias = list[Any]
Kind: TypeAlias = Literal["serial", "unrolled", "parallel", "vectorized", "thread_binding"]  # as in LoopKind


class Record(BaseModel):
    """What all records of programs have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


def _number(value: object) -> object:
    """Refuse what equals 1 without being it: true, 1.0."""
    if type(value) is not int:
        raise PydanticKnownError("literal_error", {"expected": "1"})
    return value


class ParameterRecord(Record):
    """A parameter of a function: the bytes of whatever it is called with."""

    name: Name
    buffer: Name | None = None
    """Another name of the same parameter."""
    dtype: Name | None = None
    """Of its elements, in lower case, as in `alloc`; left out: whatever the argument has."""
    extents: Extents | None = None
    """Its shape; needed for the parameters of main when they are to be planned (`io = "pool"`)."""
    bytes: Count | None = None
    """Its size; agrees with `dtype` and `extents`."""
    axis_separators: Separators = None
    """As in `alloc`."""
    scope: str = "global"
    """Of a parameter of main, as in `alloc`; others are where their arguments are."""


class AllocRecord(Record):
    """A tensor that exists within `body`, and holds nothing when that begins."""

    op: Literal["alloc"]
    var: Name
    dtype: Name
    """Of its elements: int8, uint8, int16, int32, float32, bool, ..."""
    extents: Extents
    """Its shape.  A text is a size that is known only when the program runs; `upper_bounds` limits it."""
    bytes: Count | None = None
    """Its size; agrees with `dtype` and `extents`."""
    axis_separators: Separators = None
    """Axes before which its shape is cut, in memory of pages."""
    scope: str = "global"
    """The memory that its compiler chose: "", "global" and "global.workspace" are any, "global.*" the pools that
    `place` of the manifest names; others are these, too, or else left to the function's compiler."""
    on_demand: bool = False
    """Whether the application's allocator provides it when the program runs, for its size is unknown before."""
    body: Body


class AllocConstRecord(Record):
    """A constant that is known within `body`."""

    op: Literal["alloc_const"]
    var: Name
    dtype: Name
    extents: Extents
    bytes: Count | None = None
    """Its size; agrees with `dtype` and `extents`."""
    data: str | None = None
    """Its bytes, in hexadecimal digits or base64; left out: unlike all others, and unknown."""
    body: Body


class ForRecord(Record):
    """A loop."""

    op: Literal["for"]
    kind: Kind = "serial"
    """How rounds relate: one after the other (serial, unrolled), or at the same time (the others)."""
    extent: Count | Name | None = None
    """Rounds; a text, null, or left out: known only when it runs, perhaps 0."""
    workers: Annotated[int, Field(ge=1, le=MAX_BYTES)] | None = None
    """Rounds that run at the same time; null, or left out: all of them."""
    body: Body


class IfRecord(Record):
    """A branch."""

    op: Literal["if"]
    condition: Name
    """A buffer of truth values or integers: `then` runs if its first element is not 0, else `else`."""
    then: Body
    else_: Annotated[Body, Field(alias="else")] = []


class StoreRecord(Record):
    """Reads some buffers, then writes to one."""

    op: Literal["store"]
    buf: Name
    reads: Names = ()
    elementwise: Names = ()
    """Those of `reads` that it goes through as through `buf`: elements in ascending order, each read only before the
    element of `buf` with the same number is written.  `buf` may then lie on one that nothing reads later."""
    whole: bool = False
    """Whether all of `buf` is written; else the rest stays as it was."""


class CallRecord(Record):
    """Calls a function; one that the program does not have reads and writes all its arguments."""

    op: Literal["call"]
    fn: Name
    args: Annotated[tuple[Name | None, ...], Field(strict=False)] = ()
    """Buffers; null: something else, a constant of the compiler's for example."""
    touches: Names = ()
    """Buffers that are read and written in part before the call, or by it, without being arguments."""
    reads: Names | None = None
    """The only buffers that a function from outside reads; null, or left out: all arguments."""
    writes: Names | None = None
    """The only buffers that a function from outside writes to, in part; null, or left out: all arguments."""


class AttrRecord(Record):
    """Says something of its body that does not matter here."""

    op: Literal["attr"]
    body: Body


class FunctionRecord(Record):
    """A function."""

    params: Annotated[tuple[ParameterRecord, ...], Field(strict=False)] = ()
    body: Body


class ProgramRecord(Record):
    """A program: functions that call each other, but never themselves."""

    version: Annotated[Literal[1], BeforeValidator(_number)] = 1
    """Of this format."""
    main: Name
    """The function that runs.  Without `outputs`, its parameters are inputs if only read, outputs if only written."""
    functions: dict[Name, FunctionRecord]
    outputs: Names | None = None
    """The parameters of main that are outputs, which may be read, too; all others are inputs."""
    upper_bounds: dict[Name, Count] = {}
    """What extents given as text are at the most."""


StatementRecord: TypeAlias = (
    AllocRecord | AllocConstRecord | ForRecord | IfRecord | StoreRecord | CallRecord | AttrRecord
)

STATEMENTS: dict[str, type[StatementRecord]] = {
    "alloc": AllocRecord,
    "alloc_const": AllocConstRecord,
    "attr": AttrRecord,
    "call": CallRecord,
    "for": ForRecord,
    "if": IfRecord,
    "store": StoreRecord,
}
"""By `op`."""


def program_schema() -> str:
    """Return the JSON schema of programs."""
    parts: dict[str, Any] = {}
    for record in (ProgramRecord, *STATEMENTS.values()):
        schema = record.model_json_schema()
        parts |= schema.pop("$defs", {}) | {record.__name__: schema}
    for part in parts.values():
        for body in {"body", "then", "else"} & part["properties"].keys():
            part["properties"][body]["items"] = {"$ref": "#/$defs/Statement"}
    parts["Statement"] = {"oneOf": [{"$ref": f"#/$defs/{record.__name__}"} for record in STATEMENTS.values()]}
    program = {"$ref": "#/$defs/ProgramRecord"}
    within = {"type": "object", "properties": {"program": program}, "required": ["program"]}
    whole = {"$defs": parts, "anyOf": [program, within], "title": "Program"}
    return json.dumps(whole, indent=2, sort_keys=True) + "\n"
