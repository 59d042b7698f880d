"""Memories that cannot be as asked: each message names the pool, what does not go there, bytes, and a way out.

Each folder of tests/cases/memory is a manifest and what `usmp-build plan` says of it; USMP_BLESS=1 writes it anew.
"""

import os
import re
from pathlib import Path

import pytest

from tests.support.cli import call, succeed
from tests.support.tools import few
from tests.support.tree import ROOT

CASES = sorted((ROOT / "tests/cases/memory").glob("*/usmp.toml"))


@pytest.mark.parametrize("manifest", few(CASES, 4), ids=lambda path: path.parent.name)
def test_messages_are_as_recorded(manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(manifest.parent)
    done = call("plan")
    message = f"{done.err}exit code {done.code}\n"
    expected = manifest.with_name("expected.txt")
    if os.environ.get("USMP_BLESS"):
        expected.write_text(message, "utf-8", newline="\n")
    assert message == expected.read_text("utf-8")
    assert done.out == ""
    assert re.match(r"usmp\.toml:\d+:\d+: error\[[MP]\d{3}\]: ", message)
    assert "\nhelp: " in message


WAYS_OUT = {
    "a_limit_one_byte_too_small": ("size = 758", "size = 759"),
    "constants_one_byte_too_large": ("size = 5211", "size = 5212"),
    "a_reserve_one_byte_too_large": ("reserve = 3338", "reserve = 3337"),
    "a_pool_nobody_may_use": ('workspace_pools = ["sram"]', 'workspace_pools = ["sram", "tcm"]'),
    "two_pools_in_one_region": ("0x20000C00", "0x20001000"),
    "planned_bytes_that_run_into_the_next_pool": ("0x20000200", "0x20000300"),
    "a_place_for_an_operator_that_is_not_there": ("CONV2D", "CONV_2D"),
    "a_pin_to_a_pool_that_is_too_small": ("size = 1535", "size = 1536"),
    "two_models_alive_together": ('concurrent = [["digits", "odd_even"]]', ""),
    "a_cascade_of_models_alive_together": ('concurrent = [["detector", "expert"]]', ""),
}
"""What the messages advise."""


@pytest.mark.parametrize("case", few(WAYS_OUT, 3))
def test_the_way_out_is_one(case: str, tmp_path: Path) -> None:
    text = (ROOT / "tests/cases/memory" / case / "usmp.toml").read_text("utf-8")
    old, new = WAYS_OUT[case]
    assert old in text
    text = text.replace(old, new).replace("../../../data", (ROOT / "tests/data").as_posix())
    (tmp_path / "usmp.toml").write_text(text.replace("../../../../examples", (ROOT / "examples").as_posix()), "utf-8")
    succeed("plan", tmp_path / "usmp.toml")
