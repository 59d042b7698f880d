"""What was measured once: what TensorFlow Lite Micro needs for the same models, and CMSIS-NN for some of their layers.

The same way as ours: instructions from entry to exit in QEMU, of one inference on the inputs of inputs.py, and of one
`arm_*_wrapper_s8` on random bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.figures import Column, Figures

VERSIONS = "tflite-micro 90b983c2b (2026-08-20), CMSIS-NN 4ab83cc3c (2026-06-17), arm-none-eabi-gcc 12.2.1, QEMU 7.2.22"

_COLUMNS: tuple[Column, ...] = (
    "file bytes", "TFLM arena", "M4, TFLM reference", "M4, CMSIS-NN", "M55, CMSIS-NN",
)  # fmt: skip
_ROWS = {
    "kws": (53_936, 22_772, 43_042_472, 7_699_893, 1_815_810),
    "vww": (333_288, 100_660, 100_250_554, 24_101_963, 6_558_338),
    "ic": (98_496, 54_340, 107_404_888, 29_863_353, 4_911_697),
    "hello": (2_704, 676, 5_231, 3_524, 2_140),
    "micro_speech": (18_800, 6_788, 9_310_572, 1_495_383, 1_008_221),
}

LAYERS_VERSION = "CMSIS-NN 99f736a, arm-none-eabi-gcc 12.2.1 -O2"


class Layer(NamedTuple):
    """A layer of a model, and the instructions of CMSIS-NN for one of its shape."""

    model: str
    position: int
    shape: str
    macs: int
    m4: int
    m55: int


LAYERS = (
    Layer("kws", 2, "1x1, 64 to 64, 25x5", 512_000, 1_069_021, 200_992),
    Layer("vww", 2, "1x1, 8 to 16, 48x48", 294_912, 1_954_957, 633_765),
    Layer("vww", 6, "1x1, 32 to 32, 24x24", 589_824, 1_589_597, 361_317),
    Layer("kws", 1, "depthwise 3x3, 64, 25x5", 72_000, 560_971, 168_689),
    Layer("vww", 1, "depthwise 3x3, 8, 48x48", 165_888, 1_469_167, 897_327),
    Layer("ic", 1, "3x3, 16 to 16, 32x32", 2_359_296, 5_493_130, 938_377),
    Layer("ic", 9, "3x3, 64 to 64, 8x8", 2_359_296, 4_155_742, 486_277),
    Layer("vww", 0, "3x3, 3 to 8, stride 2, 48x48", 497_664, 3_045_016, 1_046_722),
)


def published(model: str, file_bytes: int) -> Figures:
    """Return the figures of a model by its name; none if the file's bytes say that it is another one of that name."""
    if model not in _ROWS:
        return {}
    figures: Figures = dict(zip(_COLUMNS, _ROWS[model], strict=True))
    return figures if figures["file bytes"] == file_bytes else {}
