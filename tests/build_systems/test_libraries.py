"""PlatformIO and Arduino: a generated folder is a library of both, with stand-ins for boards."""

import shutil
from pathlib import Path

from tests.support.checked_in import ARM, bare_metal, check, two_models
from tests.support.files import write_files
from tests.support.models import check_answers
from tests.support.platformio import platformio
from tests.support.processes import environment, output
from tests.support.tools import need
from tests.support.tree import ROOT

BOARDS = ROOT / "tests" / "support" / "stand_ins" / "arduino"
ARDUINO = Path("/usr/share/arduino-builder")
"""Where Debian has its settings."""
WARNINGS = "build_flags = -Wall -Wextra -Werror"
HOST = f"[env:host]\nplatform = board\n{WARNINGS}\n"
FIRMWARE = f"""\
[env:bare]
platform = board
custom_compilers = arm-none-eabi-
custom_link_flags = -mcpu=cortex-m33 -mthumb -nostdlib -T link.ld
{WARNINGS} -mcpu=cortex-m33 -mthumb -ffreestanding
"""
SKETCH = """\
#include <digits.h>
#include <odd_even.h>
extern "C" int answer(void);
void setup() {}
void loop() { answer(); }
"""
LEFT = "#error this file was left by an earlier plan\n"


def test_platformio_builds_models_that_run(tmp_path: Path) -> None:
    env = platformio(tmp_path / "core")
    project = as_library(two_models(tmp_path / "a b"), HOST)
    (project / "lib" / "generated" / "left.c").write_text(LEFT, encoding="utf-8")
    assert "doorbell_kernels.o" in output(["pio", "run"], project, env)
    check_answers(project / ".pio" / "build" / "host" / "app")
    assert "Compiling" not in output(["pio", "run"], project, env)


def test_a_firmware_of_platformio_has_its_pools_where_they_are_planned(tmp_path: Path) -> None:
    need(*ARM)
    env = platformio(tmp_path / "core")
    project = as_library(bare_metal(tmp_path / "bare"), FIRMWARE)
    output(["pio", "run"], project, env)
    check(project / "lib" / "generated", project / ".pio" / "build" / "bare" / "app")


def test_arduino_builds_models_that_run(tmp_path: Path) -> None:
    need("arduino-builder", "cc", "c++")
    project = two_models(tmp_path / "project")
    answer = (project / "main.c").read_text("utf-8").replace("int main(void)", "int answer(void);\nint answer(void)")
    write_files(tmp_path, {"sketch/sketch.ino": SKETCH, "sketch/answer.c": answer, "build/here": ""})
    (tmp_path / "libraries").mkdir()
    shutil.move(project / "generated", tmp_path / "libraries" / "doorbell")
    hardware = ("-hardware", ARDUINO, "-hardware", BOARDS, "-tools", ARDUINO, "-fqbn", "stand_in:host:host")
    folders = ("-libraries", tmp_path / "libraries", "-build-path", tmp_path / "build")
    output(["arduino-builder", "-compile", *hardware, *folders, tmp_path / "sketch" / "sketch.ino"], env=environment())
    check_answers(tmp_path / "build" / "app")


def as_library(project: Path, configuration: str) -> Path:
    """Let a project with `main.c` and `generated` be one of PlatformIO."""
    write_files(project, {"platformio.ini": configuration})
    (project / "src").mkdir()
    (project / "main.c").rename(project / "src" / "main.c")
    (project / "lib").mkdir()
    shutil.move(project / "generated", project / "lib" / "generated")
    return project
