"""Manifests of firmware: the memories are those that every board of the example has."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from tests.support import lstms, signal_models
from tests.support import stateful as drawn
from tests.support.cli import DATA
from tests.support.flatfile import flatfile
from tests.support.nets import NETS
from tests.support.planned import Shared

OURS = ("branchy", "digits", "float_net", "kitchen_a", "kitchen_b", "odd_even", "quantized_io")
REAL = ("hello", "ic", "kws", "micro_speech", "vww")

ONE = """
[pools.sram]
access = "rw"
region = "SRAM"
"""

SHARED = """
[pools.dtcm]
access = "rw"
size = "32 KiB"
region = "DTCM"

[pools.sram]
access = "rw"
region = "SRAM"
"""
"""A small memory first; what does not fit goes to a large one."""

THREE = """
[pools.dtcm]
access = "rw"
size = "4 KiB"
region = "DTCM"

[pools.sram]
access = "rw"
size = "24 KiB"
region = "SRAM"

[pools.psram]
access = "rw"
region = "PSRAM"
"""

LAYER_BY_LAYER = "[plan]\nrows = false\n"
"""Planning several real models by rows for several memories takes a minute; so only some tests do."""

QUICKLY = '[plan]\nalgorithm = "greedy_by_size"\n'
"""Planned in a tenth of the time, where a test is of what kernels do: that is the same in any plan."""

CONSTANTS = """
[pools.itcm]
access = "ro"
size = "16 KiB"
region = "ITCM"
load_region = "FLASH"

[pools.flash]
access = "ro"
alignment = 1024
region = "FLASH"
"""


def of(models: Mapping[str, Path], pools: str, extra: str = "") -> str:
    """Write a manifest; `extra` stands in every model's table."""
    tables = "".join(f'\n[models.{name}]\npath = "{path.as_posix()}"\n{extra}' for name, path in models.items())
    return f'[project]\nname = "firmware"\n{pools}{CONSTANTS}{tables}'


def ours() -> dict[str, Path]:
    """Return the models of our own."""
    return {name: DATA / f"{name}.tflite" for name in OURS}


def real(folder: Path, names: tuple[str, ...] = REAL) -> dict[str, Path]:
    """Return real models."""
    return {name: folder / f"{name}.tflite" for name in names}


def nets(shared: Shared, names: tuple[str, ...] = tuple(NETS)) -> dict[str, Path]:
    """Write nets of usual kinds, and return where they are."""
    return written("nets", {name: NETS[name]() for name in names}, shared)


def stateful(shared: Shared) -> dict[str, Path]:
    """Make models that remember, with and without first values, and return where they are."""
    files = {"average": (DATA / "stateful.tflite").read_bytes()}
    files["svdf"] = drawn.svdf(np.random.default_rng(5), layers=2)
    files["svdf_s8"] = drawn.svdf(np.random.default_rng(6), "INT8")
    files["svdf_f32"] = drawn.svdf(np.random.default_rng(7), "FLOAT32")
    for dtype in ("INT8", "INT16", "FLOAT32"):
        files[f"lstm_{dtype.lower()}"] = lstms.lstm(np.random.default_rng(8), dtype)
    for kind, make in signal_models.STATEFUL.items():
        for seed in range(5):
            files[f"{kind.lower()}_{seed}"] = flatfile(make(np.random.default_rng(seed)))
    files["ring"] = drawn.ring(np.random.default_rng(8))
    files["sums"] = drawn.accumulators(np.random.default_rng(6))
    return written("stateful", files, shared)


def filters_over_time(shared: Shared) -> dict[str, Path]:
    """Make models with one SVDF, whose filters remember so many results, and return where they are."""
    files = {
        f"{state.lower()}_{memory:02}": drawn.svdf(np.random.default_rng(memory), state, memory=memory)
        for state in ("INT8", "INT16")
        for memory in range(1, 13)
    }
    return written("filters", files, shared)


def written(kind: str, models: Mapping[str, bytes], shared: Shared) -> dict[str, Path]:
    """Write models where all tests of a run find them."""
    paths = {}
    for name, data in models.items():
        paths[name] = shared(f"{kind}_{name}", partial(_write, data))
    return paths


def _write(data: bytes, folder: Path) -> Path:
    (folder / "model.tflite").write_bytes(data)
    return folder / "model.tflite"


def goldens(models: Mapping[str, Path]) -> dict[str, Path]:
    """Return where the stored inputs of each model are: beside it, in `golden`."""
    return {name: path.parent / "golden" / f"{name}.npz" for name, path in models.items()}


PAIR = {name: path for name, path in ours().items() if name in ("digits", "odd_even")}
"""Two small models."""
