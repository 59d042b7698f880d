"""What the examples are about, apart from being built: their plans, every tensor of them, and the list of them all."""

import re
import runpy
from itertools import pairwise

import pytest
import tomli

from tests.support.cli import call, planned, succeed
from tests.support.tree import ROOT

EXAMPLES = ROOT / "examples"
ACCELERATOR, CASCADE, DEFAULTS, PORTS = (EXAMPLES / name for name in ("accelerator", "cascade", "defaults", "ports"))
FUNCTIONS = ["meter_npu_conv_2d_s8", "meter_npu_copy", "meter_npu_depthwise_conv_2d_s8"]


def test_every_example_is_in_the_list() -> None:
    listed = re.findall(r"(?m)^\| \[(\w+)\]\(\1/README\.md\)", (EXAMPLES / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


@pytest.mark.slow
def test_every_tensor_of_the_accelerator_is_bit_exact() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", ACCELERATOR / "usmp.toml", "--source", ACCELERATOR / "npu.c", "--sanitize")
    assert "8 tensors, 10 runs, all equal to those of TensorFlow Lite Micro" in done.out


def test_each_memory_holds_what_its_processor_touches() -> None:
    plan = planned(ACCELERATOR / "usmp.toml")
    assert plan["models"][0]["extern_functions"] == FUNCTIONS
    scratch = [buffer for buffer in plan["buffers"] if buffer["kind"] == "scratch"]
    assert len(scratch) == 4
    for buffer in scratch:
        assert (buffer["pool"], buffer["size"], buffer["alignment"]) == ("npu_sram", 256, 16)
    ports = [buffer["pool"] for buffer in plan["buffers"] if buffer["kind"] in ("input", "output")]
    assert ports == ["sram", "sram"]


@pytest.mark.slow
def test_every_tensor_of_the_cascade_is_bit_exact() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", CASCADE / "usmp.toml", "--sanitize")
    assert "expert: 3 tensors, 10 runs, all equal to those of TensorFlow Lite Micro" in done.out


def test_the_listener_is_in_the_way() -> None:
    """It uses bytes of both others, and none of what goes from one to the other."""
    buffers = planned(CASCADE / "usmp.toml")["buffers"]
    (between,) = [b for b in buffers if b["kind"] == "connection"]
    assert (between["model"], between["shared_with"]) == ("detector", ["expert"])
    own = [b for b in buffers if b["model"] == "listener" and b["pool"] == "sram"]
    assert all(b["offset"] >= ends(between) or between["offset"] >= ends(b) for b in own)
    for model in ("detector", "expert"):
        others = [b for b in buffers if b["model"] == model and b["pool"] == "sram" and b is not between]
        assert any(b["offset"] < ends(c) and c["offset"] < ends(b) for b in own for c in others)


def ends(buffer: dict[str, int]) -> int:
    return buffer["offset"] + buffer["size"]


def test_nothing_is_declared_where_nothing_should_be() -> None:
    plan = planned(DEFAULTS / "usmp.toml")
    assert [(pool["name"], pool["limit"]) for pool in plan["pools"]] == [("workspace", None), ("constants", None)]
    assert set(tomli.loads((DEFAULTS / "usmp.toml").read_text("utf-8"))) == {"project", "models"}


def test_all_inputs_and_all_outputs_are_there_at_once() -> None:
    plan = planned(PORTS / "usmp.toml")
    for kind, count in (("input", 2), ("output", 4)):
        ports = [buffer for buffer in plan["buffers"] if buffer["kind"] == kind]
        places = sorted((port["offset"], port["offset"] + port["size"]) for port in ports)
        assert len(places) == count
        assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_the_price_of_inputs_that_stay_is_told() -> None:
    message = 'inputs = "preserved" costs 240 bytes of workspace'
    assert message in call("plan", PORTS / "usmp.toml").out
    assert "costs 240 bytes" in (PORTS / "README.md").read_text("utf-8")


def test_the_expected_answers_are_current() -> None:
    header = runpy.run_path(str(PORTS / "make_expected.py"))["text"]()
    assert (PORTS / "expected.h").read_text("utf-8") == header
