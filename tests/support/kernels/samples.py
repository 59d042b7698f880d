"""Models of one operator, drawn at random, and their kernels."""

import os
import zlib

import numpy as np

from tests.support import lstms, signal_models, stateful
from tests.support.flatfile import flatfile
from tests.support.kernels import litert, pairs
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.dynamic import KINDS, dynamic
from tests.support.kernels.elements import casts_of_uint8
from tests.support.kernels.faster import ISAS, faster
from usmp_build.importers.tflite import import_tflite
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Subgraph
from usmp_build.ir.schedule import Direction
from usmp_build.kernels.reference import library
from usmp_build.passes.rewrite.variables import variables

COUNT = int(os.environ.get("USMP_CASES", "60"))
"""Cases of each kind, where a test does not say otherwise."""


def draw(kind: str, count: int = COUNT) -> list[Case]:
    """Draw the first cases of a kind: the same ones for everybody."""
    return [CASES[kind](np.random.default_rng([zlib.crc32(kind.encode()), i])) for i in range(count)]


def kernel_of(case: Case, direction: Direction = Direction.FORWARD) -> Kernel:
    """Return the kernel of a case's only operator."""
    return first_kernel(case.graph).towards(direction)


def other_kernels() -> list[Kernel]:
    """Kernels of what TensorFlow Lite Micro does not have, of what keeps state, and for other instructions."""
    hybrid = (first_kernel(case.graph) for kind in KINDS for case in dynamic(kind, 8))
    integers = (first_kernel(pairs.floored_integers(np.random.default_rng(1), kind).graph) for kind in pairs.FLOORED)
    faster_ones = (kernel for isa, kinds in ISAS.items() for kind in kinds for _, kernel in faster(isa, kind, 60))
    wide = (first_kernel(case.graph) for case in litert.cases())
    images = (kernel.by_rows or kernel for kernel in wide)
    casts = (first_kernel(case.graph) for case in casts_of_uint8(np.random.default_rng(1)))
    return [*stateful_kernels(), *hybrid, *integers, *images, *faster_ones, *casts]


def stateful_kernels() -> list[Kernel]:
    """Kernels of each kind that keeps state."""
    makers, types = (stateful.svdf, lstms.lstm), ("INT8", "INT16", "FLOAT32")
    files = [make(np.random.default_rng(1), dtype) for make in makers for dtype in types]
    files.append(lstms.lstm(np.random.default_rng(1), "FLOAT32", dynamic=True))
    files += [flatfile(make(np.random.default_rng(seed))) for make in _SIGNAL for seed in range(6)]
    graphs = [variables(import_tflite(file, "m", "m")).main for file in files]
    kernels = [library.kernel(op, graph) for graph in graphs for op in graph.operators]
    return [kernel for kernel in kernels if isinstance(kernel, Kernel) and kernel.updates]


_SIGNAL = signal_models.STATEFUL.values()


def first_kernel(graph: Subgraph) -> Kernel:
    """Return the kernel of a graph's first operator; fails if there is none."""
    kernel = library.kernel(graph.operators[0], graph)
    assert isinstance(kernel, Kernel), kernel
    return kernel
