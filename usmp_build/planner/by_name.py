"""Looks up algorithms by the names that manifests and commands use, and verifies their plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, replace
from pathlib import PurePath
from traceback import extract_tb
from types import MappingProxyType
from typing import NoReturn

from usmp_build.errors import CheckFailed, Diagnostic, ManifestError, Span, UsmpError
from usmp_build.frozen import frozen
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.options import Option, options_of
from usmp_build.providers import choose, providers

ALGORITHMS = {
    "auto": "usmp_build.planner.algorithms.auto:Auto",
    "exact": "usmp_build.planner.algorithms.exact:Exact",
    "greedy_by_conflicts": "usmp_build.planner.algorithms.greedy:GreedyByConflicts",
    "greedy_by_size": "usmp_build.planner.algorithms.greedy:GreedyBySize",
    "hill_climb": "usmp_build.planner.algorithms.hill_climb:HillClimb",
}

_NOWHERE: Mapping[str, Span] = MappingProxyType({})


def algorithm(
    name: str, options: Mapping[str, object], place: Span | str, option_places: Mapping[str, Span] = _NOWHERE
) -> Algorithm:
    """Return the algorithm that a manifest or command names, with its options set.

    `place` is where the name stands, `option_places` where options do.  Raises ManifestError for unknown algorithms and
    options, and for wrong values.  A ValueError of a built-in algorithm begins with the name of the option, in quotes.
    """
    provider = choose(providers("algorithms", ALGORITHMS), name, "algorithm", place)
    factory = provider.load()
    available = options_of(factory)
    chosen = {}
    for key, value in options.items():
        where = option_places.get(key, place)
        if key not in available:
            help_ = f"its options are: {', '.join(available)}" if available else "it has no options"
            raise ManifestError(Diagnostic("P402", f'algorithm "{name}" has no option "{key}"', where, help_))
        try:
            chosen[key] = available[key].fitted(value)
        except TypeError as error:
            message = f'option "{key}" of algorithm "{name}" should be {error}'
            default = "" if available[key].default is MISSING else f"its default is {available[key].default!r}"
            raise ManifestError(Diagnostic("P406", message, where, default)) from None
    if provider.distribution:
        return Foreign(title(name), place, factory, chosen)
    try:
        result: Algorithm = factory(**chosen)
    except ValueError as error:
        where = next((option_places.get(key, place) for key in chosen if str(error).startswith(f'"{key}"')), place)
        raise ManifestError(Diagnostic("P406", f'algorithm "{name}": {error}', where, "correct the value")) from None
    return result


def title(algorithm: str) -> str:
    """Return how messages call an algorithm: its name, and the package that provides it."""
    package = providers("algorithms", ALGORITHMS)[algorithm].distribution
    return f'algorithm "{algorithm}"' + (f" of {package}" if package else "")


def check(problem: Problem, plan: Plan, name: str, place: Span | str = "") -> None:
    """Raise CheckFailed if the plan of an algorithm is wrong; `place` is where the manifest names the algorithm."""
    if broken := violations(problem, plan):
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise wrong_plan(title(name), broken[0] + more, "choose another one, and report this", place)


def wrong_plan(title: str, reason: str, help_: str, place: Span | str = "") -> CheckFailed:
    """Return the error for a wrong plan of the algorithm that a message calls `title`."""
    return CheckFailed(Diagnostic("P501", f"{title} returned a wrong plan: {reason}", place, help_))


def options_by_name(algorithm: str) -> Mapping[str, Option]:
    """Return the options of an algorithm by name; empty when there is no such algorithm."""
    provider = providers("algorithms", ALGORITHMS).get(algorithm)
    return options_of(provider.load()) if provider is not None else {}


@frozen
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
