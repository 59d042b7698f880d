"""The command: solve published and made-up problems with everything there is, and print tables.

    python -m benchmarks.solver cases/*.csv --models models/*.tflite --sizes 10000 1000000

Run it from the project's root; OR-Tools takes part where it is installed.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import draw
from benchmarks.solver import cp_sat, figures, models, overlaps, pools, scale, tables
from benchmarks.solver.facts import facts
from benchmarks.solver.figures import Figures
from benchmarks.solver.growth import Point, plot
from benchmarks.solver.instances import Instance, family, published, tiling
from benchmarks.solver.tables import Fitted

_ALGORITHMS = ("greedy_by_size", "greedy_by_conflicts", "hill_climb", "auto")
_TILES = 400
_TILINGS = 6
_SEEDS = 3
_CHAINS = 10


def main(arguments: list[str]) -> int:
    """Do it."""
    parsed = _parser().parse_args(arguments)
    instances = [published(path) for path in parsed.problems]
    least = {instance: list(_least(instance, parsed)) for instance in instances}
    runs = [run for count in parsed.sizes for run in _runs(count)]
    parts = {
        "capacities": _capacities(instances, parsed),
        "families": _families(instances, parsed),
        "least": tables.least(least),
        "gaps": tables.gaps(least),
        "models": tables.models(map(models.measure, parsed.models)),
        "overlaps": tables.overlaps(_overlaps(parsed.overlaps)),
        "pools": tables.pools(_pools(instances, parsed)),
        "scale": tables.scale(runs),
    }
    print("\n\n".join(parts.values()))
    if parsed.out:
        command = shlex.join(["python", "-m", "benchmarks.solver", *map(_shown, arguments)])
        draw.save(parsed.out, parts, facts(command, parsed.machine, parsed.seconds))
        points = [Point(run.count, run.seconds, run.at_load) for run in runs]
        (parsed.out / "growth.svg").write_text(plot(points), "utf-8", newline="\n")
    return 0


def _capacities(instances: Sequence[Instance], parsed: argparse.Namespace) -> str:
    answers = {}
    for instance in instances:
        _say(f"{instance.name} within {instance.capacity:,} bytes")
        ours = figures.fit(instance, "exact", nodes=parsed.nodes)
        theirs = [cp_sat.fit(instance, parsed.seconds)] if cp_sat.is_there() else []
        search = figures.search_seconds(instance, parsed.nodes)
        answers[instance.name] = Fitted(instance, search, ours, theirs)
    return tables.capacities(answers)


def _families(instances: Sequence[Instance], parsed: argparse.Namespace) -> str:
    found = {"variants": family(instances), "tilings": [tiling(_TILES, 1 + seed) for seed in range(_TILINGS)]}
    results = {}
    for name, members in found.items():
        _say(name)
        results[name] = [figures.fit(instance, "exact", nodes=parsed.nodes) for instance in members]
    return tables.families(results, (0.3, 3, 10))


def _least(instance: Instance, parsed: argparse.Namespace) -> Iterator[Figures]:
    _say(f"the least capacity of {instance.name}")
    for algorithm in _ALGORITHMS:
        yield figures.least(instance, algorithm)
    yield figures.least(instance, "exact", nodes=parsed.nodes // 10)
    yield figures.least(instance, "exact", nodes=parsed.nodes)
    if cp_sat.is_there():
        yield cp_sat.least(instance, parsed.seconds)


def _pools(instances: Sequence[Instance], parsed: argparse.Namespace) -> Iterator[pools.Shared]:
    for instance in instances:
        _say(f"{instance.name} in two pools")
        yield from (pools.measure(instance, 1 + seed, parsed.nodes // 3) for seed in range(_SEEDS))


def _overlaps(counts: Sequence[int]) -> Iterator[tuple[str, Sequence[overlaps.Overlapped]]]:
    for name, problems in overlaps.family(counts, range(1, 1 + _CHAINS)).items() if counts else ():
        _say(name)
        yield name, [overlaps.measure(problem) for problem in problems]


def _runs(count: int) -> Iterator[scale.Run]:
    _say(f"{count:,} buffers")
    yield from (scale.measure(count, 1 + seed) for seed in range(_SEEDS))


def _say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr)


def _shown(argument: str) -> str:
    """Leave the folders of this machine out of the page."""
    return Path(argument).name if argument.endswith((".csv", ".tflite")) else argument


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver", description="What planners find, and when.")
    parser.add_argument("problems", nargs="*", type=Path, metavar="NAME.CAPACITY.csv", help="in MiniMalloc's columns")
    parser.add_argument("--models", nargs="*", default=[], type=Path, metavar="MODEL.tflite", help="plan these, too")
    parser.add_argument(
        "--sizes", nargs="*", default=[], type=int, metavar="N", help="plan random problems of so many buffers, too"
    )
    parser.add_argument(
        "--overlaps", nargs="*", default=[], type=int, metavar="N", help="plan chains and networks that overlap, too"
    )
    parser.add_argument(
        "--nodes", type=int, default=600_000, metavar="N", help="bound of the exact search (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=60, metavar="N", help="bound of CP-SAT's search (default: %(default)s)"
    )
    parser.add_argument("--machine", default="this machine", help="what the page says of this machine")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write CSV files, and a picture")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
