"""Make the small models that the tests and the demo read.

    python make_models.py [NAME ...]

writes NAME.tflite beside this script; without names, all of them. TensorFlow and scikit-learn are needed
here and nowhere else (`pip install tensorflow-cpu scikit-learn`): what comes out is kept in the repository.

A *recipe* is a function without arguments that returns a `Source`: a network, and the samples from which the
converter learns the ranges of its tensors. The same recipe gives the same bytes each time on one kind of
processor: seeds are fixed, TensorFlow's operators are made deterministic, layers bear names of our own, and
every conversion has a process to itself, because the converter numbers names per process and takes the
process with it when it crashes.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from conversion import SEED, convert, keras, tf
from networks import RECIPES


def make(name: str) -> None:
    """Make one model, in this process, which must not have made another before."""
    keras.config.disable_interactive_logging()
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    source = RECIPES[name]()
    model = convert(source)
    Path(__file__).with_name(f"{name}.tflite").write_bytes(model)
    verdict = f", accuracy {source.judge(model):.2%}" if source.judge else ""
    print(f"{name}.tflite: {len(model)} bytes{verdict}")


def make_apart(name: str) -> bool:
    """Make one model in a fresh process, and return whether that went well."""
    command = [sys.executable, __file__, "--here", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failure = f"{name}: failed with status {done.returncode}\n{done.stderr}"
    print(failure if done.returncode else done.stdout, end="", flush=True)
    return done.returncode == 0


def main() -> int:
    """Make the models named on the command line."""
    parser = argparse.ArgumentParser(description="Make the small models that the tests read.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}; default: all")
    parser.add_argument("--here", metavar="NAME", help="make one in this process (for the script itself)")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(RECIPES):
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    if arguments.here:
        make(arguments.here)
        return 0
    failed = [name for name in arguments.names or RECIPES if not make_apart(name)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
