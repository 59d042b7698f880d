"""Wraps algorithms of other packages: their failures are reported under their name, not as ours."""

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
    """Creates an algorithm with its options, and calls it.  Raises CheckFailed when either fails."""

    title: str
    """Its name in messages."""
    place: Span | str
    """Where the manifest names it."""
    make: Callable[..., Algorithm]
    options: Mapping[str, object]
    algorithm: Algorithm = field(init=False)

    def __post_init__(self) -> None:
        try:
            algorithm = self.make(**self.options)
        except (Exception, SystemExit) as error:
            self._fail(error)
        object.__setattr__(self, "algorithm", algorithm)

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Run it on a copy of the problem, so that its plan is verified against the original."""
        try:
            return self.algorithm(replace(problem, separations=dict(problem.separations)))
        except (Exception, SystemExit) as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, UsmpError):
            raise error
        text = str(error).strip().partition("\n")[0]
        failure = type(error).__name__ + (f": {text}" if text else "")
        frame = extract_tb(error.__traceback__)[-1]
        message = f"{self.title} failed: {failure} ({PurePath(frame.filename).name}, line {frame.lineno})"
        help_ = "choose another algorithm or other options, and report this to its author"
        raise CheckFailed(Diagnostic("P407", message, self.place, help_)) from error
