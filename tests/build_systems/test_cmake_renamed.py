"""CMake: after a project or a model was renamed, no file of the old name stays in the folder that is ours."""

from pathlib import Path

from tests.support.cmake import NINJA_AND_MAKE, PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit

MODELS = {"digits/digits.tflite": "digits", "odd_even/odd_even.tflite": "odd_even"}


def renamed(case: Project, find: str) -> set[str]:
    """Build, rename the project, and build again; return the generated files that have the old name, still."""
    case.configure(find, PYTHON)
    case.build()
    assert (case.generated / "doorbell.ld").exists()
    (case.generated / "notes.ld").write_text("/* by hand */")
    edit(case.source / "usmp.toml", '"doorbell"', '"bell"')
    assert case.build().count("plan") == 1
    assert {"bell.ld", "digits.h", "notes.ld"} <= {file.name for file in case.generated.iterdir()}
    assert case.build() == []
    return {file.name for file in case.generated.glob("doorbell*")}


@NINJA_AND_MAKE
def test_a_project_that_was_renamed_leaves_nothing(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    source = copy_project("two_folders", tmp_path / "source", MODELS)
    assert not renamed(Project(source, tmp_path / "build", generator), find)


def test_folders_of_users_are_left_as_they_are(tmp_path: Path, find: str) -> None:
    need_cmake("Unix Makefiles")
    source = copy_project("two_folders", tmp_path / "source", MODELS)
    folder = (tmp_path / "build" / "plan.usmp").as_posix()
    edit(source / "CMakeLists.txt", "MANIFEST usmp.toml", f'MANIFEST usmp.toml OUTPUT_DIR "{folder}"')
    assert "doorbell.ld" in renamed(Project(source, tmp_path / "build", "Unix Makefiles"), find)
