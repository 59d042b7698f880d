"""Our models of digits in tests of builds: what they must answer, and how they change."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tflite

from tests.support.cli import DATA
from tests.support.files import touch


def answers(app: Path, picture: int = 0, emulator: Sequence[str] = ()) -> tuple[bytes, bytes]:
    """What the program says of a picture, and what TensorFlow Lite Micro says of it with both models.

    `emulator` is the command that runs the program, where it is not one of this machine.
    """
    golden = np.load(DATA / "digits.npz")
    shown = golden["images"][picture].tobytes()
    printed = subprocess.run([*emulator, app], input=shown, capture_output=True, check=True, timeout=60).stdout
    return printed, golden["digits_output"][picture].tobytes() + golden["odd_even_output"][picture].tobytes()


def check_answers(app: Path, emulator: Sequence[str] = ()) -> None:
    """Fail the test if the program does not say what TensorFlow Lite Micro says."""
    message, expected = answers(app, emulator=emulator)
    assert message == expected


def train_again(model: Path) -> None:
    """Make a model another one with the same graph: other weights, other scales."""
    data = bytearray(model.read_bytes())
    graph = tflite.Model.GetRootAsModel(data, 0).Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        constants = tflite.Model.GetRootAsModel(data, 0).Buffers(tensor.Buffer())
        if constants.DataLength() and tensor.Quantization().ScaleLength():
            # Weights and biases alike, for a bias has the scale of input times weights.
            tensor.Quantization().ScaleAsNumpy()[:] *= np.float32(0.75)
            constants.DataAsNumpy()[0] ^= 1
    model.write_bytes(data)
    touch(model)


def rename_tensors(model: Path) -> None:
    """Make a model another one with the same numbers: comments of the generated C are not the same."""
    data = model.read_bytes()
    renamed = data.replace(b"MatMul", b"Matmul")
    assert renamed != data
    model.write_bytes(renamed)
    touch(model)
