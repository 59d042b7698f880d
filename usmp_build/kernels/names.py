"""The names of C functions and structs: what they do, the types of their elements, instructions, and a part."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from usmp_build.ir.graph import DType
from usmp_build.request import Isa

TYPES: Mapping[DType, str] = MappingProxyType(
    {
        DType.BOOL: "bool",
        DType.FLOAT32: "f32",
        DType.INT8: "s8",
        DType.INT16: "s16",
        DType.INT32: "s32",
        DType.INT64: "s64",
        DType.UINT8: "u8",
        DType.UINT32: "u32",
    }
)
"""Type → what names call it."""


def c_name(does: str, *types: DType, isa: Isa = Isa.PORTABLE, part: str = "") -> str:
    """Return the name of a function, or that of its struct as the part "parameters".

    >>> c_name("conv_2d", DType.INT8, isa=Isa.DSP, part="row")
    'conv_2d_s8_dsp_row'
    >>> c_name("requantize", DType.INT8, DType.INT16)
    'requantize_s8_s16'
    """
    instructions = "" if isa is Isa.PORTABLE else isa.value
    return "_".join(name for name in (does, *(TYPES[each] for each in types), instructions, part) if name)
