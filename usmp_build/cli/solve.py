"""Solve a memory problem (CSV or JSON): which buffer goes where, and whether that is the best there is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from usmp_build.cli.problem_file import capacity, capacity_argument, read_statement
from usmp_build.cli.progress import Progress
from usmp_build.cli.table import columns
from usmp_build.document.suggest import listed, quoted
from usmp_build.errors import Diagnostic, DoesNotFit, ManifestError, UsageError
from usmp_build.output import writer
from usmp_build.planner import by_name, library
from usmp_build.planner.memory.plan import quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.problems.csv_write import offsets_csv
from usmp_build.planner.problems.solution_write import solution_json
from usmp_build.planner.problems.statement import Statement
from usmp_build.units import count_bytes, show_bytes

_WORK = ("work", "nodes", "rounds")
"""Names of the option that bounds an algorithm's search; the first that an algorithm has counts."""
_OF_THE_COMMAND = {
    "algorithm": "say --algorithm NAME",
    "capacity": "say --capacity BYTES",
    "minimize": "say --capacity BYTES: then any plan that fits will do, unless --minimize asks for the lowest peaks",
}
"""Options of algorithms that --option does not set, because the command has them itself."""
_FEW_POOLS = 3
"""Most pools that a message names."""
_MEANING = {
    Status.OPTIMAL: "no plan is better",
    Status.FEASIBLE: "whether there is a better plan is not known",
    Status.INFEASIBLE: "there is no plan, and that is proven",
    Status.UNKNOWN: "no plan was found; whether one exists is not proven",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("problem", help="a problem: CSV (id,lower,upper,size and more) or JSON")
    capacity_argument(parser)
    parser.add_argument("--minimize", action="store_true", help="find the lowest peak even with --capacity")
    parser.add_argument("--algorithm", default="auto", metavar="NAME", help="the algorithm (default: auto)")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the algorithm")
    parser.add_argument("--work", type=int, metavar="N", help="bound of the search, in units of the algorithm")
    parser.add_argument("--json", action="store_true", help="print the solution with its proofs, as JSON")
    parser.add_argument("--out", metavar="FILE", help="write offsets (.csv), or the solution with its proofs (.json)")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    room, options = capacity(parsed), _options(parsed)
    if parsed.out and not parsed.out.endswith((".csv", ".json")):
        message = f"--out {quoted(parsed.out)} is neither CSV nor JSON"
        raise UsageError(Diagnostic("U212", message, help="let its name end in .csv (offsets) or .json (with proofs)"))
    if parsed.out and _is_same(parsed.out, parsed.problem):
        message = f"--out {quoted(parsed.out)} is the problem itself"
        raise UsageError(Diagnostic("U212", message, help="write to another file: the problem would be lost"))
    with Progress(parsed) as progress:
        progress(f"reading {parsed.problem}")
        statement = read_statement(parsed.problem)
        solution = _solve(parsed, statement, room, options, progress)
    _write(parsed.out, statement, solution, room)
    if parsed.json:
        print(solution_json(statement, solution, room), end="")
    else:
        print("\n".join(_shown(statement, solution, room)))
    if solution.plan is None:
        raise DoesNotFit(_shortage(parsed.problem, statement, solution))
    return 0


def _solve(
    parsed: argparse.Namespace,
    statement: Statement,
    room: int | None,
    options: dict[str, object],
    progress: library.Progress,
) -> Solution:
    lowest = parsed.minimize or room is None
    try:
        return library.solve(
            statement.problem, parsed.algorithm, capacity=room, minimize=lowest, progress=progress, **options
        )
    except ManifestError as error:  # an algorithm or an option that does not exist
        raise UsageError(*error.diagnostics) from None


def _is_same(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except OSError:
        return False


def _options(parsed: argparse.Namespace) -> dict[str, object]:
    options: dict[str, object] = {}
    for option in parsed.option:
        key, equals, value = option.partition("=")
        if key in _OF_THE_COMMAND:
            message = f"--option {quoted(option)} is not for the algorithm, but for the command"
            raise UsageError(Diagnostic("U210", message, help=_OF_THE_COMMAND[key]))
        if key in ("problem", "progress"):
            message = f"there is no option {quoted(key)}"
            raise UsageError(Diagnostic("U210", message, help=_options_help(parsed.algorithm)))
        if not key.isidentifier() or not equals:
            message = f"--option {quoted(option)} is not KEY=VALUE"
            raise UsageError(Diagnostic("U210", message, help="for example: --option rounds=1000"))
        options[key] = _value(value)
    if parsed.work is not None:
        available = by_name.options_by_name(parsed.algorithm)
        name = next((name for name in _WORK if name in available), "")
        if not name or parsed.work < 0:
            message = f"--work {parsed.work} cannot bound the search of {quoted(parsed.algorithm)}"
            raise UsageError(Diagnostic("U210", message, help=_options_help(parsed.algorithm)))
        options[name] = parsed.work
    return options


def _options_help(algorithm: str) -> str:
    names = [name for name in by_name.options_by_name(algorithm) if name not in _OF_THE_COMMAND]
    return f"the options of {algorithm} are: {listed(names) or 'none'}"


def _value(text: str) -> object:
    """Read a value: a whole number, another number, true or false, or else a text."""
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text[:64])
        except ValueError:
            continue
    return text


def _write(out: str | None, statement: Statement, solution: Solution, room: int | None) -> None:
    """Write the output files; offsets only if there is a plan."""
    if out and out.endswith(".json"):
        writer.write_text(out, solution_json(statement, solution, room))
    elif out and solution.plan is not None:
        writer.write_text(out, offsets_csv(statement, solution.plan))


def _shown(statement: Statement, solution: Solution, room: int | None) -> Iterator[str]:
    """Yield a table of the plan, and what is proven of it."""
    if solution.plan is not None:
        limits = [room if pool.limit is None else pool.limit for pool in statement.pools]
        figures = zip(statement.pools, solution.peaks, limits, solution.bounds, solution.gaps, strict=True)
        rows = [(p.name, *map(_bytes, (peak, limit, bound, gap))) for p, peak, limit, bound, gap in figures]
        yield from columns(("pool", "peak", "limit", "bound", "gap"), rows, "<>>>>")
        yield ""
        yield from _reasons(statement, solution)
        yield from _costs(statement, solution)
    yield f"{solution.status.value}: {_MEANING[solution.status]}"
    work = f", work {solution.work:,}" if solution.work else ""
    if solution.algorithm:
        yield f"{'verified plan by' if solution.plan else 'algorithm:'} {solution.algorithm}{work}"


def _reasons(statement: Statement, solution: Solution) -> Iterator[str]:
    for pool, seen, claim in zip(statement.pools, solution.witnesses, solution.claims, strict=True):
        if claim > seen.bytes:
            yield f"{pool.name}: a search through all plans found that {_are(claim)} needed"
        elif seen.bytes:
            when = "in conflict with each other" if seen.step is None else f"alive at step {show_bytes(seen.step)}"
            count = f"{len(seen.buffers):,} {'buffer' if len(seen.buffers) == 1 else 'buffers'}"
            yield f"{pool.name}: {_are(seen.bytes)} needed by {count} {when}"


def _costs(statement: Statement, solution: Solution) -> Iterator[str]:
    """Yield what the places of buffers with several pools cost, and what the bounds of these pools do not say."""
    problem, plan = statement.problem, solution.plan
    if plan is None or not isinstance(problem, Problem) or all(len(buffer.pools) == 1 for buffer in problem.buffers):
        return
    cost = quality(problem, plan)[0]
    least = plan.bound[0] if plan.bound else sum(buffer.least_cost for buffer in problem.buffers)
    if cost:
        yield f"cost: {cost:,}; " + ("no plan costs less" if cost <= least else f"every plan costs {least:,} at least")
    if solution.status is Status.FEASIBLE:
        yield "bounds are those of the buffers that this plan puts into each pool; another plan may put others there"


def _are(size: int) -> str:
    """For example "1 byte is", "5,632 bytes are"."""
    return f"{count_bytes(size)} {'is' if size == 1 else 'are'}"


def _bytes(size: int | None) -> str:
    return "-" if size is None else show_bytes(size)


def _shortage(file: str, statement: Statement, solution: Solution) -> Diagnostic:
    """Return the message for a shortage: what is too small, by how much, and whether it is proven."""
    short = solution.shortage
    if short.proven and not short.pools:
        message = "the buffers do not fit, as a search through all plans found"
        return Diagnostic("P502", message, file, "enlarge a pool, let buffers use other pools, or fix fewer offsets")
    if not short.pools:
        help_ = "try another algorithm, more --work, or more capacity"
        return Diagnostic("P502", f"no plan was found by {solution.algorithm}", file, help_)
    several = len(short.pools) > 1
    names = _named([statement.pools[pool].name for pool in short.pools])
    pools = f"pools {names} together" if several else f"pool {names}"
    if not short.proven:
        message = f"no plan was found: the best takes {count_bytes(short.missing)} more of {pools} than there are"
        help_ = "a better one may exist: try another algorithm, or more --work"
        return Diagnostic("P502", f"{message}, {show_bytes(short.room)}", file, help_)
    verb, larger = ("are", "one of the pools") if several else ("is", "the pool")
    message = f"the buffers do not fit: {pools} ({count_bytes(short.room)}) {verb} {count_bytes(short.missing)}"
    help_ = f"no plan needs less: enlarge {larger}, or let some of these buffers use other pools"
    return Diagnostic("P502", f"{message} too small, {_proof(statement, solution)}", file, help_)


def _named(pools: list[str]) -> str:
    """Name pools, and not endlessly many."""
    names = [quoted(name) for name in pools]
    if len(names) > _FEW_POOLS + 1:
        names = [", ".join(names[:_FEW_POOLS]), f"{len(names) - _FEW_POOLS:,} more"]
    return " and ".join(names)


def _proof(statement: Statement, solution: Solution) -> str:
    seen = solution.shortage.witness
    if solution.claim:
        return "as a search through all plans found"
    when = "for what does not fit side by side" if seen.step is None else f"at step {show_bytes(seen.step)}"
    return f"{when}: {listed(statement.names[index] for index in seen.buffers)}"
