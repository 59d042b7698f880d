"""The command line: verbs, exit codes, and the only `print` of the project.

Results go to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import usmp_build
from usmp_build.cli.argument_files import with_files
from usmp_build.cli.progress import progress_arguments
from usmp_build.cli.surroundings import check_folder, package_missing
from usmp_build.document.suggest import closest, quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError, UsmpError
from usmp_build.installation import bazel_dir, cmake_dir

_VERBS = (
    "init", "ops", "plan", "generate", "watch", "report", "inspect", "explain", "selftest", "check", "diff",
    "export", "solve", "verify", "plugins", "schema", "outputs", "doctor", "demo",
)  # fmt: skip
"""Each verb is a module, which is imported only when needed, as builds start the tool often."""

_FOLDERS = {
    "--cmake-dir": (cmake_dir, "folder for find_package(usmp_build)"),
    "--bazel-dir": (bazel_dir, "folder that is a Bazel repository"),
}
_ALONE = ("--version", *_FOLDERS)
"""Options that need no verb."""

_QUOTING = "--from-tvmc"
"""An option whose value is a command line, so that it begins like an option."""

_EXIT_CODES = """\
@FILE stands for the arguments in a file, one a line.
exit codes: 0 done · 1 manifest, model or problem is wrong · 2 usage · 3 does not fit · 4 a check failed ·
5 internal error"""

_DEBUG = "--debug"
_INTERRUPTED = 130
"""The exit code that shells expect after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except UsmpError as error:
        return _report(error)
    except BrokenPipeError:  # the reader had enough: `usmp-build inspect ... | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        missing = package_missing(error)
        if missing is not None:
            return _report(UsageError(missing))
        if _DEBUG in given:
            traceback.print_exception(error)
        from usmp_build.cli.faults import as_error  # only now: what it imports may be missing

        return _report(as_error(error))


def _run(arguments: Sequence[str]) -> int:
    check_folder()
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    given = _with_values(with_files(arguments))
    if not given:
        _parser(_VERBS).print_help(sys.stderr)
        return UsageError.exit_code
    _check_verb(given[0])
    parsed, unknown = _parser(_needed(given)).parse_known_args(given)
    if unknown and getattr(parsed, "manifest", None) == [] and not any(word.startswith("-") for word in unknown):
        parsed.manifest, unknown = unknown, []  # argparse has ended the list of them before an option
    if unknown:
        raise UsageError(_unknown(given[0], unknown[0], parsed.options()))
    code: int = parsed.run(parsed)
    sys.stdout.flush()
    return code


def _complete() -> None:
    """Answer the shell, which asks how a command line may go on, and exit."""
    from argcomplete import autocomplete  # only now: of the extra "completion"

    words = os.environ.get("COMP_LINE", "").split()[1:]
    autocomplete(_parser(_needed(words)))


def _report(error: UsmpError) -> int:
    print(*error.diagnostics, sep="\n", file=sys.stderr)
    return error.exit_code


def _check_verb(first: str) -> None:
    """Raise UsageError when the command line does not begin with a verb."""
    if first.startswith("-") or first in _VERBS:
        return
    is_file = first.endswith(".toml") or Path(first).is_file()
    help_ = f"to plan it: usmp-build plan {first}" if is_file else suggestion(first, _VERBS, "verbs")
    raise UsageError(Diagnostic("U265", f"there is no verb {quoted(first)}", help=help_))


def _unknown(verb: str, word: str, options_help: str) -> Diagnostic:
    """Return the error for an argument that a verb does not take, with the options that may be meant."""
    options = list(dict.fromkeys(re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", options_help)))
    name = word.partition("=")[0].lstrip("-")
    meant = [option for option in options if option.startswith(name)] or [each for each in options if name in each]
    meant = meant or list(filter(None, [closest(name, options)]))
    hint = f"did you mean --{' or --'.join(meant)}? " if word.startswith("-") and name and meant else ""
    what = "option" if word.startswith("-") else "further argument"
    help_ = f"{hint}usmp-build {verb} takes --{', --'.join(options)}"
    return Diagnostic("U287", f"{verb} takes no {what} {quoted(word)}", help=help_)


def _needed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the verbs whose options are needed to parse these arguments."""
    if arguments[:1] and arguments[0] in _ALONE:
        return ()
    return arguments[:1] if arguments[:1] and arguments[0] in _VERBS else _VERBS


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser for these verbs."""
    parser = argparse.ArgumentParser(
        prog="usmp-build", description=usmp_build.__doc__, epilog=_EXIT_CODES, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"usmp_build {usmp_build.__version__}")
    for option, (folder, use) in _FOLDERS.items():
        parser.add_argument(option, action=_PrintFolder, nargs=0, const=folder, help=f"print the {use} and exit")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name in names:
        verb = import_module(f"usmp_build.cli.{name}")
        summary = (verb.__doc__ or "").partition("\n")[0]
        sub = verbs.add_parser(name, help=summary, description=verb.__doc__, allow_abbrev=False)
        verb.arguments(sub)
        progress_arguments(sub)
        sub.add_argument(_DEBUG, action="store_true", help="show the traceback of an internal error")
        sub.set_defaults(run=verb.run, options=sub.format_help)
    return parser


def _with_values(arguments: Sequence[str]) -> list[str]:
    """Write `--from-tvmc '--x=y'` with an equals sign: argparse would take the value for an option of ours."""
    given = list(arguments)
    if _QUOTING in given[:-1]:
        at = given.index(_QUOTING)
        given[at : at + 2] = [f"{_QUOTING}={given[at + 1]}"]
    return given


class _PrintFolder(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self.const().as_posix())
        parser.exit()
