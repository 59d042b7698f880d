"""Algorithms of other packages: their failures are theirs."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.problems import buffer, by_hand, problem
from usmp_build.errors import CheckFailed, Diagnostic, ManifestError
from usmp_build.planner.by_name import Foreign
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem

STATED = problem([buffer("a", 8), buffer("b", 8)], separations={("a", "b"): 4})


def foreign(call: Callable[[Problem], Plan | None]) -> Foreign:
    return Foreign('algorithm "x" of y 1.0', "usmp.toml", lambda: call, {})


def raising(error: BaseException) -> Callable[[Problem], Plan | None]:
    def call(_: Problem) -> Plan | None:
        raise error

    return call


def test_its_plan_is_passed_on() -> None:
    assert foreign(lambda _: by_hand(0, 4))(STATED) == by_hand(0, 4)
    assert foreign(lambda _: None)(STATED) is None


def test_it_may_spoil_only_its_own_copy() -> None:
    def meddle(stated: Problem) -> Plan | None:
        stated.separations.clear()  # type: ignore[attr-defined]
        return by_hand(0, 8)

    foreign(meddle)(STATED)
    assert STATED.separations == {(0, 1): 4}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no\nmore"), "ValueError: no (test_foreign.py, line "),
        (ValueError(), "ValueError (test_foreign.py, line "),
        (RecursionError("too deep"), "RecursionError: too deep (test_foreign.py, line "),
        (SystemExit(3), "SystemExit: 3 (test_foreign.py, line "),
    ],
)
def test_its_failure_is_told_in_one_line(error: BaseException, message: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        foreign(raising(error))(STATED)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P407"
    assert diagnostic.message.startswith(f'algorithm "x" of y 1.0 failed: {message}')
    assert diagnostic.place == "usmp.toml"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("make", [dict, lambda: 1 // 0])
def test_a_failing_constructor_is_reported(make: Callable[[], Any]) -> None:
    with pytest.raises(CheckFailed, match="P407"):
        Foreign("it", "", make, {})(STATED)


def test_what_it_says_itself_and_interrupts_go_through() -> None:
    with pytest.raises(ManifestError):
        foreign(raising(ManifestError(Diagnostic("X001", "mine"))))(STATED)
    with pytest.raises(KeyboardInterrupt):
        foreign(raising(KeyboardInterrupt()))(STATED)
