"""Makes pictures.bin from tests/data/digits.npz: handwritten digits of 8x8 pixels, int8, one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_HERE = Path(__file__).parent
_COUNT = 8

if __name__ == "__main__":
    with np.load(_HERE / "../../tests/data/digits.npz") as stored:
        (_HERE / "pictures.bin").write_bytes(stored["images"][:_COUNT].tobytes())
