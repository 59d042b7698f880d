"""The command line: verbs, exit codes, and the only `print` of the project.

Results go to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import usmp_build
from usmp_build.cli import (
    demo,
    diff,
    explain,
    generate,
    init,
    inspect,
    outputs,
    places,
    plan,
    plugins,
    schema,
    selftest,
    solve,
    verify,
)
from usmp_build.errors import UsmpError

_VERBS = (init, plan, generate, inspect, explain, selftest, diff, solve, verify, plugins, schema, outputs, demo)

_EXIT_CODES = """\
exit codes: 0 done · 1 manifest, model or problem is wrong · 2 usage · 3 does not fit · 4 a check failed"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except UsmpError as error:
        print(*error.diagnostics, sep="\n", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader had enough: `usmp-build inspect ... | head`
        sys.stderr.close()
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="usmp-build", description=usmp_build.__doc__, epilog=_EXIT_CODES, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"usmp_build {usmp_build.__version__}")
    parser.add_argument(
        "--cmake-dir", action=_PrintCMakeDir, nargs=0, help="print the folder for find_package(usmp_build) and exit"
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        name = verb.__name__.rpartition(".")[2]
        summary = (verb.__doc__ or "").partition("\n")[0]
        sub = verbs.add_parser(name, help=summary, description=verb.__doc__, allow_abbrev=False)
        verb.arguments(sub)
        sub.set_defaults(run=verb.run)
    return parser


class _PrintCMakeDir(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(places.cmake_dir().as_posix())
        parser.exit()
