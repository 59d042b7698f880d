"""The command line: verbs, exit codes, and the only `print` of the project.

Results go to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import atexit
import gc
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
from usmp_build.document.suggest import closest, quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError, UsmpError
from usmp_build.installation import bazel_dir, cmake_dir

VERBS = {
    "init": "Write a commented starter manifest for one or more models.",
    "ops": "Say whether each operator of the models runs here, and if not, why and what to do; plans nothing.",
    "plan": "Plan all models of a manifest and show the plan.",
    "generate": "Plan all models of a manifest and write C, headers, linker fragment and build files.",
    "watch": "Generate, and again whenever the manifest or a model changes, until Ctrl-C.",
    "report": "Write a plan as one HTML page, which needs no network and no script; or a pool of it as SVG.",
    "inspect": "Print the result of one compiler stage, as text or JSON.",
    "explain": "Explain where a tensor is placed, when it is live, and why; or what an error code means.",
    "selftest": "Build the generated code for this machine and compare tensors with TensorFlow Lite Micro's or TVM's.",
    "check": "Check a linked image, and its map file, against the plan; exit 4 if a pool is not as planned.",
    "diff": "Compare two plans (plan.json): what grew, shrank, moved, came and went.",
    "export": "Write models for another runtime, with our memory plan in them: TensorFlow Lite Micro.",
    "solve": "Solve a memory problem (CSV or JSON): which buffer goes where, and whether that is the best there is.",
    "verify": "Verify a plan of a memory problem by code that shares nothing with the planner; exit 4 if it is wrong.",
    "plugins": "List algorithms, importers, kernel libraries and emitters, and which package brings each.",
    "schema": "Print a JSON schema, or the manual page of the manifest, as in schemas/ and docs/.",
    "outputs": "List the files that `generate` would write, without planning: for build systems.",
    "doctor": "Say which tools this machine has, of those that usmp_build can use, and what needs the missing ones.",
    "demo": "Plan two models into shared pools, build them with CMake for this machine, and let them read real digits.",
}
"""Each verb is a module, imported when it runs or says how it is used; and what it does, as in its docstring."""

_FOLDERS = {
    "--cmake-dir": (cmake_dir, "folder for find_package(usmp_build)"),
    "--bazel-dir": (bazel_dir, "folder that is a Bazel repository"),
}
_QUOTING = "--from-tvmc"
"""An option whose value is a command line, so that it begins like an option."""

_EXIT_CODES = """\
@FILE stands for the arguments in a file, one a line; explain CODE says what an error means, such as error[P502].
exit codes: 0 done · 1 manifest, model or problem is wrong · 2 usage · 3 does not fit · 4 a check failed ·
5 internal error · 6 not compared (selftest --strict)"""

_DEBUG = "--debug"
_NEW_OBJECTS = 200_000
"""How many make Python look for garbage: most of what a verb loads and plans lives until it ends."""
_INTERRUPTED = 130
"""The exit code that shells expect after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # else Python searches all objects for garbage again while it ends
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
        _parser(None).print_help(sys.stderr)
        return UsageError.exit_code
    _check_verb(given[0])
    parsed, unknown = _parser(_verb(given)).parse_known_args(given)
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
    autocomplete(_parser(_verb(words)))


def _report(error: UsmpError) -> int:
    print(*error.diagnostics, sep="\n", file=sys.stderr)
    return error.exit_code


def _check_verb(first: str) -> None:
    """Raise UsageError when the command line does not begin with a verb."""
    if first.startswith("-") or first in VERBS:
        return
    is_file = first.endswith(".toml") or Path(first).is_file()
    help_ = f"to plan it: usmp-build plan {first}" if is_file else suggestion(first, VERBS, "verbs")
    raise UsageError(Diagnostic("U265", f"there is no verb {quoted(first)}", help=help_))


def _verb(arguments: Sequence[str]) -> str | None:
    """Return the verb of a command line, of which alone the module is imported; None for --version, --help and such."""
    return next((word for word in arguments if word in VERBS), None)


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


def _parser(verb: str | None) -> argparse.ArgumentParser:
    """Return a parser for all verbs, which knows the options of one."""
    parser = argparse.ArgumentParser(
        prog="usmp-build", description=usmp_build.__doc__, epilog=_EXIT_CODES, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"usmp_build {usmp_build.__version__}")
    for option, (folder, use) in _FOLDERS.items():
        parser.add_argument(option, action=_PrintFolder, nargs=0, const=folder, help=f"print the {use} and exit")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        sub = verbs.add_parser(name, help=summary, allow_abbrev=False)
        if name == verb:
            _declare(sub, name)
    return parser


def _declare(parser: argparse.ArgumentParser, verb: str) -> None:
    module = import_module(f"usmp_build.cli.{verb}")
    parser.description = module.__doc__
    module.arguments(parser)
    progress_arguments(parser)
    parser.add_argument(_DEBUG, action="store_true", help="show the traceback of an internal error")
    parser.set_defaults(run=module.run, options=parser.format_help)


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


_PACKAGE = Path(usmp_build.__file__).resolve().parent
_COMPLETER = "argcomplete"
"""The only package that this process may want and the wheel does not require."""


def check_folder() -> None:
    """Raise UsageError in an archive: templates and kernels are read as files."""
    if not _PACKAGE.is_dir():
        message = f"{_PACKAGE} is in an archive, and cannot run from there"
        raise UsageError(Diagnostic("U243", message, help="unpack it into a folder, or install it with pip"))


def package_missing(error: Exception) -> Diagnostic | None:
    """Return how to install a missing package; None if it is a part of this one, or nothing is missing."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name in ("", "usmp_build"):
        return None
    lock = _PACKAGE.parent / "bazel" / "requirements.lock"
    what = f'--require-hashes -r "{lock}"' if lock.is_file() else "usmp_build"
    what = name if name == _COMPLETER else what
    message = f'the Python package "{name}" is missing, which usmp_build needs'
    return Diagnostic("U244", message, help=f'run: "{sys.executable}" -m pip install {what}')
