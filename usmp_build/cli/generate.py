"""Plan all models of a manifest and write C, headers, linker fragment and build files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from usmp_build.cli.expected import check_expected, expectation_arguments
from usmp_build.cli.generated_folder import overrides_for
from usmp_build.cli.generator_files import generator_files
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_manifest
from usmp_build.cli.table import extern_functions, pool_lines
from usmp_build.errors import CheckFailed, Diagnostic, printable
from usmp_build.files import Files
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.resolve import resolve
from usmp_build.output import staleness, writer
from usmp_build.output.bundle import Bundle
from usmp_build.output.provenance import foreign_files
from usmp_build.report.over_budget import over_budget
from usmp_build.request import Isa


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    expectation_arguments(parser)
    parser.add_argument("--out", default="generated", metavar="FOLDER", help="where to write (default: generated)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--diff", action="store_true", help="write nothing; show what would change, and exit 4 if it would"
    )
    either.add_argument("--prune", action="store_true", help="also delete the files that an earlier plan left there")
    parser.add_argument(
        "--depfile",
        metavar="FILE",
        help="also write a Make rule that lists all files read: manifest, models, usmp_build itself, plug-ins",
    )
    parser.add_argument("--depfile-target", metavar="TARGET", help="the target of that rule (default: plan.json)")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    generate(parsed, *read_manifest(parsed))
    return 0


def generate(parsed: argparse.Namespace, manifest: Manifest, files: Files) -> None:
    """Plan, and write or compare the files.  Raises UsmpError where that cannot be done."""
    from usmp_build import pipeline  # only now: help and completion do without it
    from usmp_build.report.lost_values import lost_values

    check_expected(manifest, parsed)
    overrides = overrides_for(parsed, manifest, parsed.out if parsed.diff else None)
    with Progress(parsed) as progress:
        progress("planning")
        planned = pipeline.plan(resolve(manifest, overrides), files, progress.step)
        progress("generating")
        bundle = pipeline.emit(pipeline.lay_out(planned))
        changed = () if parsed.diff else writer.write(bundle, parsed.out)
    if parsed.diff:
        _compare(bundle, parsed.out, "" if parsed.isa or overrides.isa is Isa.PORTABLE else overrides.isa.value)
        return
    deleted = writer.remove(parsed.out, staleness.leftovers(bundle, parsed.out)) if parsed.prune else ()
    if parsed.depfile:
        target = parsed.depfile_target or str(Path(parsed.out) / "plan.json")
        writer.write_text(parsed.depfile, writer.depfile(target, [*files.seen, *generator_files()]))
    if parsed.quiet:
        return
    print(
        f"{len(bundle.files)} files in {parsed.out}, {len(changed)} of them changed",
        *(f"{printable(name)} is deleted: an earlier plan left it" for name in deleted),
        *(pool_lines(planned.summary) if "plan.json" in changed else ()),
        *extern_functions(planned.summary),
        sep="\n",
    )
    for lost in lost_values(planned.request.models, planned.imported):
        print(lost, file=sys.stderr)
    for sentence in over_budget(planned.summary, None):
        print(f"warning: {sentence}", file=sys.stderr)


def _compare(bundle: Bundle, folder: str, isa: str) -> None:
    """Print what is stale in a folder.  Raises CheckFailed when anything is.

    `isa`: the instructions that the folder itself says it was planned for, and that writing it has to be told.
    """
    differences = list(staleness.differences(bundle, folder))
    print("".join(difference.text for difference in differences), end="")
    for name in staleness.other_sources(bundle, folder):
        print(f"note: {printable(name)} was not generated: a build of *.c would compile it", file=sys.stderr)
    if not differences:
        print(f"{folder} is up to date")
        return
    counts = ((kind, sum(difference.kind == kind for difference in differences)) for kind in staleness.KINDS)
    what = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    option = isa and f"--isa {isa} and "
    ways_out = [f"run the same command with {option}--prune instead of --diff, and check the folder in"]
    if any(difference.line_ends_only for difference in differences):
        name = Path(folder).resolve().name
        ways_out.append(f"for files that differ in line ends only, write {name}/** -text in .gitattributes beside it")
    stale = Diagnostic("U241", f'"{folder}" is stale: of its files, {what}', help="; ".join(ways_out))
    foreign = foreign_files(bundle, folder)
    raise CheckFailed(stale, *([writer.not_ours(foreign, folder)] if foreign else []))
