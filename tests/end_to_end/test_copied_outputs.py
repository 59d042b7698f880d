"""Outputs that the model does not compute for themselves: inputs, outputs listed twice, views, constants, variables."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import RW, call, manifest, succeed, tables
from tests.support.host_c import COMPILERS, NO_SECTIONS, built, compile_folder
from tests.support.net import Net, Value
from tests.support.processes import run
from tests.support.remembering import RememberingNet
from tests.support.tools import needs_c

pytestmark = needs_c

EXAMPLE = """
model "echo"
subgraph 0 "main"
  %0 "x" int8[8] scale=0.5 zero=0
  %1 "weights" int8[4] scale=0.5 zero=0 = [11, 12, 13, 14]
  %2 "y" int8[8] scale=0.5 zero=0
  %3 "flat" int8[2,4] scale=0.5 zero=0
  inputs %0
  outputs %0, %2, %2, %3, %1
  %2 = RELU(%0)
  %3 = RESHAPE(%2)
"""
OUTPUTS = ("x_2", "y", "y_2", "flat", "weights")


def shown(net: Net) -> list[Value]:
    """An input, a result, the same twice, views of both, and a constant, in an order that mixes them."""
    x = net.input(4, 4, 2)
    y = net.conv(x, 3)
    flat, row = net.reshape(y, 1, 48), net.reshape(x, 1, 32)
    constant = net.constant(np.arange(6, dtype=np.int8).reshape(1, 6))
    return [y, x, flat, y, row, constant, net.sigmoid(y)]


@pytest.mark.slow
@pytest.mark.parametrize("io", ["pool", "application"])
def test_every_output_equals_tflm(tmp_path: Path, io: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    net = Net(1)
    (tmp_path / "m.tflite").write_bytes(net.file(*shown(net)))
    text = tables("p", {"ram": RW}, {"m": f'path = "m.tflite"\nio = "{io}"\n'})
    done = succeed("selftest", manifest(tmp_path, text), "--sanitize")
    compared = re.search(r"m: (\d+) tensors, 10 runs, all equal to those of TensorFlow Lite Micro", done.out)
    assert compared is not None
    assert int(compared[1]) == {"pool": 6, "application": 7}[io]  # seven outputs; in pools two of them are one tensor


@pytest.mark.slow
def test_a_variable_is_shown_as_the_run_leaves_it(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    net = RememberingNet(0)
    kept, given = net.input(4, 4, 2), net.input(4, 4, 2)
    value = net.add(given, kept)
    seen = net.sigmoid(kept)
    net.remember(value, {kept.index})
    (tmp_path / "m.tflite").write_bytes(net.file(seen, value, given))
    text = tables("p", {"ram": RW}, {"m": 'path = "m.tflite"\nio = "application"\n'})
    done = succeed("selftest", manifest(tmp_path, text), "--sanitize")
    assert "m: 4 tensors, 10 runs, all equal to those of TensorFlow Lite Micro" in done.out


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A manifest of the example, in arrays of the application."""
    (tmp_path / "echo.model.txt").write_text(EXAMPLE, encoding="utf-8")
    return manifest(tmp_path, tables("p", {"ram": RW}, {"echo": 'path = "echo.model.txt"\nio = "application"\n'}))


def test_arrays_of_the_caller_are_filled_and_nothing_beside_them(echo: Path, tmp_path: Path) -> None:
    generated = tmp_path / "generated"
    assert call("generate", echo, "--out", generated).code == 0
    arrays = "\n".join(
        f"    static struct {{ int8_t before[8]; int8_t data[ECHO_{name.upper()}_SIZE]; int8_t after[8]; }} {name};"
        for name in OUTPUTS
    )
    shows = "\n".join(f"    show((const int8_t *)&{name}, sizeof {name});" for name in OUTPUTS)
    main = f"""
#include <stdio.h>
#include "echo.h"
static void show(const int8_t *data, size_t size)
{{
    for (size_t i = 0; i < size; ++i) {{
        printf("%d ", data[i]);
    }}
}}
int main(void)
{{
    static const int8_t x[8] = {{ -4, 3, -2, 1, 0, 5, -6, 7 }};
{arrays}
    const struct echo_inputs inputs = {{ x }};
    const struct echo_outputs outputs = {{ {", ".join(f"{name}.data" for name in OUTPUTS)} }};
    if (echo_run(&inputs, &outputs) != USMP_OK) {{
        return 1;
    }}
{shows}
    return 0;
}}
"""
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    done = run([built(generated, tmp_path, main, "cc", *sanitize)])
    assert done.code == 0, done.err
    x = np.array([-4, 3, -2, 1, 0, 5, -6, 7], np.int8)
    y, weights, guard = np.maximum(x, 0), np.array([11, 12, 13, 14], np.int8), np.zeros(8, np.int8)
    expected = [part for data in (x, y, y, y, weights) for part in (guard, data, guard)]
    assert done.out.split() == [str(value) for value in np.concatenate(expected)]


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
def test_it_compiles_without_a_warning(echo: Path, tmp_path: Path, compiler: str, standard: str) -> None:
    generated = tmp_path / "generated"
    assert call("generate", echo, "--out", generated).code == 0
    compile_folder(generated, compiler, standard, NO_SECTIONS)


def test_headers_say_which_outputs_are_the_same_bytes(echo: Path, tmp_path: Path) -> None:
    echo.write_text(echo.read_text("utf-8").replace('"application"', '"pool"'), "utf-8")
    assert call("generate", echo, "--out", tmp_path / "generated").code == 0
    header = (tmp_path / "generated" / "echo.h").read_text("utf-8")
    assert " * Output x_2 is input x.\n * Outputs y and y_2 are the same bytes.\n" in header
