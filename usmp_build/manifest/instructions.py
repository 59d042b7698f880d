"""The instructions of a processor, by the option that tells a compiler to compile for it."""

from __future__ import annotations

import re

from usmp_build.request import Isa

_OPTION = re.compile(r"--?m?(?:cpu|arch)[= ](.+)")
_DSP = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p", "star-mc1", "armv7e-m")
_MVE = ("cortex-m52", "cortex-m55", "cortex-m85")


def isa_of(word: str) -> Isa | None:
    """Return the instructions that are named: by the name of an `Isa`, or as -mcpu=, -march= or IAR's --cpu= do.

    Processors and architectures that are not Arm's with the DSP extension or Helium are portable.  None: `word` is
    neither a name nor such an option.
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


_EXAMPLES = '"dsp" is for Cortex-M4, M7 and M33, "mve" for M52, M55 and M85, "portable" for all others'


def _of_processor(name: str, *extensions: str) -> Isa:
    """Extensions add to what a processor or an architecture has, or with "no" in front take away from it."""
    has_mve = name in _MVE or any(extension in ("mve", "mve.fp") for extension in extensions)
    if has_mve and "nomve" not in extensions and "nodsp" not in extensions:
        return Isa.MVE
    has_dsp = has_mve or name in _DSP or "dsp" in extensions
    return Isa.DSP if has_dsp and "nodsp" not in extensions else Isa.PORTABLE
