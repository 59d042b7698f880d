"""Operators of a .tflite file: kinds and options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.tflite import flexbuffer, schema
from usmp_build.importers.tflite.enums import OPERATORS
from usmp_build.importers.tflite.flatbuffer import Record
from usmp_build.ir.graph import Operator
from usmp_build.ir.labels import operator_label
from usmp_build.ir.options import KEY, SLOT, Call, If, Options, While
from usmp_build.operators.table import options_class

_LEFT_OUT = -1
_CUSTOM = "CUSTOM:"
_INT32 = 1 << 31


def operator_kinds(codes: Sequence[schema.OperatorCode]) -> tuple[str, ...]:
    """Return the kinds that the operator codes of a file stand for."""
    return tuple(_kind(code, f"operator code {index}") for index, code in enumerate(codes))


def read_operator(stored: schema.Operator, subgraph: int, index: int, kinds: Sequence[str]) -> Operator:
    """Return operator `index` of a subgraph; raise ModelError for what an `Operator` cannot say."""
    if stored.opcode_index >= len(kinds):
        label = operator_label(subgraph, index, "")
        message = f"{label} is of operator code {stored.opcode_index}, but the model has {len(kinds)}"
        raise ModelError(Diagnostic("T210", message))
    kind = kinds[stored.opcode_index]
    return Operator(
        kind=kind,
        inputs=tuple(None if tensor == _LEFT_OUT else tensor for tensor in stored.inputs),
        outputs=stored.outputs,
        options=_options_of(kind, stored, operator_label(subgraph, index, kind)),
        position=index,
    )


def _kind(code: schema.OperatorCode, label: str) -> str:
    """Return the name for a code.  Old files store it as a byte, newer ones also as a wider number."""
    number = max(code.builtin_code, code.deprecated_builtin_code)
    if number < 0:
        raise ModelError(Diagnostic("T211", f"{label} is {number}, which means no operator"))
    kind = OPERATORS[number] if number < len(OPERATORS) else f"BUILTIN_{number}"
    if kind != "CUSTOM":
        return kind
    if not code.custom_code:
        raise ModelError(Diagnostic("T211", f"{label} is a custom operator without a name"))
    return f"{_CUSTOM}{code.custom_code}"


def _options_of(kind: str, stored: schema.Operator, label: str) -> Options | None:
    if kind in schema.OPTIONS:
        return _options(kind, stored, label)
    custom = options_class(kind) if kind.startswith(_CUSTOM) else None
    return _custom(custom, bytes(stored.custom_options), label) if custom else None


def _custom(options: type[Options], data: bytes, label: str) -> Options:
    """Return the options of a custom operator, which are numbers under their names: there may be none if all may."""
    if not data and not any(option.metadata[KEY] for option in fields(options)):
        return options()
    try:
        numbers = flexbuffer.numbers(data)
    except ValueError as error:
        raise ModelError(Diagnostic("T214", f"{label}: its options cannot be read: {error}")) from None
    values: dict[str, Any] = {}
    for option in fields(options):
        default: Any = option.default
        number, wanted = numbers.get(option.name), type(default)
        if number is None:
            if option.metadata[KEY]:
                raise ModelError(Diagnostic("T214", f'{label} does not have the option "{option.name}"'))
        elif wanted is not float and (isinstance(number, float) or not -_INT32 <= number < _INT32):
            raise ModelError(Diagnostic("T214", f'{label} has the option "{option.name}" {number}, not a whole number'))
        else:
            values[option.name] = wanted(number)
    return options(**values)


def _options(kind: str, stored: schema.Operator, label: str) -> Options | None:
    """Return the options; where the file stores none they are the schema's, save for calls, which then mean nothing."""
    expected_type, where = schema.OPTIONS[kind]
    table = schema.options_table(where)
    if stored.options_type not in (0, expected_type):
        message = f"{label} has options of type {stored.options_type}, not {expected_type} ({table.__name__})"
        raise ModelError(Diagnostic("T212", message))
    options = options_class(kind)
    if options is None or (not stored.options and issubclass(options, (If, While, Call))):
        return None
    return _converted(stored.options[0] if stored.options else table(), options, label)


def _converted(record: Record, options: type[Options], label: str) -> Options:
    """Copy the fields of the same names.  The type of our default is what the number in the file stands for."""
    values = {}
    for option in fields(options):
        default: Any = option.default
        if SLOT not in option.metadata:
            continue  # only rewrites set it
        number = getattr(record, option.name, default)
        try:
            values[option.name] = type(default)(number)
        except ValueError:
            message = f"{label} has the {option.name} {number}, which does not exist"
            raise ModelError(Diagnostic("T213", message)) from None
    return options(**values)
