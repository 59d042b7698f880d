"""The kinds of values that the manifest's keys take, and what is wrong with other values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Discriminator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Tag
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function, no_info_before_validator_function

from usmp_build.document.suggest import plain, quoted, suggestion
from usmp_build.manifest.instructions import isa_help
from usmp_build.manifest.phrases import described
from usmp_build.naming import IDENTIFIER, LINKER_KEYWORDS, LINKER_SECTIONS, is_reserved
from usmp_build.request import REWRITES, Isa
from usmp_build.units import MAX_BYTES, is_power_of_two, parse_size, show_bytes

Item = TypeVar("Item")

LONGEST_NAME = 48
"""Characters; names become parts of identifiers and names of files."""
MOST_ALIGNMENT = 1 << 16
LONGEST_PLACE = 255
"""Characters of the name of a section or a region."""
MOST_PERCENT = 1_000
_PERCENT = re.compile("[0-9]{1,4} ?%")
_LONGEST_SIZE = 60
_SIZE_HELP = 'write a number of bytes, or for example "64 KiB"'


@dataclass(frozen=True, eq=False)
class Rule:
    """Metadata of a type: a check that pydantic runs, and what the JSON schema says instead of it."""

    check: Callable[[Any], object]
    schema: Mapping[str, object]
    before: bool = False
    """Whether the check comes before pydantic's own: it then sees values of any type."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        function = no_info_before_validator_function if self.before else no_info_after_validator_function
        return function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(self.schema)


def refused(code: str, message: str, help_: str, at: int | None = None) -> PydanticCustomError:
    """Make the error for a value; `{key}` in the message becomes the key, `at` is the element of a list that is wrong.

    Pydantic carries it, `explain` makes a diagnostic of it.
    """
    return PydanticCustomError("refused", "refused", {"code": code, "message": message, "help": help_, "at": at})


def name_problem(name: str) -> str:
    """Say why `name` cannot be a part of C identifiers, as a clause; empty when it can."""
    if not IDENTIFIER.fullmatch(name):
        return "is not a name: a letter, then letters, digits and underscores"
    if name.lower().startswith("usmp_"):
        return 'begins with "usmp_", as names of the generated code do'
    if is_reserved(name):
        return "means something in C, in C++ or in the headers that generated code includes"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    return ""


def text_rule(pattern: str, wanted: str, help_: str, tidy: Callable[[str], str] = str) -> Rule:
    """Make the rule for text that follows a pattern (of the regular expressions that Python and JavaScript share)."""
    expression = re.compile(pattern)

    def check(text: str) -> str:
        if not expression.fullmatch(text):
            raise refused("M115", f'"{{key}}" must be {wanted}, not {quoted(text)}', help_)
        return tidy(text)

    return Rule(check, {"type": "string", "pattern": f"^(?:{pattern})$"})


def _name(text: str) -> str:
    problem = name_problem(text)
    if problem:
        raise refused("M109", f"{quoted(text)} {problem}", "it becomes part of C identifiers; choose another name")
    return text


def _section(name: str) -> str:
    if name in LINKER_SECTIONS:
        message = f'"{{key}}" is "{name}", which the linker script already places, with other contents'
        free = f"{name}.pool" if name.startswith(".") else ".bss.pool"
        raise refused("M141", message, f'give the pool a section of its own, such as "{free}", or leave `section` out')
    return name


def _rewrite(name: str) -> str:
    if name not in REWRITES:
        raise refused("M122", f"there is no rewrite called {quoted(name)}", suggestion(name, REWRITES, "rewrites"))
    return name


def _size_rule(least: int) -> Rule:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise refused("M107", f'"{{key}}" must be a size, not {described(value)}', _SIZE_HELP)
        if isinstance(value, str) and len(value) > _LONGEST_SIZE:
            raise refused("M111", f'"{{key}}" must be a size, not {quoted(value)}', _SIZE_HELP)
        try:
            size = value if isinstance(value, int) else parse_size(value)
        except ValueError as error:
            reason, _, help_ = str(error).rpartition("; ")
            raise refused("M111", f'"{{key}}": {plain(reason, 120)}', help_) from None
        if not least <= size <= MAX_BYTES:
            limits = f"from {least} to {show_bytes(MAX_BYTES)} bytes"
            raise refused("M111", f'"{{key}}" must be {limits}, not {described(value)}', _SIZE_HELP)
        return size

    number = {"type": "integer", "minimum": least, "maximum": MAX_BYTES}
    text = {"type": "string", "pattern": r"^\s*(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)\s*([kKmMgG]([iI][bB])?|[bB])?\s*$"}
    return Rule(read, {"anyOf": [number, text]}, before=True)


def _percent(value: object) -> int:
    text = value if isinstance(value, str) else ""
    if not _PERCENT.fullmatch(text) or int(text.rstrip(" %")) > MOST_PERCENT:
        message = f'"{{key}}" must be a percentage from "0 %" to "{MOST_PERCENT} %", not {described(value)}'
        raise refused("M111", message, 'write a whole number and a percent sign: "10 %"')
    return int(text.rstrip(" %"))


def _instructions(value: object) -> object:
    if isinstance(value, str) and value not in [isa.value for isa in Isa]:
        message = f'"{{key}}" must be "portable", "scalar", "dsp" or "mve", not {quoted(value)}'
        raise refused("M108", message, isa_help(plain(value)))
    return value


def _alignment(value: int) -> int:
    if not is_power_of_two(value) or value > MOST_ALIGNMENT:
        message = f'"{{key}}" must be a power of two from 1 to {MOST_ALIGNMENT}, not {described(value)}'
        raise refused("M111", message, "16 suits most processors; a cache line or an MPU region may ask for more")
    return value


def _distinct(items: tuple[object, ...]) -> tuple[object, ...]:
    seen = set()
    for position, item in enumerate(items):
        if item in seen:
            raise refused("M113", f'"{{key}}" names {quoted(item)} twice', "remove one of the two", position)
        seen.add(item)
    return items


def _list_of(items: Mapping[str, object], least: int = 0) -> Rule:
    """The rule for lists that name nothing twice."""
    schema: dict[str, object] = {"type": "array", "items": items, "uniqueItems": True}
    return Rule(_distinct, schema | ({"minItems": least} if least else {}))


def _table_or_list(value: object) -> str:
    return "table" if isinstance(value, dict) else "list"


_TEXT = {"type": "string"}

Name = Annotated[str, Rule(_name, {"type": "string", "pattern": f"^{IDENTIFIER.pattern}$"})]
"""A name that the manifest gives to something."""
Reference: TypeAlias = str
"""A name that the manifest gives elsewhere; `references` sees whether it does."""

_REGION = text_rule(
    f"(?!(?:{'|'.join(sorted(LINKER_KEYWORDS))})$)[A-Za-z_][A-Za-z0-9_.]{{0,{LONGEST_PLACE - 1}}}",
    "the name of a region",
    "write it as MEMORY in the linker script does; keywords of the linker's language are not names",
)
_SECTION = text_rule(
    f"[A-Za-z0-9_.]{{1,{LONGEST_PLACE}}}",
    "the name of a section",
    f"use letters, digits, _ and ., {LONGEST_PLACE} at the most",
    _section,
)
_PATH = text_rule("[^\\x00-\\x1f\\x7f]+", "a path", "write the path of a file, relative to the manifest or absolute")
_DIGEST = text_rule("[0-9a-fA-F]{64}", "64 hexadecimal digits", "`sha256sum FILE` prints them", str.lower)
_PLUGIN = text_rule("[A-Za-z_][A-Za-z0-9_.-]*", "the name of a plug-in", "`usmp-build plugins` lists them")
_PATTERN = text_rule("[^\\x00-\\x1f\\x7f]+", "a pattern", "write a name, where * stands for anything")
_OPERAND_TEXT = "inputs|outputs|constants|scratch|(?:input|output) (?:0|[1-9][0-9]{0,3})"
_OPERAND = text_rule(
    _OPERAND_TEXT, "an operand", 'write "inputs", "outputs", "constants", "scratch", or one by position: "input 0"'
)
_PORT = text_rule(
    "[A-Za-z][A-Za-z0-9_]*[.][^\\x00-\\x1f\\x7f]+", '"model.tensor"', "write a model, a point, its input or output"
)

Region = Annotated[str, _REGION]
Section = Annotated[str, _SECTION]
Path = Annotated[str, _PATH]
Digest = Annotated[str, _DIGEST]
Plugin = Annotated[str, _PLUGIN]
Pattern = Annotated[str, _PATTERN]
Port = Annotated[str, _PORT]
Operand = Annotated[str, _OPERAND]

Rewrite = Annotated[str, Rule(_rewrite, {"type": "string", "pattern": f"^(?:{'|'.join(REWRITES)})$"})]
Switches: TypeAlias = Mapping[Rewrite, bool]
"""Rewrites, and whether each is done."""

Size = Annotated[int, _size_rule(1)]
SizeOrNothing = Annotated[int, _size_rule(0)]
Percent = Annotated[int, Rule(_percent, {"type": "string", "pattern": f"^{_PERCENT.pattern}$"}, before=True)]
Alignment = Annotated[int, Rule(_alignment, {"type": "integer", "enum": [1 << power for power in range(17)]})]
Positive = Annotated[int, Field(ge=1, le=MAX_BYTES)]
Count = Annotated[int, Field(ge=0, le=MAX_BYTES)]

# TOML makes lists, and what cannot be changed are tuples: hence `strict=False`, which concerns nothing else.
References = Annotated[tuple[Reference, ...], Field(strict=False, min_length=1), _list_of(_TEXT, 1)]
Group = Annotated[tuple[Reference, ...], Field(strict=False, min_length=2), _list_of(_TEXT, 2)]
Groups = Annotated[tuple[Group, ...], Field(strict=False)]
Operands = Annotated[tuple[Operand, ...], Field(strict=False, min_length=1), _list_of(_OPERAND.schema, 1)]
Counts = Annotated[tuple[Count, ...], Field(strict=False, min_length=1)]
Range = Annotated[tuple[Count, ...], Field(strict=False, min_length=2, max_length=2)]

_ISAS = {"type": "string", "enum": ["portable", "scalar", "dsp", "mve"]}
Instructions: TypeAlias = Annotated[
    Literal["portable", "scalar", "dsp", "mve"], Rule(_instructions, _ISAS, before=True)
]
Access: TypeAlias = Literal["rw", "ro"]
Attribute: TypeAlias = Literal["dma", "cacheable"]
Attributes = Annotated[
    tuple[Attribute, ...], Field(strict=False), _list_of({"type": "string", "enum": ["dma", "cacheable"]})
]
Reach = Annotated[
    Annotated[References, Tag("list")] | Annotated[Mapping[Reference, Access], Tag("table")],
    Discriminator(_table_or_list),
]
"""Targets, and how each reaches a pool."""
