"""The command: measure models, print tables.

    python -m benchmarks models/*.tflite --out benchmarks/data/benchmarks

Run it from the project's root.  What cannot be measured for want of a tool is "-", and a note says which.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from benchmarks import draw, tables
from benchmarks.facts import facts
from benchmarks.measure import Measured, compare, compare_nets, measure, measure_together


def main(arguments: list[str]) -> int:
    """Do it."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    for name in {name for names in parsed.together for name in names} - {path.stem for path in parsed.models}:
        parser.error(f'--together: no model is called "{name}"')
    rows = []
    for path in parsed.models:
        print(f"measuring {path.name} ...", file=sys.stderr)
        rows.append(measure(path, parsed.runs))
    compared = [*map(compare, parsed.compare), *(compare_nets() if parsed.nets else ())]
    parts = tables.parts(rows, _plans(parsed, rows), compared)
    print("\n\n".join(text for text in parts.values() if text))
    if parsed.out:
        notes = parts.pop("notes")
        draw.save(parsed.out, parts, facts(_command(parsed), parsed.machine, parsed.runs, notes))
    return 0


def _plans(parsed: argparse.Namespace, rows: list[Measured]) -> list[Measured]:
    """Plan the groups that were asked for, and all models; those that are refused alone are left out."""
    planned = [path for path, row in zip(parsed.models, rows, strict=True) if "workspace" in row.figures]
    groups = [tuple(path for path in planned if path.stem in names) for names in parsed.together]
    return [measure_together(group) for group in dict.fromkeys([*groups, tuple(planned)]) if len(group) > 1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What our C costs, measured.")
    parser.add_argument("models", nargs="+", type=_file, metavar="MODEL.tflite")
    parser.add_argument(
        "--together", action="append", default=[], type=_names, metavar="NAME,NAME...",
        help="show these models in one plan, too; one of all models is shown anyway",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="+", default=[], type=_file, metavar="MODEL.tflite",
        help="compare these with CMSIS-NN only, on the M4",
    )  # fmt: skip
    parser.add_argument("--nets", action="store_true", help="and nets with the layers of published ones")
    parser.add_argument("--out", type=_new_folder, metavar="FOLDER", help="write CSV files, too")
    parser.add_argument("--runs", type=_count, default=100, metavar="N", help="runs on this machine (default: 100)")
    parser.add_argument(
        "--machine", default=_machine(), help="what the page says of this machine (default: %(default)s)"
    )
    return parser


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f'there is no file "{text}"')
    return Path(text)


def _new_folder(text: str) -> Path:
    if not Path(text).parent.is_dir():
        raise argparse.ArgumentTypeError(f'there is no folder for "{text}"')
    return Path(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from 1 on')
    return int(text)


def _names(text: str) -> list[str]:
    return text.split(",")


def _machine() -> str:
    return f"{os.cpu_count()} cores of a {platform.machine()} machine"


def _command(parsed: argparse.Namespace) -> str:
    """Return the command as it was given, without folders of models: those of this machine have no place on a page."""
    words = [
        *(path.name for path in parsed.models),
        *(word for names in parsed.together for word in ("--together", ",".join(names))),
        *(["--compare", *(path.name for path in parsed.compare)] if parsed.compare else []),
        *(["--nets"] if parsed.nets else []),
        "--runs",
        str(parsed.runs),
        "--machine",
        f'"{parsed.machine}"',
        "--out",
        os.path.relpath(parsed.out),
    ]
    return " ".join(["python", "-m", "benchmarks", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
