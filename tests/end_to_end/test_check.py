"""`usmp-build check` from outside: what it prints, and its exit codes."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call, call_apart, manifest, one_model
from tests.support.linked_images import RAM, link, plan, pool
from tests.support.tools import need
from usmp_build.layout import PlanRecord
from usmp_build.layout.plan_json import plan_json


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with plan.json, the image that belongs to it, small.elf, and its map file, small.map."""
    link(tmp_path)
    write(tmp_path / "plan.json", plan())
    return tmp_path


def write(path: Path, record: PlanRecord) -> None:
    path.write_text(plan_json(record), "utf-8")


def test_an_image_as_planned(files: Path) -> None:
    done = call("check", files, "--elf", files / "small.elf", "--map", files / "small.map")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "every pool is as planned\n"
        "pool  section          address  bytes  region\n"
        "ram   .usmp.p.ram   0x20000000    256  RAM\n"
        "itcm  .usmp.p.itcm  0x00600000     64  ITCM\n"
    )


def test_an_image_that_is_not(files: Path) -> None:
    write(files / "plan.json", plan(RAM, pool("itcm", "ro", 60, region="ITCM", load_region="FLASH", alignment=1 << 16)))
    done = call("check", files / "plan.json", "--elf", files / "small.elf")
    assert (done.code, done.out) == (4, "")
    message = done.err.replace(str(files), "")
    assert message == (
        '/small.elf: error[S613]: pool "itcm": section .usmp.p.itcm at 0x00600000 has 64 bytes, planned are 60: '
        "4 bytes too many\n"
        "help: rebuild it from this plan, and put nothing else into its section\n"
    )


def not_a_plan(files: Path) -> None:
    (files / "plan.json").write_text("{}")


def a_plan_that_cannot_be(files: Path) -> None:
    path = files / "plan.json"
    path.write_text(path.read_text("utf-8").replace('"alignment": 16', '"alignment": 0'), "utf-8")


def a_cut_image(files: Path) -> None:
    (files / "small.elf").write_bytes((files / "small.elf").read_bytes()[:-200])


def no_image(files: Path) -> None:
    (files / "small.elf").write_text("int main(void);\n")


def no_map(files: Path) -> None:
    (files / "small.map").write_text("nothing\n")


@pytest.mark.parametrize(
    ("spoil", "code", "exit_code"),
    [
        (not_a_plan, "U223", 1),
        (a_plan_that_cannot_be, "U223", 1),
        (a_cut_image, "S611", 4),
        (no_image, "U221", 2),
        (no_map, "U222", 2),
    ],
)
def test_files_that_are_something_else(files: Path, spoil: object, code: str, exit_code: int) -> None:
    assert callable(spoil)
    spoil(files)
    done = call("check", files, "--elf", files / "small.elf", "--map", files / "small.map")
    assert done.code == exit_code
    assert re.search(rf"error\[{code}\]: .*\n(.* \| .*\n)*help: ", done.err)


def test_a_manifest_is_no_plan(files: Path) -> None:
    done = call("check", "usmp.toml", "--elf", files / "small.elf")
    assert done.code == 2
    assert done.err.startswith("usmp.toml: error[U214]: this is a manifest, not a plan\n")


def test_usage(files: Path) -> None:
    assert call("check", files).code == 2
    assert call("check", files, "--elf", files / "no.elf").code == 1
    done = call_apart("check", "--help")
    assert done.code == 0
    assert "--map FILE" in done.out


def test_a_program_of_the_host_without_a_linker_script(tmp_path: Path) -> None:
    """Nobody places its pools: that is what the check says."""
    need("gcc")
    folder = tmp_path / "generated"
    assert call("generate", manifest(tmp_path, one_model("digits")), "--out", folder).code == 0
    (tmp_path / "main.c").write_text('#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n')
    sources = [str(path) for path in sorted(folder.glob("*.c"))]
    command = ["gcc", f"-I{folder}", str(tmp_path / "main.c"), *sources, "-lm", "-o", str(tmp_path / "app")]
    subprocess.run(command, check=True)
    done = call("check", folder, "--elf", tmp_path / "app")
    assert done.code == 4
    assert re.findall(r"error\[(\w+)\]: pool \"(\w+)\"", done.err) == [("S621", "workspace"), ("S624", "workspace")]
    assert json.loads((folder / "plan.json").read_text("utf-8"))["pools"][0]["owner"] == "generated"
