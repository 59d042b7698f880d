"""Options are fields; values come from TOML."""

from __future__ import annotations  # which makes texts of what options have as types

from dataclasses import dataclass, field
from typing import Any, Literal, Optional

import pytest

from usmp_build.planner.options import options_of


@dataclass(frozen=True)
class Algorithm:
    number: int = 1
    share: float = 0.5
    name: str = "x"
    flag: bool = False
    choice: Literal["a", "b", 3] = "a"
    limit: int | None = None
    other: Optional[str] = None  # noqa: UP045
    several: tuple[int, ...] = ()
    anything: object = None
    table: dict[str, int] = field(default_factory=dict)
    mixed: bytes | int | None = None
    derived: int = field(init=False, default=0)


OPTIONS = options_of(Algorithm)


def test_what_is_set_by_the_algorithm_is_no_option() -> None:
    assert set(OPTIONS) == {name for name in Algorithm.__dataclass_fields__ if name != "derived"}


@pytest.mark.parametrize(
    ("name", "value", "fitted"),
    [
        ("number", 7, 7),
        ("share", 0.1, 0.1),
        ("share", 2, 2.0),
        ("name", "y", "y"),
        ("flag", True, True),
        ("choice", "b", "b"),
        ("choice", 3, 3),
        ("limit", 5, 5),
        ("other", "z", "z"),
        ("several", [1, 2], (1, 2)),
        ("anything", [1], [1]),
        ("table", {"a": 1}, {"a": 1}),
        ("mixed", "unchecked", "unchecked"),
    ],
)
def test_what_fits(name: str, value: object, fitted: object) -> None:
    got = OPTIONS[name].fitted(value)
    assert (got, type(got)) == (fitted, type(fitted))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("number", 1.0, "a whole number"),
        ("number", True, "a whole number"),
        ("number", "1", "a whole number"),
        ("share", "1", "a number"),
        ("share", False, "a number"),
        ("name", 1, "text"),
        ("flag", 1, "true or false"),
        ("flag", "true", "true or false"),
        ("choice", "c", '"a" or "b" or 3'),
        ("choice", 3.0, '"a" or "b" or 3'),
        ("limit", "5", "a whole number"),
        ("other", 5, "text"),
        ("several", 1, "a list"),
        ("table", [], "a table"),
    ],
)
def test_what_does_not(name: str, value: object, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        OPTIONS[name].fitted(value)
    assert str(caught.value) == words


def test_annotations_that_cannot_be_read() -> None:
    @dataclass(frozen=True)
    class Odd:
        seed: Unknown  # type: ignore[name-defined]  # noqa: F821
        effort: Unknown = 3  # type: ignore[name-defined]  # noqa: F821

    options = options_of(Odd)
    assert options["effort"].fitted(4) == 4
    with pytest.raises(TypeError):
        options["effort"].fitted("4")
    assert options["seed"].fitted("anything") == "anything"


@pytest.mark.parametrize("other", [int, len, None, lambda _: None])
def test_whatever_is_no_dataclass_has_no_options(other: Any) -> None:
    assert options_of(other) == {}
