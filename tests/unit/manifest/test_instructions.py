"""Which instructions a processor has, by the option that tells a compiler to compile for it."""

import pytest

from usmp_build.manifest.instructions import isa_of
from usmp_build.request import Isa


@pytest.mark.parametrize(
    ("word", "isa"),
    [
        ("portable", Isa.PORTABLE),
        ("scalar", Isa.SCALAR),
        ("dsp", Isa.DSP),
        ("mve", Isa.MVE),
        ("-mcpu=cortex-m0plus", Isa.SCALAR),
        ("-mcpu=cortex-m3", Isa.SCALAR),
        ("-mcpu=cortex-m23", Isa.SCALAR),
        ("-mcpu=cortex-a53", Isa.PORTABLE),
        ("-mcpu=sifive-e31", Isa.PORTABLE),
        ("-mcpu=cortex-m4", Isa.DSP),
        ("-mcpu=cortex-m4+nofp", Isa.DSP),
        ("-mcpu=cortex-m7", Isa.DSP),
        ("-mcpu=Cortex-M33", Isa.DSP),
        ("-mcpu=cortex-m33+nodsp", Isa.SCALAR),
        ("-mcpu=cortex-m35p", Isa.DSP),
        ("-mcpu=cortex-m55", Isa.MVE),
        ("-mcpu=cortex-m55+nomve", Isa.DSP),
        ("-mcpu=cortex-m55+nomve.fp", Isa.MVE),
        ("-mcpu=cortex-m55+nodsp", Isa.SCALAR),
        ("-mcpu=cortex-m85+nopacbti", Isa.MVE),
        ("-march=armv7-m", Isa.SCALAR),
        ("-march=armv7e-m+fp", Isa.DSP),
        ("-march=armv8-m.main", Isa.SCALAR),
        ("-march=armv8-m.main+dsp", Isa.DSP),
        ("-march=armv8.1-m.main+mve.fp+fp.dp", Isa.MVE),
        ("-march=rv32imac", Isa.SCALAR),
        ("-march=rv32imc_zicsr_zba", Isa.SCALAR),
        ("-march=rv64gc", Isa.SCALAR),
        ("-march=rv64gcv", Isa.PORTABLE),
        ("-march=rv32imf_zve32x_zvl128b", Isa.PORTABLE),
        ("-march=native", Isa.PORTABLE),
        ("--cpu=Cortex-M4", Isa.DSP),
        ("--cpu Cortex-M55", Isa.MVE),
        ("--cpu=Cortex-M33.no_dsp", Isa.SCALAR),
        ("neon", None),
        ("DSP", None),
        ("-mcpu", None),
        ("-mcpu=", None),
        ("-mtune=cortex-m4", None),
        ("", None),
    ],
)
def test_the_instructions_of_a_processor(word: str, isa: Isa | None) -> None:
    assert isa_of(word) is isa
