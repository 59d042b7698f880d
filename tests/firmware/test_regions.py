"""examples/regions on its board: pools and buffers are where its manifest pins them, and the models run there."""

import json
import re
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.firmware import EXAMPLE, Board, build, on, run, symbols
from tests.support.tree import ROOT

REGIONS = ROOT / "examples" / "regions"
PLACES = {
    "dtcm": (0x20010000, "firmware_dtcm_pool"),
    "sram": (0x20200000, "firmware_sram_pool"),
    "psram": (0x60000400, "firmware_psram_pool"),
    "itcm": (0x00100000, "digits_itcm_constants"),
}

pytestmark = on("m7")


@pytest.fixture(scope="module")
def built(board: Board, tmp_path_factory: pytest.TempPathFactory, find: str) -> Path:
    """The folder that the program was built in; CHECK has looked at it."""
    folder = tmp_path_factory.mktemp("regions")
    build(board, folder, manifest=REGIONS / "usmp.toml", find=find)
    return folder


def test_the_models_read_digits(board: Board, built: Path) -> None:
    shown = run(board, built / "firmware.elf", EXAMPLE).out
    assert re.findall(r"\d, (?:odd|even)", shown)[:4] == ["0, even", "3, odd", "6, even", "9, odd"]


def test_pools_are_pinned(board: Board, built: Path) -> None:
    addresses = symbols(board, built / "firmware.elf")
    for pool, (address, symbol) in PLACES.items():
        assert addresses[f"__usmp_{pool}_start"][0] == addresses[symbol][0] == address
    assert (
        board.region_of(addresses["__usmp_itcm_load"][0])
        == board.region_of(addresses["__usmp_flash_start"][0])
        == "FLASH"
    )
    assert addresses["__usmp_flash_start"][0] % 1024 == 0


def test_buffers_are_where_rules_and_limits_put_them(board: Board, built: Path) -> None:
    plan = json.loads((built / "plan.usmp" / "plan.json").read_text("utf-8"))
    pools = {pool["name"]: pool for pool in plan["pools"]}
    place = {buffer["name"]: buffer["pool"] for buffer in plan["buffers"] if isinstance(buffer["pool"], str)}
    in_several = {buffer["name"]: {*buffer["pool"]} for buffer in plan["buffers"] if buffer["name"] not in place}
    assert pools["dtcm"]["limit"] == 512
    assert pools["sram"]["section"] == ".shared_sram"
    assert place["digits.digit_1/MatMul"] == "sram"
    assert [name for name, pool in place.items() if pool == "psram"] == ["digits.shapes_1/Relu"]
    assert {pool for name, pool in place.items() if name.startswith("digits.")} == {*pools}
    assert {"dtcm", "sram"} in in_several.values()


def test_the_image_is_as_planned(board: Board, built: Path) -> None:
    done = call("check", built / "plan.usmp", "--elf", built / "firmware.elf")
    assert (done.code, done.err) == (0, "")
    rows = re.findall(r"^(\w+) +(\S+) +(0x\w+) +([\d,]+)  (\w+)$", done.out, re.MULTILINE)
    assert [row[:3:2] for row in rows[:4]] == [(pool, f"0x{PLACES[pool][0]:08x}") for pool in PLACES]
    assert rows[1] == ("sram", ".shared_sram", "0x20200000", "384", "SRAM")
