"""Explains which flags of TVMC have no meaning here, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from usmp_build.manifest.tvmc.words import Flag

_C = "the interface is always C: for each model a function that runs it, and structs of pointers"
_KERNELS = "kernels and their compiler flags are chosen here by [targets.*] and by the build system"
_OUTPUT = "`usmp-build generate --out FOLDER` writes C, headers, a linker fragment and CMake targets"
_WHY: Mapping[str, str] = MappingProxyType(
    {
        "--executor-aot-unpacked-api": _C,
        "--executor-aot-interface-api": _C,
        "--executor-aot-link-params": "weights are always part of the image",
        "--executor": "all code is made ahead of time",
        "--runtime": "there is no run-time library",
        "--output": _OUTPUT,
        "--dump-code": "`usmp-build inspect STAGE` shows what lies between the model and C",
        "--input-shapes": "shapes are those of the model",
        "--model-format": "the file's name says what it is",
        "--opt-level": "there are no levels: rewrites are exact, and always made",
        "--disabled-pass": "there are no passes to leave out",
        "--tuning-records": "kernels are not tuned",
        "--target": _KERNELS,
        "--cross-compiler": _KERNELS,
        "--desired-layout": "tensors keep the layout that the model gives them",
        "--workspace-pools-is-internal": 'TVMC has no such flag; here owner = "generated" or "application" says it',
    }
)
"""The beginning of a flag → why; the longest beginning counts."""
_SHORT = {"-o": "--output", "-f": "--output", "-O": "--opt-level"}
_WHY_OF_PASSES: Mapping[str, str] = MappingProxyType(
    {
        "tir.usmp.custom_algorithm": "make it a plug-in (docs/maintainers/algorithms.md), and name it in [plan]",
        "tir.disable_storage_rewrite": "nothing places buffers before the planner does",
        "tir.disable_vectorize": "vectors are the compiler's business",
    }
)
_ELSE = "nothing here corresponds to it"


def not_taken_over(flags: Sequence[Flag]) -> Iterator[str]:
    """Yield a line for each reason, with the flags that have no meaning here."""
    reasons: dict[str, list[str]] = {}
    for flag in dict.fromkeys(flags):
        reasons.setdefault(_why(flag), []).append(str(flag))
    for why, names in reasons.items():
        yield f"Not taken over: {', '.join(names)}; {why}."


def _why(flag: Flag) -> str:
    if flag.name == "--pass-config":
        return _WHY_OF_PASSES.get(flag.value.partition("=")[0], _ELSE)
    name = _SHORT.get(flag.name, flag.name)
    fitting = [start for start in _WHY if name.startswith(start)]
    return _WHY[max(fitting, key=len)] if fitting else _ELSE
