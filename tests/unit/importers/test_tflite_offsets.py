"""Offsets of tensors in TensorFlow Lite Micro's arena: a hint for most operators, and all that an Ethos-U has."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call
from tests.support.flatbuffer import Node, model, operator, subgraph, tensor, write
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_stored, import_tflite
from usmp_build.importers.tflite.offline import NAME


def compiled(kind: str, offsets: list[int], name: str = NAME) -> bytes:
    """A model as Vela makes it: commands, scratch, input, output; metadata begin with version, subgraphs, count."""
    tensors = [tensor("commands", Buffer=1), tensor("scratch"), tensor("x"), tensor("y")]
    main = subgraph(tensors, [operator(kind, [0, 1, 2], [3])], [2], [3])
    numbers = np.array([1, 1, len(offsets), *offsets], np.int32).tobytes()
    return write(model(main, data=[bytes(4), numbers], Metadata=[Node("Metadata", Name=name, Buffer=2)]))


def test_a_command_stream_that_knows_offsets_is_refused() -> None:
    with pytest.raises(ModelError, match=r"T271.*operator 0 \(CUSTOM:ethos-u\)") as error:
        import_tflite(compiled("CUSTOM:ethos-u", [-1, 0, 0, 1024]), "m", "m.tflite")
    (fault,) = error.value.diagnostics
    assert 'tensor 1 "scratch" at 0, tensor 2 "x" at 0, tensor 3 "y" at 1,024' in fault.message
    assert "as it was before Vela" in fault.help


@pytest.mark.parametrize(
    "data",
    [
        compiled("CUSTOM:other", [-1, 0, 0, 1024]),
        compiled("CUSTOM:ethos-u", [-1, -1, -1, -1]),
        compiled("CUSTOM:ethos-u", []),
        compiled("CUSTOM:ethos-u", [-1, 0, 0, 0], "vela_version"),
    ],
    ids=["a hint", "chosen by the interpreter", "no offsets", "other metadata"],
)
def test_offsets_that_no_operator_needs_are_no_fault(data: bytes) -> None:
    assert import_tflite(data, "m", "m.tflite") == import_stored(data, "m", "m.tflite")


def test_offsets_count_on_from_one_subgraph_to_the_next() -> None:
    first = subgraph([tensor("a"), tensor("b")], [operator("RELU", [0], [1])], [0], [1])
    second = subgraph([tensor("x"), tensor("y")], [operator("CUSTOM:ethos-u", [0], [1])], [0], [1])
    numbers = np.array([1, 2, 4, 0, 16, -1, 32], np.int32).tobytes()
    data = write(model(first, second, data=[numbers], Metadata=[Node("Metadata", Name=NAME, Buffer=1)]))
    with pytest.raises(ModelError, match='tensor 1 of subgraph 1 "y" at 32;'):
        import_tflite(data, "m", "m.tflite")


@pytest.mark.parametrize("verb", ["plan", "ops", "generate", "selftest", "report"])
def test_no_verb_takes_it(verb: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(compiled("CUSTOM:ethos-u", [-1, 0, 0, 0]))
    done = call(verb, tmp_path / "m.tflite")
    assert (done.code, done.out) == (1, "")
    assert "m.tflite: error[T271]: operator 0 (CUSTOM:ethos-u) finds its tensors at offsets" in done.err


def test_the_interpreter_keeps_it_as_it_is(tmp_path: Path) -> None:
    """It honours the offsets, so `export tflm` leaves the file alone."""
    data = compiled("CUSTOM:ethos-u", [-1, 0, 0, 0])
    (tmp_path / "m.tflite").write_bytes(data)
    done = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert "as it is: " in done.out, done.err
    assert (tmp_path / "out" / "m.tflite").read_bytes() == data
