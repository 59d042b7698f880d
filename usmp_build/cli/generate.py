"""Plan all models of a manifest and write C, headers, linker fragment and build files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

import usmp_build
from usmp_build.cli.generated_folder import overrides_for
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_manifest
from usmp_build.cli.table import extern_functions, pool_lines
from usmp_build.errors import CheckFailed, Diagnostic, ManifestError, printable
from usmp_build.files import Files
from usmp_build.manifest.clashes import pool_bytes
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.resolve import resolve
from usmp_build.output import staleness, writer
from usmp_build.output.bundle import Bundle
from usmp_build.output.provenance import foreign_files
from usmp_build.providers import installed
from usmp_build.report.remarks import over_budget
from usmp_build.request import Isa

_SUFFIXES = (".py", ".j2", ".c", ".h")
"""Suffixes of code, templates and kernels."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    _expectation_arguments(parser)
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

    _check_expected(manifest, parsed)
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
        writer.write_text(parsed.depfile, writer.depfile(target, [*files.seen, *_generator_files()]))
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


def _expectation_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options for names that are expected."""
    parser.add_argument(
        "--expect-project",
        metavar="NAME",
        help="fail if the project has another name, or unexpected bytes of pools",
    )
    parser.add_argument(
        "--expect-pool-bytes",
        action="append",
        default=[],
        metavar="POOL",
        help="fail unless exactly the pools of these options are constant pools of the application, as files",
    )


def _check_expected(manifest: Manifest, parsed: argparse.Namespace) -> None:
    project, pools = parsed.expect_project, parsed.expect_pool_bytes
    if project is None and not pools:
        return
    if wrong := [*_project(manifest, project), *_pool_bytes(manifest, pools)]:
        raise ManifestError(*wrong)


def _project(manifest: Manifest, expected: str | None) -> Iterator[Diagnostic]:
    name = manifest.project.name
    if expected not in (None, name):
        message = f'the project is called "{name}", but the build expects "{expected}"'
        help_ = f'let the build expect it (Bazel: project = "{name}"), or write name = "{expected}" in [project]'
        yield Diagnostic("U245", message, manifest.places.value("project", "name"), help_)


def _pool_bytes(manifest: Manifest, expected: Sequence[str]) -> Iterator[Diagnostic]:
    there = pool_bytes(manifest)
    names = ", ".join(f'"{name}"' for name in there)
    help_ = f"let the build expect those that exist (Bazel: pool_bytes = [{names}])"
    for name in there:
        if name not in expected:
            message = f'the bytes of pool "{name}" are files, which the build does not expect'
            yield Diagnostic("U246", message, manifest.places.key("pools", name), help_)
    for name in expected:
        if name not in there:
            message = f'the build expects the bytes of pool "{name}", which is no constant pool of the application'
            place = manifest.places.key("pools", name) if name in manifest.pools else manifest.places.document
            yield Diagnostic("U246", message, place, help_)


def _generator_files() -> Iterator[str]:
    from usmp_build.planner.algorithms import core  # only now, as above

    if library := core.library_path():
        yield Path(library).as_posix()
    for path in _below(Path(usmp_build.__file__).parent):
        yield path.as_posix()
    for path in sorted({path for entry in installed() for path in _plugin_files(entry)}):
        yield path.as_posix()


def _plugin_files(entry: EntryPoint) -> Iterator[Path]:
    """Yield the files of the package of a plug-in, and the one that names the plug-in."""
    for file in (entry.dist.files if entry.dist else None) or ():
        if file.name == "entry_points.txt":
            yield Path(str(file.locate()))
    spec = _package(entry.module)
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _below(Path(folder))
    if spec.has_location and spec.origin:
        yield Path(spec.origin)


def _package(module: str) -> ModuleSpec | None:
    """Return the outermost package that a module is in, and that is no namespace; nothing of it is imported."""
    names = module.split(".")
    for depth in range(1, len(names) + 1):
        spec = find_spec(".".join(names[:depth]))
        if spec is None or spec.origin:
            return spec
    return None


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)
