"""Run cases through kernels that were compiled with sanitizers; a process of its own, because they end it.

    python sanitized_worker.py LIBRARY CASES RESULTS

CASES is a pickled list of cases; RESULTS becomes the pickled list of the outputs that each
of their kernels makes, forward and backward, at once and by rows.
"""

import pickle
import sys
from pathlib import Path

from tests.support.kernels.driver import Runner
from usmp_build.interfaces.kernels import Kernel
from usmp_build.kernels.reference import library


def main(shared_library: str, cases: str, results: str) -> None:
    """Run all of them."""
    runner = Runner(Path(shared_library), guard=0)
    outputs = []
    for case in pickle.loads(Path(cases).read_bytes()):
        kernel = library.kernel(case.graph.operators[0], case.graph)
        assert isinstance(kernel, Kernel)
        forward = [kernel, kernel.by_rows] if kernel.by_rows else [kernel]
        kernels = [each for both in forward for each in (both, both.backward) if each]
        outputs.append([runner.run(case.graph, each, case.inputs) for each in kernels])
    Path(results).write_bytes(pickle.dumps(outputs))


if __name__ == "__main__":
    main(*sys.argv[1:])
