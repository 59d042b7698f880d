"""An algorithm of another package: whatever goes wrong in it is told as an error with its name, not as ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from traceback import extract_tb
from typing import NoReturn

from usmp_build.errors import CheckFailed, Diagnostic, Span, UsmpError
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem


@dataclass(frozen=True)
class Foreign:
    """Makes an algorithm of its options, and calls it.  Raises CheckFailed when either fails."""

    title: str
    """What messages call it."""
    place: Span | str
    """Where it is asked for."""
    make: Callable[..., Algorithm]
    options: Mapping[str, object]
    algorithm: Algorithm = field(init=False)

    def __post_init__(self) -> None:
        try:
            made = self.make(**self.options)
        except (Exception, SystemExit) as error:
            self._fail(error)
        object.__setattr__(self, "algorithm", made)

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Ask it, about a copy of the problem: what it changes is not what its plan is checked against."""
        try:
            return self.algorithm(replace(problem, separations=dict(problem.separations)))
        except (Exception, SystemExit) as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, UsmpError):
            raise error
        said = str(error).strip().partition("\n")[0]
        what = type(error).__name__ + (f": {said}" if said else "")
        frame = extract_tb(error.__traceback__)[-1]
        message = f"{self.title} failed: {what} ({PurePath(frame.filename).name}, line {frame.lineno})"
        help_ = "choose another algorithm or other options, and report this to whoever made it"
        raise CheckFailed(Diagnostic("P407", message, self.place, help_)) from error
