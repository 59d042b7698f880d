"""The command: bytes of workspace if columns may be computed again, and the multiplications that it takes.

    python -m benchmarks.recompute 0 5 10 20 38 68 -- models/*.tflite

Numbers are per cent of the multiplications of a model.  Without models: MobileNetV2 0.35 of 144x144 pixels, as Keras
makes it and as msf-CNN's evaluation has it, and its MCUNet-320KB of 176x176.  Inputs and outputs are in arrays of the
caller, and do not count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support import large_nets
from usmp_build import pipeline
from usmp_build.files import DictFiles

_MANIFEST = """
[project]
name = "firmware"
[models.model]
path = "model.tflite"
io = "application"
[plan]
recompute = "{} %"
"""


def main(words: Sequence[str]) -> int:
    """Print the table."""
    prices, paths = _split(words)
    print("| model |" + "".join(f" +{price} % |" for price in prices))
    print("|---|" + "--:|" * len(prices))
    for name, data in _models(paths).items():
        print(f"| {name} |" + "".join(f" {cell} |" for cell in _cells(data, prices)), flush=True)
    return 0


def _split(words: Sequence[str]) -> tuple[Sequence[int], Sequence[str]]:
    at = words.index("--") if "--" in words else len(words)
    return tuple(map(int, words[:at])), words[at + 1 :]


def _models(paths: Sequence[str]) -> Mapping[str, bytes]:
    if paths:
        return {Path(path).stem: Path(path).read_bytes() for path in paths}
    return {
        "MobileNetV2, Keras": large_nets.mobilenet_v2(144, 0.35),
        "MobileNetV2, msf-CNN": large_nets.mobilenet_v2_of_msf_cnn(),
        "MCUNet-320KB, msf-CNN": large_nets.mcunet_of_msf_cnn(),
    }


def _cells(data: bytes, prices: Sequence[int]) -> Iterator[str]:
    for price in prices:
        files = DictFiles({"usmp.toml": _MANIFEST.format(price).encode(), "model.tflite": data})
        planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
        model, workspace = planned.summary.models[0], planned.summary.workspace.achieved
        yield f"{workspace:,} at {1 + model.recomputed_macs / model.macs:.2f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
