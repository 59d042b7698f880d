"""Run cases through kernels that were compiled with sanitizers; a process of its own, because they end it.

    python sanitized_worker.py LIBRARY CASES RESULTS

CASES is a pickled list of cases; RESULTS becomes the pickled list of their outputs: of
each first those of the forward kernel, then those of the backward one.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from tests.support.kernels.driver import Runner
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.schedule import Direction
from usmp_build.kernels.reference import library

WAYS = (Direction.FORWARD, Direction.BACKWARD)


def main(shared_library: str, cases: str, results: str) -> None:
    """Run all of them."""
    runner = Runner(Path(shared_library), guard=0)
    outputs = []
    for case in pickle.loads(Path(cases).read_bytes()):
        kernel = library.kernel(case.graph.operators[0], case.graph)
        assert isinstance(kernel, Kernel)
        outputs += [runner.run(case.graph, kernel.towards(way), case.inputs) for way in WAYS]
    Path(results).write_bytes(pickle.dumps(outputs))


if __name__ == "__main__":
    main(*sys.argv[1:])
