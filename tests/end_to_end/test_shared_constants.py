"""Two models with the same weights: stored once, wherever their manifests let them be, and every tensor still right."""

import re
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, RO, RW, call, manifest, planned, succeed, tables
from tests.support.tools import few, needs_c

POOLS = tables("twins", {"ram": RW, "itcm": RO, "flash": RO}, {})
ONE, OTHER = (f"\n[models.{name}]\n{DIGITS}" for name in ("one", "other"))
IN_FLASH = 'constant_pools = ["flash"]\n'
PINNED = '\n[[models.one.place]]\ntensors = "*"\npools = ["itcm"]\n'


def constants(folder: Path, text: str) -> dict[str, int]:
    """Bytes of each constant pool, and what repeats."""
    record = planned(manifest(folder, text))
    sizes = {pool["name"]: pool["size"] for pool in record["pools"] if pool["access"] == "ro"}
    return sizes | {"repeated": record["repeated_constants"]}


@pytest.mark.long
def test_the_same_weights_are_stored_once(tmp_path: Path) -> None:
    alone, twice = constants(tmp_path, POOLS + ONE), constants(tmp_path, POOLS + ONE + OTHER)
    assert twice["itcm"] == alone["itcm"]
    assert twice["repeated"] > alone["repeated"]


@pytest.mark.long
def test_across_pools_they_are_where_both_may_be(tmp_path: Path) -> None:
    alone = constants(tmp_path, POOLS + ONE)
    together = constants(tmp_path, POOLS + ONE + OTHER + IN_FLASH)
    assert (together["itcm"], together["flash"]) == (0, alone["itcm"])


@pytest.mark.slow
def test_a_rule_of_place_keeps_its_word(tmp_path: Path) -> None:
    """What is pinned elsewhere is there twice; what no rule speaks of, such as derived constants, is shared."""
    sizes = constants(tmp_path, POOLS + ONE + OTHER + IN_FLASH + PINNED)
    assert sizes["itcm"] > 0 < sizes["flash"]


@pytest.mark.long
def test_the_table_says_what_it_saves(tmp_path: Path) -> None:
    out = call("plan", manifest(tmp_path, POOLS + ONE + OTHER)).out
    assert "if each tensor had its own: equal ones save 5,2" in out


def equal_biases(layers: int) -> str:
    """FULLY_CONNECTED after FULLY_CONNECTED: unlike weights, and biases that are all zero."""
    tensors, operators = ['  %0 "x" int8[1,2] scale=1.0 zero=0\n'], []
    for layer in range(layers):
        w, bias, y = range(3 * layer + 1, 3 * layer + 4)
        tensors += [
            f'  %{w} "weights {layer}" int8[2,2] scale=0.5 zero=0 = [{layer}, 1, 2, 3]\n',
            f'  %{bias} "bias*/{layer}" int32[2] scale=0.5 zero=0 = [0, 0]\n',
            f'  %{y} "y{layer}" int8[1,2] scale=1.0 zero=0\n',
        ]
        operators.append(f"  %{y} = FULLY_CONNECTED(%{max(w - 1, 0)}, %{w}, %{bias}) @{layer}\n")
    ends = f"  inputs %0\n  outputs %{3 * layers}\n"
    return "".join(['model "m"\nsubgraph 0 "main"\n', *tensors, ends, *operators])


@pytest.mark.parametrize(
    ("layers", "ending"),
    [
        (2, "also m.bias*/1"),
        (17, ", m.bias*/15, m.bias*/16"),
        (20, ", m.bias*/15, m.bias*/16 and 3 more"),
    ],
)
def test_comments_name_the_tensors_that_a_constant_stands_for(tmp_path: Path, layers: int, ending: str) -> None:
    (tmp_path / "m.model.txt").write_text(equal_biases(layers), encoding="utf-8")
    text = tables("p", {}, {"m": 'path = "m.model.txt"\n'})
    assert call("generate", manifest(tmp_path, text), "--out", tmp_path / "out").code == 0
    for file in ("m_constants.h", "p_pools.c"):
        code = (tmp_path / "out" / file).read_text()
        (comment,) = re.findall(r"/\* (m\.bias.*?) \*/", code, re.DOTALL)
        message = comment.replace("\n     * ", " ").replace("* /", "*/")
        assert message.startswith("m.bias*/0, of the model; also m.bias*/1")
        assert message.endswith(ending)
        assert max(map(len, code.splitlines())) <= 120


@needs_c
@pytest.mark.parametrize(
    "extra", few(["", IN_FLASH, IN_FLASH + PINNED], 1), ids=["same pools", "across pools", "pinned"]
)
@pytest.mark.long
def test_shared_constants_compute_the_same(tmp_path: Path, extra: str) -> None:
    succeed("selftest", manifest(tmp_path, POOLS + ONE + OTHER + extra), "--sanitize", "--runs", "5")
