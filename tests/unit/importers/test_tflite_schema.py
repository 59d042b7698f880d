"""Our tables against those of the `tflite` package: slots, widths and defaults."""

from dataclasses import fields

import pytest
import tflite

from tests.support.flatbuffer import Node, write
from usmp_build.importers.tflite import enums, schema
from usmp_build.importers.tflite.flatbuffer import Record, decode
from usmp_build.ir.graph import SHARING
from usmp_build.operators.table import OPERATORS

SPELLING = {
    "activation": "FusedActivationFunction",
    "cond_subgraph": "CondSubgraphIndex",
    "body_subgraph": "BodySubgraphIndex",
    "then_subgraph": "ThenSubgraphIndex",
    "else_subgraph": "ElseSubgraphIndex",
    "dilation_h": "DilationHFactor",
    "dilation_w": "DilationWFactor",
    "filter_h": "FilterHeight",
    "filter_w": "FilterWidth",
    "shuffled_weights": "WeightsFormat",
}
UNION = {number: name for name, number in vars(tflite.BuiltinOptions).items()}
TABLES = sorted({UNION[tag]: schema.options_table(stored) for tag, stored in schema.OPTIONS.values()}.items())
"""Names of the package, and our tables for them."""


def their_name(table: str, field: str) -> str:
    if table == "CallOnceOptions":
        return "InitSubgraphIndex"
    return SPELLING.get(field) or "".join(word.capitalize() for word in field.split("_"))


def test_enumerations_are_those_of_the_package() -> None:
    theirs = (tflite.BuiltinOperator, tflite.BuiltinOptions, tflite.TensorType)
    for ours, their in zip((enums.OPERATORS, enums.OPTIONS, enums.TYPES), theirs, strict=True):
        numbers = {name: number for name, number in vars(their).items() if not name.startswith("_")}
        assert dict(list({name: number for number, name in enumerate(ours)}.items())[: len(numbers)]) == numbers


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_options_are_where_the_package_has_them(name: str, table: type[Record]) -> None:
    for field in fields(table):
        value = type(field.default)(True)
        record = decode(table, write(Node(name, **{their_name(name, field.name): value})))
        assert getattr(record, field.name) == value != field.default or field.name.startswith("dilation")
        others = [f for f in fields(table) if f is not field]
        assert all(getattr(record, other.name) == other.default for other in others)


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_options_have_the_defaults_of_the_package(name: str, table: type[Record]) -> None:
    empty = getattr(tflite, name).GetRootAs(write(Node(name)))
    assert table() == decode(table, write(Node(name)))
    for field in fields(table):
        value = getattr(empty, their_name(name, field.name))()
        assert ("" if value is None else value) == field.default


def test_the_same_kinds_have_options() -> None:
    """But for those that passes make, which no file can hold."""
    kinds = {kind.name for kind in OPERATORS.values() if kind.options}
    kinds = {kind for kind in kinds if not kind.startswith("CUSTOM:")}
    ours = kinds & {*SHARING, "LOOKUP"}
    assert schema.OPTIONS.keys() == kinds - ours <= vars(tflite.BuiltinOperator).keys()
    assert ours.isdisjoint(vars(tflite.BuiltinOperator))
