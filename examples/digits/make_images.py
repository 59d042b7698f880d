"""Makes images.h: pictures, labels, and what TensorFlow Lite Micro answers, from tests/data/digits.npz."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_HERE = Path(__file__).parent
_COUNT = 16


def main() -> None:
    """Write the header beside this script."""
    with np.load(_HERE / "../../tests/data/digits.npz") as stored:
        rows = zip(
            stored["images"][:_COUNT].reshape(_COUNT, 64).tolist(),
            stored["labels"][:_COUNT].tolist(),
            stored["digits_output"][:_COUNT].tolist(),
            stored["odd_even_output"][:_COUNT].reshape(_COUNT).tolist(),
            strict=True,
        )
        lines = [_HEAD, *(_row(*row) for row in rows), "};\n\n#endif\n"]
    (_HERE / "images.h").write_text("".join(lines), encoding="utf-8")


def _row(pixels: list[int], label: int, scores: list[int], odd: int) -> str:
    picture = ",\n       ".join(", ".join(f"{p:4d}" for p in pixels[y : y + 8]) for y in range(0, 64, 8))
    return f"    {{ {{ {picture} }},\n      {label}, {{ {', '.join(map(str, scores))} }}, {odd} }},\n"


_HEAD = """\
/* Handwritten digits that the models were not trained on.  Made by examples/digits/make_images.py. */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdint.h>

struct image {
    int8_t pixels[64];
    uint8_t label;
    int8_t digits_scores[10]; /* what TensorFlow Lite Micro computes */
    int8_t odd_even_odd;
};

static const struct image images[] = {
"""

if __name__ == "__main__":
    main()
