"""Plan all models of a manifest and write C, headers, linker fragment and build files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import usmp_build
from usmp_build import pipeline, writer
from usmp_build.cli.common import manifest_arguments, read_request
from usmp_build.cli.table import extern_functions


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument("--out", default="generated", metavar="FOLDER", help="where to write (default: generated)")
    parser.add_argument(
        "--diff", action="store_true", help="write nothing; show what would change, and exit 4 if it would"
    )
    parser.add_argument(
        "--depfile",
        metavar="FILE",
        help="also write a Make rule with all that was read: manifest, models, usmp_build itself",
    )
    parser.add_argument("--depfile-target", metavar="TARGET", help="the target of that rule (default: plan.json)")


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    request, files = read_request(parsed)
    planned = pipeline.plan(request, files)
    bundle = pipeline.emit(pipeline.lay_out(planned))
    if parsed.diff:
        changes = list(writer.differences(bundle, parsed.out))
        print("".join(changes), end="")
        return 4 if changes else 0
    changed = writer.write(bundle, parsed.out)
    if parsed.depfile:
        target = parsed.depfile_target or str(Path(parsed.out) / "plan.json")
        writer.write_text(parsed.depfile, writer.depfile(target, [*files.seen, *_own_files()]))
    print(
        f"{len(bundle.files)} files in {parsed.out}, {len(changed)} of them changed",
        *extern_functions(planned.summary),
        sep="\n",
    )
    return 0


def _own_files() -> Iterator[str]:
    """Yield our own code, templates and kernels: another version of them generates other files."""
    for path in sorted(Path(usmp_build.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".j2", ".c", ".h"):
            yield path.as_posix()
