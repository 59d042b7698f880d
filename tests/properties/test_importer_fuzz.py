"""Whatever bytes it is given, the importer returns a model or raises ModelError, after bounded work.

USMP_FUZZ is the number of damaged files to try; nothing about them depends on the machine or the day.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Model

ROOT = Path(__file__).parents[2]
COUNT = int(os.environ.get("USMP_FUZZ", "400"))
CASES_PER_TEST = 100


def everything() -> bytes:
    """A small file with something of all that is read: most of its bytes matter."""
    weights = tensor("w", [2, 2], Buffer=1, Quantization=quantization([0.5, 0.25], [0, 0], 0))
    loop = operator("WHILE", [0], [3], Node("WhileOptions", CondSubgraphIndex=1, BodySubgraphIndex=2))
    add = operator("ADD", [3, 1], [2], Node("AddOptions", FusedActivationFunction=1))
    main = subgraph([tensor("x"), weights, tensor("y"), tensor("z")], [loop, add], [0], [2])
    condition = subgraph([tensor(), tensor("flag", [], "BOOL")], [operator("CUSTOM:Test", [0, -1], [1])], [0], [1])
    body = subgraph([tensor(), tensor(), tensor("state", IsVariable=True)], [operator("MUL", [0, 2], [1])], [0], [1])
    entry = Node("TensorMap", Name="input", TensorIndex=0)
    return write(model(main, condition, body, data=[b"abcd"], SignatureDefs=[Node("SignatureDef", Inputs=[entry])]))


FILES = [everything(), *(path.read_bytes() for path in sorted((ROOT / "tests" / "data").glob("*.tflite")))]

Damage = Callable[[bytearray, np.random.Generator], None]


def cut(data: bytearray, random: np.random.Generator) -> None:
    del data[random.integers(len(data)) :]


def flip_bits(data: bytearray, random: np.random.Generator) -> None:
    for _ in range(random.integers(1, 9)):
        data[random.integers(len(data))] ^= 1 << random.integers(8)


def overwrite_words(data: bytearray, random: np.random.Generator) -> None:
    for _ in range(random.integers(1, 5)):
        at = 4 * int(random.integers(len(data) // 4))
        word = random.choice([0, 1, 2, 127, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data), random.integers(1 << 32)])
        data[at : at + 4] = int(word).to_bytes(4, "little")


def move_words(data: bytearray, random: np.random.Generator) -> None:
    """Offsets that point to the wrong but sound place."""
    source, target = (4 * int(at) for at in random.integers(len(data) // 4, size=2))
    length = 4 * int(random.integers(1, 9))
    piece = data[source : source + length]
    data[target : target + len(piece)] = piece


def randomize_tail(data: bytearray, random: np.random.Generator) -> None:
    at = int(random.integers(8, len(data)))
    data[at:] = random.bytes(len(data) - at)


DAMAGES: list[Damage] = [cut, flip_bits, overwrite_words, overwrite_words, move_words, randomize_tail]


@pytest.mark.parametrize("first", range(0, COUNT, CASES_PER_TEST))
def test_damaged_files(first: int) -> None:
    for seed in range(first, min(first + CASES_PER_TEST, COUNT)):
        random = np.random.default_rng(seed)
        data = bytearray(FILES[seed % len(FILES)])
        DAMAGES[random.integers(len(DAMAGES))](data, random)
        import_or_refuse(bytes(data))


@given(st.binary(max_size=200))
def test_random_files(tail: bytes) -> None:
    import_or_refuse(b"\x08\0\0\0TFL3" + tail)


@given(st.dictionaries(st.integers(0, len(FILES[0]) - 1), st.integers(0, 255), max_size=6))
def test_changed_bytes(changes: dict[int, int]) -> None:
    data = bytearray(FILES[0])
    for at, value in changes.items():
        data[at] = value
    import_or_refuse(bytes(data))


@pytest.mark.parametrize("width", [10, 100, 1000])
def test_file_that_refers_to_itself_over_and_over(width: int) -> None:
    """A few kilobytes that describe `width` squared tensors."""
    main = subgraph([tensor("t")] * width)
    data = write(model(*[main] * width))
    assert len(data) < 10_000
    imported = import_or_refuse(data)
    assert bool(imported) == (width == 10)


def test_buffers_that_overlap() -> None:
    """Half a megabyte of ranges that come to 10 GB."""
    ranges = [Node("Buffer", Offset=4 + i, Size=400_000) for i in range(20_000)]
    tensors = [tensor(str(i), [400_000], Buffer=i) for i in range(1, 1000)]
    data = write(model(subgraph(tensors), Buffers=ranges))
    with pytest.raises(ModelError, match="T204"):
        import_tflite(data, "m", "m.tflite")


def test_long_names_that_are_shared() -> None:
    """A quarter of a megabyte that comes to gigabytes of names."""
    name = "n" * 100_000
    tensors = [Node("Tensor", Name=name) for _ in range(5000)]
    with pytest.raises(ModelError, match="T204"):
        import_tflite(write(model(subgraph(tensors))), "m", "m.tflite")


def test_long_custom_code_that_is_shared() -> None:
    """One text, however many operators use it."""
    operators = [operator("CUSTOM:" + "c" * 100_000, [], []) for _ in range(10)]
    result = import_tflite(write(model(subgraph([], operators))), "m", "m.tflite")
    assert len({id(op.kind) for op in result.main.operators}) == 1


def import_or_refuse(data: bytes) -> Model | None:
    try:
        result = import_tflite(data, "m", "m.tflite")
    except ModelError as error:
        refusal = error
    else:
        parts = sum(len(subgraph.tensors) + len(subgraph.operators) for subgraph in result.subgraphs)
        assert parts <= len(data) // 4 + 4096
        return result
    assert len(refusal.diagnostics) == 1
    assert str(refusal).startswith("m.tflite: error[T2")
    return None
