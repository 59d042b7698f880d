"""CMake: pools in their memory regions, and generated files that build without Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, answers, copy_project, need, touch, write_project

TARGETS = {
    "host": ("cc", "nm", "size", ["-DCMAKE_EXE_LINKER_FLAGS=-static"]),
    "arm": (
        "arm-none-eabi-gcc",
        "arm-none-eabi-nm",
        "arm-none-eabi-size",
        ["-DCMAKE_TOOLCHAIN_FILE=arm-none-eabi.cmake"],
    ),
}


@pytest.fixture(params=TARGETS)
def firmware(request: pytest.FixtureRequest, tmp_path: Path, find: str) -> tuple[Project, str, str]:
    """A configured firmware, and the names of nm and size for it."""
    compiler, nm, size, options = TARGETS[request.param]
    need("Unix Makefiles")
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    project = Project(source, tmp_path / "build, it")
    options = [option.replace("=arm", f"={source}/arm") for option in options]
    project.configure(find, PYTHON, *options)
    return project, nm, size


def test_pools_are_where_the_manifest_says(firmware: tuple[Project, str, str]) -> None:
    project, nm, size = firmware
    project.build()
    program = project.binary / "firmware"
    text = subprocess.run([nm, program], capture_output=True, text=True, check=True).stdout
    symbols = {name: int(value, 16) for value, name in re.findall(r"^([0-9a-f]+) \w (\S+)$", text, re.MULTILINE)}
    header = (project.generated / "bare.h").read_text()
    planned = {name: int(value) for name, value in re.findall(r"#define BARE_(\w+)_SIZE (\d+)", header)}
    assert symbols["bare_tcm_pool"] == symbols["__usmp_tcm_start"] == 0x30000000
    assert symbols["__usmp_tcm_size"] == planned["TCM"]
    assert symbols["__usmp_flash_size"] == planned["FLASH"]
    assert 0x400000 <= symbols["__usmp_flash_start"] < 0x410000
    sections = subprocess.run([size, "-A", program], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^\.usmp\.bare\.tcm\s+{planned['TCM']}\s", sections, re.MULTILINE)

    # Another fragment: link again.
    manifest = project.source / "usmp.toml"
    manifest.write_text(manifest.read_text().replace('region = "TCM"', 'region = "RAM"'))
    touch(manifest)
    assert project.build() == ["link firmware", "plan"]
    assert project.build() == []


def test_a_pool_that_does_not_fit_its_region_is_a_link_error(firmware: tuple[Project, str, str]) -> None:
    project, _, _ = firmware
    script = project.source / "link.ld"
    script.write_text(script.read_text().replace("LENGTH = 4K", "LENGTH = 1K"))
    code, text = project.try_to_build()
    assert code != 0
    assert re.search(r"region `TCM' overflowed by \d+ bytes", text)
    assert "section `.usmp.bare.tcm' will not fit in region `TCM'" in text


def test_pools_that_are_too_much_for_their_region_together(firmware: tuple[Project, str, str]) -> None:
    project, _, _ = firmware
    manifest = project.source / "usmp.toml"
    manifest.write_text(manifest.read_text().replace('"FLASH"', '"TCM"\nload_region = "FLASH"'))
    code, text = project.try_to_build()
    assert code != 0
    said = (
        r"usmp: pools tcm \(([\d,]+) bytes\) and flash \(([\d,]+) bytes\) need ([\d,]+) bytes, and region TCM has fewer"
    )
    found = re.search(said, text)
    assert found is not None, text
    tcm, flash, both = (int(number.replace(",", "")) for number in found.groups())
    assert tcm + flash == both > 4096


def test_a_pool_with_an_origin_is_placed_there_and_others_behind_it(firmware: tuple[Project, str, str]) -> None:
    project, nm, _ = firmware
    manifest = project.source / "usmp.toml"
    rest = '[pools.rest]\naccess = "rw"\nregion = "TCM"\n\n[pools.tcm]\nsize = 1024\norigin = 0x30000200\n'
    manifest.write_text(manifest.read_text().replace("[pools.tcm]\n", rest) + 'workspace_pools = ["tcm", "rest"]\n')
    project.build()
    text = subprocess.run([nm, project.binary / "firmware"], capture_output=True, text=True, check=True).stdout
    symbols = {name: int(value, 16) for value, name in re.findall(r"^([0-9a-f]+) \w (\S+)$", text, re.MULTILINE)}
    assert symbols["__usmp_tcm_start"] == 0x30000200
    assert symbols["__usmp_tcm_end"] <= symbols["__usmp_rest_start"] < symbols["__usmp_rest_end"] <= 0x30001000


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_an_image_that_is_not_as_planned_fails_the_build_until_it_is(tmp_path: Path, find: str, generator: str) -> None:
    need(generator)
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    project = Project(source, tmp_path / "build", generator)
    project.configure(find, PYTHON, f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake")
    script = source / "link.ld"
    good = script.read_text()
    script.write_text(good.replace("INCLUDE bare.ld", ""))
    for _ in range(2):  # a failure is not forgotten
        code, text = project.try_to_build()
        assert code != 0
        assert 'error[S621]: pool "tcm": section .usmp.bare.tcm is at 0x' in text
        assert "help: INCLUDE bare.ld in SECTIONS" in text
        assert "Traceback" not in text
    script.write_text(good)
    touch(script)
    code, text = project.try_to_build()
    assert code == 0, text
    assert "every pool is as planned" in text
    assert project.build() == []


def test_a_checked_in_folder_builds_without_python(tmp_path: Path) -> None:
    need("Unix Makefiles")
    models = {"digits/digits.tflite": "digits", "odd_even/odd_even.tflite": "odd_even"}
    source = copy_project("two_folders", tmp_path / "source", models)
    named = [f"--model={name}={source}/{name}/{name}.tflite" for name in ("digits", "odd_even")]
    assert call("generate", source / "usmp.toml", "--out", source / "generated", *named).code == 0
    write_project(
        source,
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.22)\nproject(doorbell C)\n"
            "find_package(usmp_build QUIET)\nif(usmp_build_FOUND)\nmessage(FATAL_ERROR found)\nendif()\n"
            "include(generated/usmp-targets.cmake)\n"
            "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE usmp::digits usmp::odd_even)\n"
            "usmp_link_pools_doorbell(app)\n"
            'get_target_property(size usmp::doorbell USMP_SRAM_SIZE)\nmessage("sram ${size}")\n'
        },
    )
    path = path_without_python(tmp_path / "bin")
    assert shutil.which("python", path=path) is shutil.which("python3", path=path) is None
    env = {name: value for name, value in os.environ.items() if "PYTHON" not in name and name != "VIRTUAL_ENV"}
    project = Project(source, tmp_path / "build", env=env | {"PATH": path})
    said = project.configure()
    assert re.search(r"^sram [1-9]\d+$", said, re.MULTILINE)
    assert "compile digits.c" in project.build()
    answer, expected = answers(project.binary / "app")
    assert answer == expected
    assert project.build() == []


def path_without_python(folder: Path) -> str:
    """A folder with all programs of PATH but Python's."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            if not re.match(r"py|usmp", program.name) and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return str(folder)


@pytest.mark.parametrize("checked_in", ["ON", "OFF"])
def test_floating_point_needs_no_further_library(tmp_path: Path, find: str, checked_in: str) -> None:
    need("Unix Makefiles")
    source = write_project(
        tmp_path / "source",
        {
            "usmp.toml": '[project]\nname = "p"\n[models.float_net]\npath = "DATA/float_net.tflite"\n',
            "app.c": '#include "float_net.h"\nint main(void) { return float_net_run() != USMP_OK; }\n',
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.22)\nproject(p C)\n"
            "if(CHECKED_IN)\ninclude(generated/usmp-targets.cmake)\nelse()\n"
            "find_package(usmp_build REQUIRED)\nusmp_add_manifest(plan MANIFEST usmp.toml)\nendif()\n"
            "add_executable(app app.c)\ntarget_link_libraries(app PRIVATE usmp::float_net)\n",
        },
    )
    assert call("generate", source / "usmp.toml", "--out", source / "generated").code == 0
    project = Project(source, tmp_path / "build")
    project.configure(find, PYTHON, f"-DCHECKED_IN={checked_in}")
    assert "link app" in project.build()
    assert subprocess.run([project.binary / "app"], check=False).returncode == 0
