"""`init --from-tvmc`: from a command line of TVMC to a plan, without a look into the manual."""

from pathlib import Path
from shlex import quote

import pytest
import tomli

from tests.support.cli import DATA, call, planned, says

TWO_POOLS = (
    "--workspace-pools=dtcm,sram --workspace-pools-targets=dtcm:c --workspace-pools-targets=sram:c "
    "--workspace-pools-size-hint-bytes=dtcm:700"
)


def test_the_plan_uses_the_pools_as_tvm_would(tmp_path: Path) -> None:
    target = tmp_path / "usmp.toml"
    line = f"tvmc compile --target=c {TWO_POOLS} --module-name=reader -o out.tar {quote(str(DATA / 'digits.tflite'))}"
    assert call("init", "--out", target, "--from-tvmc", line).code == 0
    plan = planned(target)
    assert [model["name"] for model in plan["models"]] == ["reader"]
    assert [(pool["name"], pool["limit"]) for pool in plan["pools"]][:2] == [("dtcm", 700), ("sram", None)]
    assert all(pool["size"] for pool in plan["pools"])
    assert not [buffer for buffer in plan["buffers"] if buffer["kind"] in ("input", "output")]


@pytest.mark.slow
def test_inputs_and_outputs_go_to_the_pools_when_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "usmp.toml"
    flags = f"{TWO_POOLS} --pass-config tir.usmp.use_workspace_io=1"
    assert call("init", DATA / "digits.tflite", "--out", target, "--from-tvmc", flags).code == 0
    plan = planned(target)
    assert len([buffer for buffer in plan["buffers"] if buffer["kind"] in ("input", "output")]) == 2


def test_a_model_that_is_elsewhere_keeps_its_table(tmp_path: Path) -> None:
    target = tmp_path / "usmp.toml"
    assert call("init", "--out", target, "--from-tvmc", "compile --target c nowhere/kws.tflite").code == 0
    text = target.read_text("utf-8")
    assert tomli.loads(text)["models"]["kws"]["path"].endswith("nowhere/kws.tflite")
    assert "# not read: cannot read" in text
    assert "error[M101]" in call("plan", target).err


def test_one_flag_is_a_command_line_too(tmp_path: Path) -> None:
    done = call(
        "init", DATA / "digits.tflite", "--out", tmp_path / "usmp.toml", "--from-tvmc", "--workspace-pools=sram"
    )
    says(done, 2, "--workspace-pools-targets=sram:c")


def test_nothing_is_not_enough(tmp_path: Path) -> None:
    done = call("init", "--out", tmp_path / "usmp.toml")
    assert (done.code, "error[U224]" in done.err) == (2, True)
