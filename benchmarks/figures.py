"""The columns of the tables, and the figures of one model in them."""

from __future__ import annotations

from typing import Literal, TypeAlias

Column: TypeAlias = Literal[
    "workspace",
    "bound",
    "apart",
    "TFLM arena",
    "constants",
    "text",
    "rodata",
    "stack",
    "stack seen",
    "M4",
    "M4, TFLM reference",
    "M4, CMSIS-NN",
    "M55",
    "M55, CMSIS-NN",
    "M4 cycles, least",
    "M4 cycles, most",
    "M7 cycles, least",
    "host ms",
    "host ms, -O3",
    "host ms, TFLM reference",
    "host ms, LiteRT",
    "file bytes",
    "import",
    "plan",
    "emit",
    "whole command",
]

Figures: TypeAlias = dict[Column, float]
"""Bytes and instructions are whole numbers; seconds and milliseconds are not.  What is absent was not measured."""

BYTES: tuple[Column, ...] = ("workspace", "bound", "TFLM arena")
FLASH: tuple[Column, ...] = ("constants", "text", "rodata", "stack", "stack seen")
INFERENCE: tuple[Column, ...] = (
    "M4",
    "M4, TFLM reference",
    "M4, CMSIS-NN",
    "M55",
    "M55, CMSIS-NN",
)
CYCLES: tuple[Column, ...] = ("M4 cycles, least", "M4 cycles, most", "M7 cycles, least")
HOST: tuple[Column, ...] = ("host ms", "host ms, -O3", "host ms, TFLM reference", "host ms, LiteRT")
TOGETHER: tuple[Column, ...] = ("workspace", "bound", "apart")
SECONDS: tuple[Column, ...] = ("file bytes", "import", "plan", "emit", "whole command")

COMPARED: tuple[tuple[Column, Column], ...] = (
    ("workspace", "TFLM arena"),
    ("M4", "M4, TFLM reference"),
    ("M4", "M4, CMSIS-NN"),
    ("M55", "M55, CMSIS-NN"),
    ("host ms", "host ms, TFLM reference"),
    ("host ms, -O3", "host ms, LiteRT"),
)
"""Ours and theirs."""
