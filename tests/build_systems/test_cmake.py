"""CMake: one joint plan from several folders, and builds that do what is needed and no more."""

import shutil
import sys
from itertools import cycle
from pathlib import Path

import pytest

from tests.support.cli import DATA, call
from tests.support.cmake import COVERING, NINJA_AND_MAKE, PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit, touch, write_files
from tests.support.models import answers, check_answers, rename_tensors, train_again

MODELS = {"digits/digits.tflite": "digits", "odd_even/odd_even.tflite": "odd_even"}
EVERYTHING = [
    *("compile digits.c", "compile doorbell_kernels.c", "compile doorbell_pools.c", "compile main.c"),
    *("compile odd_even.c", "link app", "link libdigits.a", "link libodd_even.a", "link libplan.a", "plan"),
]


def two_folders(tmp_path: Path, generator: str, cmake: str = "cmake") -> Project:
    need_cmake(generator, cmake)
    source = copy_project("two_folders", tmp_path / "source", MODELS)
    return Project(source, tmp_path / "build", generator, cmake)


@COVERING
def test_each_build_does_what_is_needed_and_no_more(tmp_path: Path, find: str, generator: str, cmake: str) -> None:
    project = two_folders(tmp_path, generator, cmake)
    project.configure(find, PYTHON)
    assert project.build() == EVERYTHING
    check_answers(project.app)

    before = project.products()
    assert project.build() == []
    assert project.products() == before

    # A model that is touched but equal: plan, compile nothing.
    touch(project.source / "odd_even" / "odd_even.tflite")
    assert project.build() == ["plan"]
    assert changed(before, project) == {"CMakeFiles/plan.usmp.stamp"}
    assert project.build() == []

    # A model that was trained again: compile what includes its header, which names the file, and no other model.
    train_again(project.source / "odd_even" / "odd_even.tflite")
    needed = ["compile doorbell_pools.c", "compile main.c", "compile odd_even.c"]
    linked = ["link app", "link libodd_even.a", "link libplan.a"]
    assert project.build() == [*needed, *linked, "plan"]
    assert project.build() == []
    message, expected = answers(project.app)
    assert message[:10] == expected[:10]

    # A model whose tensors have other names: the same, and the files of the other model are as they were.
    before = project.products()
    rename_tensors(project.source / "odd_even" / "odd_even.tflite")
    assert project.build() == [*needed, *linked, "plan"]
    now = {name.rpartition("/")[2] for name in changed(before, project)}
    assert not {name for name in now if "digits" in name or "kernels" in name}
    assert now.isdisjoint({"doorbell.h", "usmp.h"})
    assert project.build() == []

    # The manifest: configure, plan, and here only the text of the linker fragment changes.
    manifest = project.source / "usmp.toml"
    edit(manifest, 'region = "SRAM"', 'region = "DTCM"')
    touch(manifest)
    assert project.build() == ["link app", "plan"]
    assert "} > DTCM" in (project.generated / "doorbell.ld").read_text()
    assert project.build() == []


@NINJA_AND_MAKE
def test_overrides_plan_again(tmp_path: Path, find: str, generator: str) -> None:
    """Configure, and plan; the pool grows, so that all who name its size are compiled and linked."""
    project = two_folders(tmp_path, generator)
    project.configure(find, PYTHON)
    project.build()
    before = (project.generated / "doorbell.ld").read_bytes()
    lists = project.source / "odd_even" / "CMakeLists.txt"
    for message in ("odd_even.tflite CONCURRENT_WITH digits", "odd_even.tflite"):
        lists.write_text(f"add_usmp_model(odd_even PLAN plan MODEL {message})\n")
        touch(lists)
        assert {"plan", "compile doorbell_pools.c", "link app"} <= set(project.build())
        assert ((project.generated / "doorbell.ld").read_bytes() == before) is ("CONCURRENT" not in message)
        assert project.build() == []
        check_answers(project.app)


@NINJA_AND_MAKE
def test_a_deleted_file_is_generated_again(tmp_path: Path, find: str, generator: str) -> None:
    project = two_folders(tmp_path, generator)
    project.configure(find, PYTHON)
    project.build()
    files = {path.name: path.read_bytes() for path in project.generated.iterdir()}
    for name in ("odd_even.c", "digits.h", "doorbell_pools.c", "plan.json"):
        (project.generated / name).unlink()
    done = project.build()
    assert done.count("plan") == 1
    assert {"compile odd_even.c", "compile doorbell_pools.c", "link app"} <= set(done)
    assert {path.name: path.read_bytes() for path in project.generated.iterdir()} == files
    assert project.build() == []
    shutil.rmtree(project.generated)
    assert "plan" in project.build()
    assert project.build() == []
    project.build("--target", "clean")
    assert not list(project.generated.iterdir())
    assert project.build() == EVERYTHING


def changed(before: dict[str, int], project: Project) -> set[str]:
    after = project.products()
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@COVERING
def test_paths_may_hold_spaces_and_signs(tmp_path: Path, find: str, generator: str, cmake: str) -> None:
    need_cmake(generator, cmake)
    folder = "a $ place" if "Make" in generator else "a #1 $ place"  # makefiles cannot configure again below a "#"
    source = copy_project("two_folders", tmp_path / folder, {})
    models = {}
    for name in ("digits", "odd_even"):
        models[name] = source / f"{name} #1 $x.tflite"
        models[name].write_bytes((DATA / f"{name}.tflite").read_bytes())
    (source / "digits" / "CMakeLists.txt").write_text(
        f"add_usmp_model(digits PLAN plan MODEL [[../{models['digits'].name}]])\n"
    )
    (source / "odd_even" / "CMakeLists.txt").write_text("add_usmp_model(odd_even PLAN plan)\n")
    with (source / "usmp.toml").open("a") as manifest:  # of this file only the depfile tells
        manifest.write(f"[models.odd_even]\npath = '{models['odd_even'].name}'\n")
    project = Project(source, tmp_path / "built" / "a $ place", generator, cmake)
    project.configure(find, PYTHON)
    project.build()
    check_answers(project.app)
    assert project.build() == []
    for model in models.values():
        touch(model)
        assert project.build() == ["plan"]
        assert project.build() == []
    touch(source / "usmp.toml")
    assert project.build() == ["plan"]
    assert project.build() == []


@NINJA_AND_MAKE
def test_a_manifest_with_all_its_models(tmp_path: Path, find: str, generator: str) -> None:
    """The build system hears from the depfile where these models are."""
    need_cmake(generator)
    source = copy_project("two_folders", tmp_path / "a place", {"one model.tflite": "odd_even"})
    with (source / "usmp.toml").open("a") as manifest:
        manifest.write(
            f"[models.odd_even]\npath = 'one model.tflite'\n[models.digits]\npath = '{DATA}/digits.tflite'\n"
        )
    write_files(
        source,
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.22)\nproject(doorbell C)\n"
            "find_package(usmp_build REQUIRED)\n"
            "usmp_add_manifest(plan MANIFEST usmp.toml OUTPUT_DIR generated)\n"
            "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE digits odd_even)\n"
        },
    )
    project = Project(source, tmp_path / "a build", generator)
    project.configure(find, PYTHON)
    assert "plan" in project.build()
    assert (project.binary / "generated" / "odd_even.c").is_file()
    check_answers(project.app)
    assert project.build() == []
    touch(source / "one model.tflite")
    assert project.build() == ["plan"]
    (source / "one model.tflite").rename(source / "renamed.tflite")
    edit(source / "usmp.toml", "one model", "renamed")
    touch(source / "usmp.toml")
    assert project.build() == ["plan"]
    assert project.build() == []


@NINJA_AND_MAKE
def test_a_model_that_the_build_makes(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    source = copy_project("two_folders", tmp_path / "source", MODELS)
    (source / "digits" / "CMakeLists.txt").write_text(
        "add_custom_command(OUTPUT made.tflite COMMAND ${CMAKE_COMMAND} -E copy "
        "${CMAKE_CURRENT_SOURCE_DIR}/digits.tflite made.tflite DEPENDS digits.tflite)\n"
        "add_custom_target(convert DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/made.tflite)\n"
        "add_usmp_model(digits PLAN plan MODEL ${CMAKE_CURRENT_BINARY_DIR}/made.tflite DEPENDS convert)\n"
    )
    project = Project(source, tmp_path / "build", generator)
    project.configure(find, PYTHON)
    project.build("--target", "plan_gen")
    assert project.build("--target", "plan_gen") == []
    train_again(source / "digits" / "digits.tflite")
    assert project.build("--target", "plan_gen") == ["plan"]
    assert project.build("--target", "plan_gen") == []


COPY = 'COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_SOURCE_DIR}/digits.tflite" made.tflite'
MAKERS = {
    "a stamp": f"add_custom_command(OUTPUT made.stamp {COPY} COMMAND ${{CMAKE_COMMAND}} -E touch made.stamp "
    "DEPENDS digits.tflite)",
    "a stamp with by-products": f"add_custom_command(OUTPUT made.stamp BYPRODUCTS made.tflite {COPY} "
    "COMMAND ${CMAKE_COMMAND} -E touch made.stamp DEPENDS digits.tflite)",
    "a target that does not say so": f"add_custom_target(made.stamp {COPY})",
    "a target": f"add_custom_target(made.stamp {COPY} BYPRODUCTS made.tflite)",
}


@pytest.mark.parametrize(("maker", "generator"), zip(MAKERS, cycle(["Unix Makefiles", "Ninja"]), strict=False))
def test_what_stands_for_a_model_that_the_build_makes(tmp_path: Path, find: str, generator: str, maker: str) -> None:
    need_cmake(generator)
    source = copy_project("two_folders", tmp_path / "source", MODELS)
    (source / "digits" / "CMakeLists.txt").write_text(
        f"{MAKERS[maker]}\n"
        "add_usmp_model(digits PLAN plan MODEL ${CMAKE_CURRENT_BINARY_DIR}/made.tflite DEPENDS made.stamp)\n"
    )
    project = Project(source, tmp_path / "build", generator)
    project.configure(find, PYTHON)
    assert project.build("--target", "plan_gen") == ["plan"]
    if "stamp" in maker:
        assert project.build("--target", "plan_gen") == []
        train_again(source / "digits" / "digits.tflite")
        assert project.build("--target", "plan_gen") == ["plan"]
        assert project.build("--target", "plan_gen") == []


def test_two_configurations_share_one_plan(tmp_path: Path, find: str) -> None:
    project = two_folders(tmp_path, "Ninja Multi-Config")
    project.configure(find, PYTHON)
    assert project.build("--config", "Debug") == EVERYTHING
    assert project.build("--config", "Release") == [step for step in EVERYTHING if step != "plan"]
    assert project.build("--config", "Debug") == []
    check_answers(project.binary / "Release" / "app")


def test_the_order_of_calls_does_not_change_a_byte(tmp_path: Path, find: str) -> None:
    one = two_folders(tmp_path, "Unix Makefiles")
    two = Project(tmp_path / "other", tmp_path / "elsewhere" / "build")
    copy_project("two_folders", two.source, MODELS)
    text = (two.source / "CMakeLists.txt").read_text()
    first, second = "add_subdirectory(digits)\n", "add_subdirectory(odd_even)\n"
    swapped = text.replace(first, "").replace(
        second, second + 'add_usmp_model(digits PLAN plan MODEL "digits/digits.tflite")\n'
    )
    (two.source / "CMakeLists.txt").write_text(swapped)
    for project in (one, two):
        project.configure(find, PYTHON)
        project.build("--target", "plan_gen")
    models = [f"--model={name}={one.source}/{name}/{name}.tflite" for name in ("odd_even", "digits")]
    assert call("generate", one.source / "usmp.toml", "--out", tmp_path / "by hand", *models).code == 0
    folders = [
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (one.generated, two.generated, tmp_path / "by hand")
    ]
    assert folders[0] == folders[1] == folders[2]
    assert not [name for name, data in folders[0].items() if str(tmp_path).encode() in data]
    assert sys.executable.encode() not in b"".join(folders[0].values())


def test_two_plans_in_one_build(tmp_path: Path, find: str) -> None:
    project = two_folders(tmp_path, "Unix Makefiles")
    with (project.source / "CMakeLists.txt").open("a") as lists:
        lists.write("usmp_add_plan(second MANIFEST second.toml)\nadd_usmp_model(branchy PLAN second)\n")
    write_files(
        project.source,
        {"second.toml": '[project]\nname = "second"\n[models.branchy]\npath = "DATA/branchy.tflite"\n'},
    )
    project.configure(find, PYTHON)
    done = project.build()
    assert done.count("plan") == 2
    assert {"compile branchy.c", "compile second_pools.c", "compile doorbell_pools.c"} <= set(done)
    assert project.build() == []
