"""CMake finds an installed package: by its folder, in builds of Python packages, under any cross toolchain."""

import shutil
from pathlib import Path

import pytest

from tests.support.cmake import Project, need_cmake
from tests.support.environments import Environment, lent
from tests.support.files import write_files
from tests.support.processes import far_from_us
from tests.support.tools import need_packages

MANIFEST = '[project]\nname = "p"\n[models.digits]\npath = "DATA/digits.tflite"\n'
LISTS = """cmake_minimum_required(VERSION 3.22)
project(found C)
find_package(usmp_build 0.1 REQUIRED)
usmp_add_manifest(plan MANIFEST usmp.toml)
"""
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/sysroot")
foreach(kind PROGRAM LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
"""
TOOLS = {"CMAKE_C_COMPILER": "cc", "CMAKE_AR": "ar", "CMAKE_RANLIB": "ranlib"}
"""What a toolchain file must name that hides programs."""
PYPROJECT = """[build-system]
requires = ["scikit-build-core", "usmp_build"]
build-backend = "scikit_build_core.build"
[project]
name = "classifier"
version = "1.0"
"""
LIBRARY = """set_target_properties(digits plan PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(classifier SHARED classifier.c)
target_link_libraries(classifier PRIVATE usmp::digits)
install(TARGETS classifier DESTINATION classifier)
"""
CLASSIFIER = '#include "digits.h"\nint classify(void);\nint classify(void) { return digits_run() != USMP_OK; }\n'
CALL = """import classifier, ctypes
assert ctypes.CDLL(f"{next(iter(classifier.__path__))}/libclassifier.so").classify() == 0
"""


KINDS = pytest.mark.parametrize("installed", ["from_wheel", "editable"], indirect=True)


@KINDS
@pytest.mark.parametrize("toolchain", [False, True], ids=["native", "cross"])
def test_by_the_folder_that_the_tool_prints(installed: Environment, tmp_path: Path, toolchain: bool) -> None:
    """The toolchain hides everything that is not the target's, programs too."""
    need_cmake()
    tools = "".join(f'set({name} "{shutil.which(tool)}")\n' for name, tool in TOOLS.items())
    files = {"CMakeLists.txt": LISTS, "usmp.toml": MANIFEST, "cross.cmake": TOOLCHAIN + tools}
    case = Project(write_files(tmp_path / "source", files), tmp_path / "build", env=far_from_us())
    options = [f"--toolchain={case.source}/cross.cmake", "-DCMAKE_MAKE_PROGRAM=make"] if toolchain else []
    if installed.python.parents[1].name == "editable":  # a source tree is in no environment
        options.append(f"-DUSMP_BUILD_PYTHON={installed.python}")
    case.configure(f"-Dusmp_build_DIR={installed.usmp('--cmake-dir').strip()}", *options)
    assert "plan" in case.build()
    assert (case.generated / "digits.c").is_file()
    assert case.build() == []


def test_it_takes_the_interpreter_of_its_environment(wheel: Path, tmp_path: Path) -> None:
    """The only message is where the package is; builds leave nothing in it."""
    need_cmake()
    home = lent(tmp_path / "a venv")
    home.install("--no-compile", wheel)
    package = home.packages / "usmp_build"
    files = {"CMakeLists.txt": LISTS, "usmp.toml": MANIFEST}
    case = Project(write_files(tmp_path / "source", files), tmp_path / "build", env=far_from_us())
    case.configure(f"-Dusmp_build_DIR={package}/cmake")
    assert case.build("--target", "plan_gen") == ["plan"]
    depfile = case.binary / "CMakeFiles" / "plan.usmp.stamp.d"
    assert f"{package}/pipeline.py".replace(" ", "\\ ") in depfile.read_text("utf-8")
    assert not list(package.rglob("__pycache__"))


@KINDS
def test_by_a_python_package_that_scikit_build_core_builds(installed: Environment, tmp_path: Path) -> None:
    """It depends on ours: plain find_package() is enough."""
    need_cmake("Ninja")
    need_packages("scikit_build_core")
    files = {"usmp.toml": MANIFEST, "pyproject.toml": PYPROJECT, "classifier.c": CLASSIFIER}
    source = write_files(tmp_path / "source", files | {"CMakeLists.txt": LISTS + LIBRARY})
    installed.passes("python", "-c", BUILD, source, tmp_path)
    user = lent(tmp_path / "user")
    user.install(*tmp_path.glob("*.whl"))
    user.passes("python", "-c", CALL)


BUILD = """import os, sys
from scikit_build_core.build import build_wheel
os.chdir(sys.argv[1])
build_wheel(sys.argv[2])
"""
"""As pip would call it, in an environment with all that is required."""
