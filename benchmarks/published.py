"""What was measured once: what TensorFlow Lite Micro needs for the same models.

The same way as ours: instructions from entry to exit in QEMU, of one inference on the inputs of inputs.py.  For exactly
these files: build `microlite` of TFLM's Makefile with `TARGET=cortex_m_generic`, `TARGET_ARCH=cortex-m4+fp` or
`cortex-m55`, `BUILD_TYPE=release`, for CMSIS-NN `OPTIMIZED_KERNEL_DIR=cmsis_nn`, and `TARGET_TOOLCHAIN_ROOT=` with the
folder of arm-none-eabi-gcc and a slash.  Link a program that allocates, fills inputs by `inputs.py` and calls `Invoke`
once; a plugin such as `tests/firmware/counting` counts instructions between a mark before it and one after.
"""

from __future__ import annotations

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
    "person_detect": (300_568, 82_292, 95_660_737, 22_928_450, 6_508_089),
    "keyword_scrambled_8bit": (29_632, 8_052, 257_863, 120_262, 54_064),
    "mnist_lstm_int8": (13_952, 3_220, 1_640_492, 574_450, 260_842),
}


def published(model: str, file_bytes: int) -> Figures:
    """Return the figures of a model by its name; none if the file's bytes say that it is another one of that name."""
    if model not in _ROWS:
        return {}
    figures: Figures = dict(zip(_COLUMNS, _ROWS[model], strict=True))
    return figures if figures["file bytes"] == file_bytes else {}
