"""The manifest on the command line, and overrides of what it says; planning is not needed to read them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.manifest.instructions import isa_help, isa_of
from usmp_build.manifest.overrides import NameList, Overrides
from usmp_build.request import Isa

MANIFEST = "usmp.toml"
"""The manifest that is read, and that `init` writes, when none is named."""

_LISTS = {
    "--workspace-pools": ("POOL", "pools for tensors of the model, most preferred first"),
    "--constant-pools": ("POOL", "pools for weights of the model, most preferred first"),
    "--concurrent": ("OTHER", "models that may run at the same time as the model, besides those of the manifest"),
}


def manifest_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the manifest, or models without one, the choice of its models, and overrides."""
    help_ = (
        f"the manifest (default: {MANIFEST}); or a generated folder, to plan as it was planned; "
        "or model files: planned as `init` would declare them"
    )
    parser.add_argument("manifest", nargs="*", metavar="MANIFEST", help=help_)
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME[=FILE]",
        help="plan only the models named by this option, from FILE where it is given (default: all of the manifest)",
    )
    for option, (what, help_) in _LISTS.items():
        parser.add_argument(option, action="append", default=[], metavar=f"NAME={what}[,{what}...]", help=help_)
    parser.add_argument(
        "--isa",
        metavar="ISA",
        help="instruction set for targets without `isa` in the manifest: portable (the default), scalar, dsp, mve, "
        "or the compiler's option for the processor: -mcpu=..., -march=...",
    )


def read_overrides(parsed: argparse.Namespace) -> Overrides:
    """Return the overrides of the command line; raise UsageError where they are incomplete or contradictory."""
    pairs = [item.partition("=") for item in parsed.model or ()]
    names = tuple(name for name, _, _ in pairs)
    if len(set(names)) < len(names):
        raise UsageError(Diagnostic("U201", "--model names a model twice", help="name each model once"))
    return Overrides(
        models=names or None,
        paths={name: str(Path(file).resolve()) for name, _, file in pairs if file},
        workspace_pools=_lists("--workspace-pools", parsed.workspace_pools),
        constant_pools=_lists("--constant-pools", parsed.constant_pools),
        concurrent=_lists("--concurrent", parsed.concurrent),
        isa=Isa.PORTABLE if parsed.isa is None else _isa(parsed.isa),
    )


def _isa(word: str) -> Isa:
    isa = isa_of(word)
    if isa is None:
        message = f'"{word}" is neither {", ".join(isa.value for isa in Isa)} nor an option such as -mcpu=cortex-m55'
        help_ = f"write for example: --isa dsp, or --isa=-mcpu=cortex-m4; {isa_help(word)}"
        raise UsageError(Diagnostic("U237", message, "--isa", help_))
    return isa


def _lists(option: str, values: Sequence[str]) -> dict[str, NameList]:
    """Return the names that an option gives to each model."""
    lists: dict[str, NameList] = {}
    for value in values:
        model, _, listed = value.partition("=")
        names = tuple(listed.split(","))
        if not model or not all(names) or len(set(names)) < len(names):
            what = _LISTS[option][0]
            message = f'"{value}" is not NAME={what}[,{what}...], each {what} once'
            raise UsageError(Diagnostic("U231", message, option, f"write for example: {option} kws=one,other"))
        if model in lists:
            help_ = "give it once, with all names in one list"
            raise UsageError(Diagnostic("U232", f'it names model "{model}" twice', option, help_))
        lists[model] = NameList(option, model, names)
    return lists
