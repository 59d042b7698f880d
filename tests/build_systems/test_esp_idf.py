"""ESP-IDF: a generated folder is a component, against a stand-in for its build system, on this machine."""

import shutil
from pathlib import Path

import pytest

from tests.support.checked_in import two_models
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import copy_project, write_files
from tests.support.models import check_answers
from tests.support.tree import ROOT

STAND_IN = ROOT / "tests" / "support" / "stand_ins" / "esp_idf"
LISTS = f"""\
cmake_minimum_required(VERSION 3.22)
include({STAND_IN}/tools/cmake/project.cmake)
project(firmware)
"""
COMPONENT = 'idf_component_register(SRCS main.c INCLUDE_DIRS "." REQUIRES doorbell)\n'
PLANNED = """\
idf_component_register(SRCS main.c INCLUDE_DIRS ".")
find_package(usmp_build CONFIG REQUIRED)
usmp_add_manifest(plan MANIFEST usmp.toml)
target_link_libraries(${COMPONENT_LIB} PRIVATE usmp::digits usmp::odd_even)
"""
WRAPPED = """\
idf_component_register()
add_subdirectory(generated)
target_link_libraries(${COMPONENT_LIB} INTERFACE usmp::digits usmp::odd_even)
"""
MODELS = '\n[models.digits]\npath = "digits.tflite"\n\n[models.odd_even]\npath = "odd_even.tflite"\n'


@pytest.mark.parametrize("way", ["component", "inside a component", "planned"])
def test_models_run(tmp_path: Path, find: str, way: str) -> None:
    need_cmake("Ninja")
    source = tmp_path / "source"
    write_files(source, {"CMakeLists.txt": LISTS, "main/CMakeLists.txt": PLANNED if way == "planned" else COMPONENT})
    if way == "planned":
        models = {"digits.tflite": "digits", "odd_even.tflite": "odd_even"}
        project = copy_project("two_folders", tmp_path / "project", models)
        manifest = (project / "usmp.toml").read_text("utf-8")
        (source / "main" / "usmp.toml").write_text(manifest + MODELS, encoding="utf-8")
        for model in models:
            shutil.copyfile(project / model, source / "main" / model)
    else:
        project = two_models(tmp_path / "project")
        folder = source / "components" / "doorbell"
        shutil.copytree(project / "generated", folder / "generated" if way == "inside a component" else folder)
        if way == "inside a component":
            (folder / "CMakeLists.txt").write_text(WRAPPED, encoding="utf-8")
    main = (project / "main.c").read_text("utf-8")
    called = main.replace("int main(void)", "static int answer(void)") + "\nvoid app_main(void);\n"
    (source / "main" / "main.c").write_text(f"{called}void app_main(void) {{ (void)answer(); }}\n", encoding="utf-8")
    build = Project(source, tmp_path / "build", "Ninja")
    build.configure(find, PYTHON)
    build.build()
    check_answers(build.binary / "firmware.elf")
    assert build.build() == []
