"""CMSIS-NN in tests: a stand-in for each of its variants and, where $USMP_CMSIS_NN is its folder, its own sources."""

import os
from collections.abc import Sequence
from pathlib import Path

from usmp_build.kernels import sources
from usmp_build.request import Isa

IS_THERE = bool(os.environ.get("USMP_CMSIS_NN"))
"""Whether CMSIS-NN itself is: CI has the stand-in only."""
_FOLDER = Path(__file__).parent
_DEFINES = {
    Isa.PORTABLE: [],
    Isa.SCALAR: [],
    Isa.DSP: ["-DARM_MATH_DSP"],
    Isa.MVE: ["-DARM_MATH_DSP", "-DARM_MATH_MVEI"],
}


def stand_in(folder: Path, isa: Isa) -> tuple[list[str], list[Path]]:
    """Return the flags and files to compile the stand-in for a variant; it needs a file in `folder`."""
    c = sources.choose(["softmax_s8", "softmax_s8_s16", "softmax_s16"], "reference")
    (folder / "reference.h").write_text(f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n', encoding="utf-8")
    return [f"-I{_FOLDER}", f"-I{folder}", *_DEFINES[isa]], [_FOLDER / "stand_in.c"]


def real() -> tuple[list[str], Sequence[Path]]:
    """Return the flags and files to compile CMSIS-NN itself for this machine."""
    folder = Path(os.environ["USMP_CMSIS_NN"])
    files = sorted(file for file in folder.glob("Source/*/*.c") if not file.stem.endswith(("_f16", "_f32")))
    return [f"-I{folder / 'Include'}"], files
