"""Make the outputs that the project's C must reproduce, with TensorFlow Lite Micro's reference kernels.

    python make_goldens.py [NAME ...]

writes, beside this script, golden/NAME.npz for each model named (without names: all of them, and digits.npz).
It needs `pip install tflite-micro scikit-learn`; the tests only read what comes out.

golden/NAME.npz holds `input_<i>` and `output_<i>`, in the model's order: one row for each of ten runs with
pseudo-random inputs over the whole range of the type. digits.npz holds sixty-four digits that the classifiers
did not see in training (`images`, already int8; `labels`) and what both classifiers say of them
(`digits_output`, `odd_even_output`).

The interpreter aborts its process when it dislikes a model, so each file is made in a process of its own.
"""

import argparse
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HERE = Path(__file__).parent
MODELS = ("digits", "odd_even", "branchy", "kitchen_a", "kitchen_b", "float_net", "quantized_io")
IMAGES = "digits.npz"

SEED = 20250221
RUNS = 10
PICTURES = 64
FLOAT_REACH = 4.0  # of float inputs; beyond what quantized models have seen, so that they saturate
ARENA = 1 << 20


class Oracle:
    """A model in TensorFlow Lite Micro."""

    def __init__(self, name: str) -> None:
        from tflite_micro import runtime

        self.interpreter = runtime.Interpreter.from_file(str(HERE / f"{name}.tflite"), arena_size=ARENA)
        self.inputs = list(details(self.interpreter.get_input_details))
        self.outputs = list(details(self.interpreter.get_output_details))

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Return the outputs of one run."""
        for index, values in enumerate(inputs):
            self.interpreter.set_input(values, index)
        self.interpreter.invoke()
        return [np.array(self.interpreter.get_output(index)) for index in range(len(self.outputs))]


def details(get: Callable[[int], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Describe one tensor after another, until the interpreter says that there are no more."""
    for index in itertools.count():
        try:
            yield get(index)
        except IndexError:
            return


def full_range(tensor: dict[str, Any], generator: np.random.Generator) -> Array:
    """Draw values for an input from all that it can hold."""
    shape, dtype = tuple(tensor["shape"]), np.dtype(tensor["dtype"])
    if dtype.kind == "f":
        return generator.uniform(-FLOAT_REACH, FLOAT_REACH, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def random_runs(name: str) -> dict[str, Array]:
    """Return the inputs and outputs of the runs of one model."""
    oracle, generator = Oracle(name), np.random.default_rng(SEED)
    inputs = [[full_range(tensor, generator) for tensor in oracle.inputs] for _ in range(RUNS)]
    outputs = [oracle.run(values) for values in inputs]
    return columns("input", inputs) | columns("output", outputs)


def columns(kind: str, runs: Sequence[Sequence[Array]]) -> dict[str, Array]:
    """Stack the tensors of several runs: `kind`_0 for all the first ones, and so on."""
    return {f"{kind}_{index}": np.stack(values) for index, values in enumerate(zip(*runs, strict=True))}


def classified_digits() -> dict[str, Array]:
    """Return held-out digits, their labels, and what the classifiers make of them."""
    pixels, labels = held_out_digits()
    digits, odd_even = Oracle("digits"), Oracle("odd_even")
    images = quantized(pixels, digits.inputs[0])
    if not np.array_equal(images, quantized(pixels, odd_even.inputs[0])):
        raise ValueError("the two classifiers read different int8 images; store both")
    return {
        "images": images,
        "labels": labels.astype(np.uint8),
        "digits_output": np.concatenate([digits.run([image[np.newaxis]])[0] for image in images]),
        "odd_even_output": np.concatenate([odd_even.run([image[np.newaxis]])[0] for image in images]),
    }


def held_out_digits() -> tuple[Array, Array]:
    """Return the first digits that `make_models.Digits` holds out (every third), pixels from 0 to 1."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    return images[::3][:PICTURES], labels[::3][:PICTURES]


def quantized(values: Array, tensor: dict[str, Any]) -> Array:
    """Write real values as the tensor does."""
    parameters = tensor["quantization_parameters"]
    steps = np.round(values / parameters["scales"][0]) + parameters["zero_points"][0]
    return np.clip(steps, -128, 127).astype(np.int8)


def make(name: str) -> None:
    """Make one file, in this process."""
    path = HERE / IMAGES if name == IMAGES else HERE / "golden" / f"{name}.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **(classified_digits() if name == IMAGES else random_runs(name)))
    print(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes")


def make_apart(name: str) -> bool:
    """Make one file in a fresh process, and return whether that went well."""
    command = [sys.executable, __file__, "--here", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failure = f"{name}: failed with status {done.returncode}\n{done.stderr}"
    print(failure if done.returncode else done.stdout, end="", flush=True)
    return done.returncode == 0


def main() -> int:
    """Make the files named on the command line."""
    known = (*MODELS, IMAGES)
    parser = argparse.ArgumentParser(description="Make the outputs that the tests compare with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--here", metavar="NAME", help="make one in this process (for the script itself)")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(known):
        parser.error(f"no such file: {', '.join(sorted(unknown))}")
    if arguments.here:
        make(arguments.here)
        return 0
    failed = [name for name in arguments.names or known if not make_apart(name)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
