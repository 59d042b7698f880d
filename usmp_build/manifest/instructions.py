"""The instructions of a processor, by the option that tells a compiler to compile for it."""

from __future__ import annotations

import re

from usmp_build.request import Isa

_OPTION = re.compile(r"--?m?(?:cpu|arch)[= ](.+)")
_DSP = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p", "star-mc1", "armv7e-m")
_MVE = ("cortex-m52", "cortex-m55", "cortex-m85")
_MICROCONTROLLER = re.compile(r"cortex-m.*|armv\d(\.\d)?-m.*|rv(32|64)(?P<letters>[a-z]+).*")
_VECTORS = re.compile(r"_zve\d|_v(_|$)")
"""Of RISC-V, by names of several letters."""


def isa_of(word: str) -> Isa | None:
    """Return the instructions that are named: by the name of an `Isa`, or as -mcpu=, -march= or IAR's --cpu= do.

    Arm's microcontrollers without the DSP extension and RISC-V without vectors are scalar, all others portable.  None:
    `word` is neither a name nor such an option.
    """
    if word in [isa.value for isa in Isa]:
        return Isa(word)
    option = _OPTION.fullmatch(word)
    return _of_processor(*option[1].lower().split("+")) if option else None


def isa_help(word: str) -> str:
    """Say which instructions a processor has that is named where an `Isa` should be: "M4", "cortex-m0+", "rv32imac"."""
    name = word.lower().removeprefix("arm ").replace("_", "-").replace(" ", "-")
    name = re.sub(r"^(arm-)?(cortex-?)?c?(m\d+)f?", r"cortex-\3", name)
    if re.match(r"cortex-|armv\d|rv\d\d|risc-?v", name):
        return f'{word} takes "{_of_processor(*name.split("+")).value}"; {_EXAMPLES}'
    return _EXAMPLES


_EXAMPLES = (
    '"scalar" is for Cortex-M0, M3 and RISC-V, "dsp" for Cortex-M4, M7 and M33, "mve" for M52, M55 and M85, "portable" '
    "for all others"
)


def _of_processor(name: str, *extensions: str) -> Isa:
    """Extensions add to what a processor or an architecture has, or with "no" in front take away from it."""
    has_mve = name in _MVE or any(extension in ("mve", "mve.fp") for extension in extensions)
    if has_mve and "nomve" not in extensions and "nodsp" not in extensions:
        return Isa.MVE
    has_dsp = has_mve or name in _DSP or "dsp" in extensions
    if has_dsp and "nodsp" not in extensions:
        return Isa.DSP
    small = _MICROCONTROLLER.fullmatch(name)
    has_vectors = small is not None and ("v" in (small["letters"] or "") or _VECTORS.search(name))
    return Isa.SCALAR if small and not has_vectors else Isa.PORTABLE
