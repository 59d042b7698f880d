"""Frozen dataclasses behave as those of the standard library do, but for assignments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import pytest

from usmp_build.frozen import frozen


@frozen
class Span:
    """Two numbers, and a note that is neither compared nor shown."""

    begin: int
    end: int = 4
    note: str = field(default="", compare=False, repr=False)

    @cached_property
    def length(self) -> int:
        """Computed once."""
        return self.end - self.begin


@frozen
class Nothing:
    """Has no field."""


@frozen
class Parity:
    """Says itself what is equal, and how it is shown."""

    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parity) and (self.number - other.number) % 2 == 0

    def __hash__(self) -> int:
        return self.number % 2

    def __repr__(self) -> str:
        return "odd" if self.number % 2 else "even"


@dataclass(frozen=True)
class Other:
    """Has the fields of a span."""

    begin: int
    end: int = 4


def test_fields_that_compare_make_equal() -> None:
    assert Span(1) == Span(1, 4, "a note")
    assert hash(Span(1)) == hash(Span(1, 4, "a note"))
    assert Span(1) != Span(2)
    assert Span(1) != Other(1)
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_a_class_keeps_its_own_methods() -> None:
    assert Parity(1) == Parity(3)
    assert len({Parity(1), Parity(3), Parity(2)}) == 2
    assert repr(Parity(2)) == "even"


def test_it_shows_its_fields() -> None:
    assert repr(Span(1, 4, "a note")) == "Span(begin=1, end=4)"
    assert repr(Nothing()) == "Nothing()"


def test_it_is_a_dataclass_with_slots() -> None:
    assert replace(Span(1), end=9) == Span(1, 9)
    assert Span(1).length == 3
    assert not hasattr(Nothing(), "__dict__")
    with pytest.raises(AttributeError):
        Nothing().anything = 1  # type: ignore[attr-defined]
