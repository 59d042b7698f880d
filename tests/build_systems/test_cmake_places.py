"""CMake: an error begins where the call is, as CMake's own do: editors jump there."""

import re
from pathlib import Path

import pytest

from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import write_files

MANIFEST = '[project]\nname = "p"\n[models.digits]\npath = "DATA/digits.tflite"\n'
FOUND = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\nfind_package(usmp_build CONFIG REQUIRED)\n"
BELOW = "# another folder\nusmp_add_model(kws PLAN plan MODEL ../usmp.toml CONCURRENT_WITH nobody)\n"
QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""
PLAN = "usmp_add_plan(plan MANIFEST usmp.toml)\n"
MODEL = "usmp_add_model(digits PLAN plan)\n"
PLACES = {
    "at CMakeLists.txt:4 (usmp_add_manifest)": (
        "usmp_add_manifest(plan usmp.toml)",
        'MANIFEST is missing before "usmp.toml"; write usmp_add_manifest(plan MANIFEST usmp.toml)',
    ),
    "at CMakeLists.txt:4 (add_usmp_model)": (
        "add_usmp_model(kws plan MODEL x)", 'write add_usmp_model(kws PLAN plan)',
    ),
    "at CMakeLists.txt:6 (usmp_link_pools)": (
        f"{PLAN}{MODEL}usmp_link_pools(fw)",
        "usmp_link_pools(fw): name the executable, and the plan whose pools are in it: usmp_link_pools(app plan)",
    ),
    "at CMakeLists.txt:4 (usmp_add_plan)": (PLAN, "usmp_add_plan(plan): no add_usmp_model() adds a model to this plan"),
    "at CMakeLists.txt:6 (usmp_add_model)": (
        f"{PLAN}# usmp_add_model(kws PLAN plan)\nUSMP_add_model (\n  kws PLAN plan)\nusmp_add_model(digits PLAN plan)",
        'usmp_add_model(kws): the manifest has no model "kws"',
    ),
    "at CMakeLists.txt:7 (usmp_add_model)": (
        f'{PLAN}\nforeach(name kws)\nusmp_add_model("${{name}}" PLAN plan)\nendforeach()',
        'usmp_add_model(kws): the manifest has no model "kws"',
    ),
    "in CMakeLists.txt": (
        f"{PLAN}set(x kws)\nset(y digits)\nusmp_add_model(${{x}} PLAN plan)\nusmp_add_model(${{y}} PLAN plan)",
        'usmp_add_model(kws): the manifest has no model "kws"',
    ),
    "at CMakeLists.txt:7 (target_link_libraries)": (
        f"{PLAN}{MODEL}add_library(a a.c)\ntarget_link_libraries(a usmp::kws)", '"a" links usmp::kws',
    ),
    "at below/CMakeLists.txt:2 (usmp_add_model)": (
        f"{PLAN}{MODEL}add_subdirectory(below)", 'usmp_add_model(kws): CONCURRENT_WITH names "nobody"'
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_an_error_begins_where_the_call_is(tmp_path: Path, find: str, place: str) -> None:
    """Editors jump to the first error, and CMake's own would name our files."""
    calls, message = PLACES[place]
    need_cmake()
    files = {"CMakeLists.txt": f"{FOUND}{calls}\n", "below/CMakeLists.txt": BELOW, "usmp.toml": MANIFEST, "a.c": ""}
    code, text = Project(write_files(tmp_path / "source", files), tmp_path / "build").try_to_configure(
        find, PYTHON, *QUICK
    )
    assert code != 0
    first = text[text.index("CMake Error") :]
    assert first.startswith(f"CMake Error {place}:\n  ")
    assert message in first.split("\n")[1]
    assert f"That was an error {place}." in re.sub(r"\s+", " ", first)
