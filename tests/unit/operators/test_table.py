"""The table of operator kinds: each kind has a family, and rows do not contradict themselves."""

from dataclasses import fields

import pytest
import tflite

from usmp_build.ir.graph import SHARING
from usmp_build.kernels.reference import KERNELS
from usmp_build.operators import table
from usmp_build.operators.kind import Effect, Family, Int8Kernel, Known, OperatorKind
from usmp_build.operators.table import OPERATORS, traits

OURS = {"COPY", "LOOKUP", *SHARING}


def test_each_kind_comes_from_the_function_of_its_family() -> None:
    """That function asks for the traits that tell the family from others, and no other one accepts them."""
    for kind in OPERATORS.values():
        assert (kind.elementwise is not None) == (kind.family is Family.ELEMENTWISE)
        assert (kind.weights is not None) == (kind.family is Family.SUMMING)
        assert (kind.signature is None) == (kind.family is Family.PLANNED)
        assert not kind.only_shape or kind.family is Family.MOVER
        assert kind.is_pure or kind.family in {Family.STATEFUL, Family.PLANNED}
    assert {kind.family for kind in OPERATORS.values()} == set(Family)


def test_each_kind_is_in_one_family_and_one_of_tflites_or_ours() -> None:
    names = [kind.name for family in table._FAMILIES for kind in family.KINDS]
    assert len(names) == len(OPERATORS)
    custom = {name for name in OPERATORS if name.startswith("CUSTOM:")}
    assert OPERATORS.keys() - OURS - custom <= vars(tflite.BuiltinOperator).keys()
    assert OURS.isdisjoint(vars(tflite.BuiltinOperator))


def test_of_a_kind_that_is_not_there_nothing_is_known() -> None:
    unknown = traits("CUSTOM:mine")
    assert not unknown.is_pure
    assert not any(
        getattr(unknown, field.name) for field in fields(unknown) if field.name not in {"family", "name", "effect"}
    )


def test_kernels_are_of_kinds_with_a_form() -> None:
    """What kernels rely on is checked; variables are checked by the graph itself."""
    assert {name for name in KERNELS if OPERATORS[name].signature is None} == {"ASSIGN_VARIABLE", "READ_VARIABLE"}


def test_elementwise_kernels_of_int8_are_those_of_the_reference_library() -> None:
    kernels = {row.name: row.int8.kernel for row in OPERATORS.values() if row.int8}
    assert {
        name for name, kernel in kernels.items() if kernel is not Int8Kernel.NONE
    } == kernels.keys() & KERNELS.keys()


@pytest.mark.parametrize("row", OPERATORS.values(), ids=OPERATORS)
def test_traits_agree(row: OperatorKind) -> None:
    inputs = row.signature.inputs if row.signature else None
    if row.elementwise:
        assert row.keeps_axes
        assert row.elementwise.operands > 1 or not (row.elementwise.symmetric or row.elementwise.bounds)
    if row.only_shape:
        assert row.fold is not None
        assert row.fold.known is Known.BYTES
        assert row.within_inputs
    if row.fold:
        assert row.effect is not Effect.UNKNOWN
    if row.extended:
        assert row.options is not None
        assert "limits" in row.options.options.__dataclass_fields__
    if row.weights:
        assert inputs is not None
        assert inputs.names.split()[1] in {"filters", "weights"}
        assert list(row.arguments or ())[1] == "filter"
    if row.arguments and inputs:
        assert len(row.arguments) == len(inputs.names.split()) or row.name == "PAD"
