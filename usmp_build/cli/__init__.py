"""The command line: verbs, exit codes, and the only `print` of the project.

Results go to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

import usmp_build
from usmp_build.cli.places import cmake_dir
from usmp_build.errors import UsmpError

_VERBS = (
    "init", "plan", "generate", "inspect", "explain", "selftest", "check", "diff",
    "solve", "verify", "plugins", "schema", "outputs", "demo",
)  # fmt: skip
"""Each is a module, which is imported when it is asked for: builds call us often."""

_QUOTING = "--from-tvmc"
"""An option whose value is a command line, so that it begins like an option."""

_EXIT_CODES = """\
exit codes: 0 done · 1 manifest, model or problem is wrong · 2 usage · 3 does not fit · 4 a check failed"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    given = _with_values(sys.argv[1:] if arguments is None else arguments)
    parsed = _parser(given[:1] if given[:1] and given[0] in _VERBS else _VERBS).parse_args(given)
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


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that knows these verbs."""
    parser = argparse.ArgumentParser(
        prog="usmp-build", description=usmp_build.__doc__, epilog=_EXIT_CODES, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"usmp_build {usmp_build.__version__}")
    parser.add_argument(
        "--cmake-dir", action=_PrintCMakeDir, nargs=0, help="print the folder for find_package(usmp_build) and exit"
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name in names:
        verb = import_module(f"usmp_build.cli.{name}")
        summary = (verb.__doc__ or "").partition("\n")[0]
        sub = verbs.add_parser(name, help=summary, description=verb.__doc__, allow_abbrev=False)
        verb.arguments(sub)
        sub.set_defaults(run=verb.run)
    return parser


def _with_values(arguments: Sequence[str]) -> list[str]:
    """Write `--from-tvmc '--x=y'` with an equals sign: argparse would take the value for an option of ours."""
    given = list(arguments)
    if _QUOTING in given[:-1]:
        at = given.index(_QUOTING)
        given[at : at + 2] = [f"{_QUOTING}={given[at + 1]}"]
    return given


class _PrintCMakeDir(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(cmake_dir().as_posix())
        parser.exit()
