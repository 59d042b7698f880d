"""Constants of the application as files: exchanged alone where they belong to the code, refused where they do not."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from tests.support.cli import DATA, call, call_apart, manifest, says, succeed
from tests.support.host_c import built
from tests.support.stateful import svdf
from tests.support.tools import few, need
from tests.support.tree import text_file
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import DType, Model, Tensor
from usmp_build.textual.text import write

PLAN = """
[project]
name = "p"
[pools.weights]
access = "ro"
owner = "application"
[models.digits]
path = "digits.model.txt"
"""

MAIN = text_file("seals.c")

Change = Callable[[Tensor], Tensor]


def same(tensor: Tensor) -> Tensor:
    return tensor


def retrained(tensor: Tensor) -> Tensor:
    """Other weights, and other scales of them; their biases are in the same places, and zero."""
    if tensor.data is None or tensor.quantization is None:
        return tensor
    if tensor.dtype is DType.INT32:
        return replace(tensor, data=bytes(len(tensor.data)))
    scales = tuple(float(np.float32(scale * 1.25)) for scale in tensor.quantization.scales)
    quantization = replace(tensor.quantization, scales=scales)
    return replace(tensor, data=tensor.data[::-1], quantization=quantization)


def rescaled(tensor: Tensor) -> Tensor:
    """Other weights, and other scales of them and of their biases, as a converter makes them."""
    if tensor.data is None or tensor.quantization is None:
        return tensor
    scales = tuple(float(np.float32(scale * 0.75)) for scale in tensor.quantization.scales)
    data = np.roll(tensor.as_array().reshape(-1), 1).tobytes()
    return replace(tensor, data=data, quantization=replace(tensor.quantization, scales=scales))


def calibrated(tensor: Tensor) -> Tensor:
    """Another zero point of the last layer's sums, which is a number in the code."""
    if tensor.name.endswith("digit_1/BiasAdd") and tensor.data is None and tensor.quantization:
        return replace(tensor, quantization=replace(tensor.quantization, zero_points=(11,)))
    return tensor


def generated(folder: Path, change: Change, plan: str = PLAN, source: Path = DATA / "digits.tflite") -> Path:
    """Generate the code of the model with changed tensors."""
    folder.mkdir()
    model: Model = import_tflite(source.read_bytes(), source.stem, "")
    tensors = tuple(map(change, model.main.tensors))
    changed = replace(model, subgraphs=(replace(model.main, tensors=tensors),))
    (folder / f"{source.stem}.model.txt").write_text(write(changed), encoding="utf-8")
    succeed("generate", manifest(folder, plan), "--out", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("seals")
    return built(generated(home / "plan", same), home, MAIN, "gcc", "-fsanitize=address,undefined")


def run(program: Path, weights: Path) -> tuple[str, bytes]:
    """Return what the program says of the weights, and its results."""
    done = subprocess.run([program, weights], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    message, _, results = done.stdout.partition(b"\n")
    return message.decode(), results


def code(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.suffix in {".c", ".h"}}


@pytest.mark.slow
def test_weights_are_exchanged_without_the_code(program: Path, tmp_path: Path) -> None:
    other = generated(tmp_path / "plan", retrained)
    assert code(other) == code(program.parent / "plan" / "out")
    message, results = run(program, other / "p_weights.bin")
    assert (message, len(results)) == ("1 0 0", 100)
    own = built(other, tmp_path, MAIN)
    assert run(own, other / "p_weights.bin") == (message, results)
    assert run(program, program.parent / "plan" / "out" / "p_weights.bin")[1] != results


def runner(generated: Path, name: str) -> Path:
    """Build the program for another model of one input and one output."""
    main = MAIN.replace("digits", name).replace("DIGITS", name.upper())
    members = re.findall(r"\bint8_t \*(\w+);", (generated / f"{name}.h").read_text())
    for word, member in zip(("image", "scores"), members, strict=True):
        main = main.replace(f"_{word.upper()}_", f"_{member.upper()}_").replace(f".{word}", f".{member}")
    if name.startswith("svdf"):
        main = main.replace("    for (int run", f"    (void){name}_reset(&constants);\n    for (int run")
    return built(generated, generated.parent, main, "gcc", "-fsanitize=address,undefined")


@pytest.mark.slow
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few(["odd_even", "kws", "svdf_s8", "svdf_s16"], 1))
def test_layers_with_one_scale_of_weights_are_exchanged(
    tmp_path: Path, request: pytest.FixtureRequest, name: str
) -> None:
    """Last layers of networks, and layers that remember: the scale of their weights is no number in the code."""
    source = DATA / f"{name}.tflite"
    if name == "kws":
        source = request.getfixturevalue("real_models") / source.name
    if name.startswith("svdf"):
        source = tmp_path / source.name
        source.write_bytes(svdf(np.random.default_rng(5), "INT8" if name == "svdf_s8" else "INT16"))
    plan = PLAN.replace("digits", name)
    old, new = (generated(tmp_path / change.__name__, change, plan, source) for change in (same, rescaled))
    assert code(old) == code(new)
    programs = [runner(folder, name) for folder in (old, new)]
    message, results = run(programs[0], new / "p_weights.bin")
    assert message == "1 0 0"
    assert (message, results) == run(programs[1], new / "p_weights.bin")
    assert results != run(programs[0], old / "p_weights.bin")[1]


def test_constants_of_other_code_are_refused(program: Path, tmp_path: Path) -> None:
    other = generated(tmp_path / "plan", calibrated)
    assert code(other) != code(program.parent / "plan" / "out")
    assert run(program, other / "p_weights.bin") == ("1 4 4", b"")


def test_comments_make_no_other_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest's name and our version are in comments alone."""
    old = generated(tmp_path / "plan", same)
    monkeypatch.setattr("usmp_build.__version__", "99.9")
    (tmp_path / "plan" / "usmp.toml").rename(tmp_path / "plan" / "another.toml")
    succeed("generate", tmp_path / "plan" / "another.toml", "--out", tmp_path / "out")
    assert "99.9 from" in (tmp_path / "out" / "p.h").read_text()
    assert (tmp_path / "out" / "p_weights.bin").read_bytes() == (old / "p_weights.bin").read_bytes()


@pytest.mark.long
def test_an_update_names_all_models(tmp_path: Path) -> None:
    """Of a plan of several models, of which one was trained anew; without the others it would be of another plan."""
    text = PLAN.replace('"p"', '"doorbell"').replace("digits", "kws")
    text += f'[models.vad]\npath = "{(DATA / "odd_even.tflite").as_posix()}"\n'
    manifest(tmp_path, text)
    for name, change in (("kws", same), ("retrained", retrained)):
        files = generated(tmp_path / change.__name__, change)
        (files.parent / "digits.model.txt").rename(tmp_path / f"{name}.model.txt")
    arguments = ["generate", "--model", "kws=retrained.model.txt", "--model", "vad", "--out", "update"]
    for line in (["generate", "--out", "released"], arguments):
        assert call_apart(*line, cwd=tmp_path).code == 0
    assert code(tmp_path / "update") == code(tmp_path / "released")
    old, new = ((tmp_path / folder / "doorbell_weights.bin").read_bytes() for folder in ("released", "update"))
    assert old[:8] == new[:8]
    assert old[16:] != new[16:]
    assert call_apart("generate", "--model", "kws=retrained.model.txt", "--out", "alone", cwd=tmp_path).code == 0
    assert (tmp_path / "alone" / "doorbell_weights.bin").read_bytes()[:8] != old[:8]


@pytest.mark.parametrize("bit", [3, 70, 100, 128, 8 * 4000 + 5, -1], ids=str)
def test_one_flipped_bit_is_detected(program: Path, tmp_path: Path, bit: int) -> None:
    """A run sees that of the id; at start-up all are seen."""
    data = bytearray((program.parent / "plan" / "out" / "p_weights.bin").read_bytes())
    bit %= 8 * len(data)
    data[bit // 8] ^= 1 << bit % 8
    (tmp_path / "damaged.bin").write_bytes(data)
    message, _ = run(program, tmp_path / "damaged.bin")
    assert message == ("1 4 4" if bit < 64 else "1 4 0")


def test_what_the_files_hold(tmp_path: Path) -> None:
    folder = generated(tmp_path / "plan", same)
    data = (folder / "p_weights.bin").read_bytes()
    assert data[8:12] == crc32(data[12:]).to_bytes(4, "little")
    assert data[12:16] == len(data).to_bytes(4, "little")
    assert f"_ID UINT64_C(0x{int.from_bytes(data[:8], 'little'):016x})\n" in (folder / "p.h").read_text()
    lines = (folder / "p_weights.inc").read_text().splitlines()
    values = "".join(line for line in lines if line[0].isdigit()).removesuffix(",").split(",")
    assert bytes(map(int, values)) == data
    model = import_tflite((DATA / "digits.tflite").read_bytes(), "digits", "")
    filled = sum(len(t.data) for t in model.main.tensors if t.data and t.dtype is DType.INT8)
    assert filled < len(data) < 2 * filled


def test_macros_say_what_to_allocate(tmp_path: Path) -> None:
    folder = generated(tmp_path / "plan", same)
    size = (folder / "p_weights.bin").stat().st_size
    assert f"#define P_WEIGHTS_SIZE {size}\n" in (folder / "p.h").read_text()
    assert f"#define DIGITS_WEIGHTS_CONSTANT_POOL_SIZE {size}\n" in (folder / "digits.h").read_text()


def test_each_pool_has_an_id_of_its_own(tmp_path: Path) -> None:
    text = PLAN.replace("[models", '[pools.more]\naccess = "ro"\nowner = "application"\n[models')
    (tmp_path / "digits.model.txt").write_text(
        write(import_tflite((DATA / "digits.tflite").read_bytes(), "digits", "")), encoding="utf-8"
    )
    succeed("generate", manifest(tmp_path, text), "--out", tmp_path / "out")
    one, two = ((tmp_path / "out" / f"p_{pool}.bin").read_bytes() for pool in ("weights", "more"))
    assert one[:8] != two[:8]
    assert len(two) == 16  # nothing but the seal
    assert "more" not in (tmp_path / "out" / "digits.h").read_text()


def test_the_seal_counts(tmp_path: Path) -> None:
    text = PLAN.replace('"application"\n', '"application"\nsize = 1\n')
    (tmp_path / "digits.model.txt").write_text(
        write(import_tflite((DATA / "digits.tflite").read_bytes(), "digits", "")), encoding="utf-8"
    )
    done = call("plan", manifest(tmp_path, text))
    assert done.code == 3
    folder = generated(tmp_path / "plan", same)
    size = (folder / "p_weights.bin").stat().st_size
    (tmp_path / "usmp.toml").write_text(text.replace("size = 1", f"size = {size - 1}"))
    says(call("plan", tmp_path / "usmp.toml"), 3, 'enlarge "weights" by 1 byte')
    assert call("explain", "p.weights_seal", tmp_path / "plan" / "usmp.toml").out.startswith("p.weights_seal: constant")


def compile_pools(folder: Path, compiler: str, *flags: str) -> str:
    """Return what the compiler says of the file with the pools."""
    command = [compiler, "-std=c99", "-fsyntax-only", *flags, "p_pools.c"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


def test_big_endian_processors_are_refused(tmp_path: Path) -> None:
    need("arm-none-eabi-gcc")
    folder = generated(tmp_path / "plan", same)
    assert compile_pools(folder, "arm-none-eabi-gcc", "-mcpu=cortex-m3") == ""
    message = compile_pools(folder, "arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mbig-endian")
    assert "constant pools of the application are little-endian, and this processor is not" in message


def test_constants_that_reach_out_of_their_pool_do_not_compile(tmp_path: Path) -> None:
    folder = generated(tmp_path / "plan", same)
    assert compile_pools(folder, "gcc") == ""
    header = (folder / "digits_constants.h").read_text()
    assert "_OFFSET 16\n" in header
    (folder / "digits_constants.h").write_text(header.replace("_OFFSET 16\n", "_OFFSET 20\n"))
    assert "digits_weights_constants_is_inside" in compile_pools(folder, "gcc")


def test_build_systems_know_the_files(tmp_path: Path) -> None:
    folder = generated(tmp_path / "plan", same)
    listed = call("outputs", tmp_path / "plan" / "usmp.toml").out.split("\n")
    assert sorted(line.partition("\t")[2] for line in listed if line) == sorted(p.name for p in folder.iterdir())
    targets = (folder / "usmp-targets.cmake").read_text()
    assert 'USMP_WEIGHTS_BINARY "${CMAKE_CURRENT_LIST_DIR}/p_weights.bin"' in targets
    assert "P_WEIGHTS_BINARY := $(P_DIR)/p_weights.bin" in (folder / "usmp.mk").read_text()
    labels = (folder / "BUILD.bazel").read_text()
    assert '"p_weights.bin",' in labels
    assert '"p_weights.inc",' in labels


def test_differences_of_bytes_are_told(tmp_path: Path) -> None:
    folder = generated(tmp_path / "plan", same)
    (folder / "p_weights.bin").write_bytes(b"\0")
    done = call("generate", tmp_path / "plan" / "usmp.toml", "--out", folder, "--diff")
    assert (done.code, done.out) == (4, "p_weights.bin differs\n")
