"""CMake: how it locates the package, which interpreter it takes, and what it says of wrong calls."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import tomli

import usmp_build
from tests.support.cli import call
from tests.support.cmake import NINJA_AND_MAKE, PYTHON, Project, need_cmake
from tests.support.environments import empty
from tests.support.files import edit, write_files
from tests.support.processes import environment
from tests.support.tree import ROOT

MANIFEST = '[project]\nname = "p"\n[plan]\nrows = false\n[models.digits]\npath = "DATA/digits.tflite"\n'
START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\n"
FOUND = START + "find_package(usmp_build CONFIG REQUIRED)\n"
DEPENDENCIES = [
    re.split(r"\W", requirement)[0]
    for requirement in tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
]
"""What planning needs, as Python imports it."""
QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""


def project(tmp_path: Path, lists: str, manifest: str = MANIFEST) -> Project:
    need_cmake()
    return Project(write_files(tmp_path / "source", {"CMakeLists.txt": lists, "usmp.toml": manifest}), tmp_path / "b")


def interpreter(folder: Path, script: str) -> Path:
    """Something that is called like an interpreter."""
    path = folder / "interpreter"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def stub(tmp_path: Path) -> str:
    """The option for an interpreter that answers at once, where only CMake is tested."""
    version = f'echo "usmp_build {usmp_build.__version__}"'
    outputs = r"printf 'p\tp_pools.c\n<model>\t<model>.c\ndigits\tdigits.c\n'"
    return f"-DUSMP_BUILD_PYTHON={interpreter(tmp_path, f'case $1 in -c) {version};; *) {outputs};; esac')}"


def unwrapped(text: str) -> str:
    """The text, without the line breaks that CMake puts into messages."""
    return re.sub(r"\s+", " ", text)


PLAN = "usmp_add_plan(plan MANIFEST usmp.toml)\n"


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ("usmp_add_plan(plan)", "usmp_add_plan(plan): MANIFEST needs a value"),
        ("usmp_add_plan(plan MANIFEST)", "usmp_add_plan(plan): MANIFEST needs a value"),
        ("usmp_add_plan(plan MANIFEST no.toml)", 'usmp_add_plan(plan): there is no manifest "/'),
        ("usmp_add_plan(plan MANIFEST usmp.toml STRICT)", "usmp_add_plan(plan): unknown argument: STRICT"),
        (PLAN + PLAN, 'usmp_add_plan(plan): a target named "plan" exists already; choose another name'),
        (PLAN, "usmp_add_plan(plan): no add_usmp_model() adds a model to this plan"),
        ("add_usmp_model(kws)", "add_usmp_model(kws): PLAN needs a value"),
        ("add_usmp_model(kws PLAN plan)", 'add_usmp_model(kws): there is no plan "plan" yet; usmp_add_plan()'),
        ("add_library(x INTERFACE)\nadd_usmp_model(kws PLAN x)", 'add_usmp_model(kws): there is no plan "x" yet'),
        (
            PLAN + "add_usmp_model(kws PLAN plan)",
            'add_usmp_model(kws): the manifest has no model "kws"; say MODEL <file>',
        ),
        (
            PLAN + "add_usmp_model(kws PLAN plan MODEL [[x;y]])",
            "add_usmp_model(kws): MODEL must not contain a semicolon, CMake's list separator",
        ),
        (PLAN + "add_usmp_model(digits PLAN plan MODEL [[]])", "add_usmp_model(digits): MODEL needs a value"),
        (PLAN + "add_usmp_model(digits PLAN plan MODEL x y)", "add_usmp_model(digits): unknown argument: y"),
        (PLAN + "add_usmp_model(digits PLAN plan WORKSPACE_POOLS)", "digits): WORKSPACE_POOLS needs a value"),
        (PLAN + "add_usmp_model(digits PLAN plan CONSTANT_POOLS a [[]])", "digits): CONSTANT_POOLS needs a value"),
        (
            PLAN + "add_usmp_model(digits PLAN plan CONCURRENT_WITH vad)",
            'add_usmp_model(digits): CONCURRENT_WITH names "vad", which is no model of plan "plan"',
        ),
        (
            PLAN + "add_usmp_model(digits PLAN plan DEPENDS nobody)",
            'names "nobody", which is neither a target nor a file',
        ),
        (
            PLAN + "add_usmp_model(digits PLAN plan)\nadd_usmp_model(DIGITS PLAN plan)",
            'add_usmp_model(DIGITS): plan "plan" has a model "digits", and case does not count',
        ),
        (PLAN + "add_usmp_model(kws PLAN plan FILE x)", "add_usmp_model(kws): unknown argument: FILE x"),
        (PLAN + "add_usmp_model(kws PLAN plan MODEL)", "add_usmp_model(kws): MODEL needs a value"),
        (PLAN + "add_usmp_model(kws PLAN plan MODEL x.tflite)", 'add_usmp_model(kws): there is no file "/'),
        (PLAN + "add_usmp_model(k-ws PLAN plan)", "add_usmp_model(k-ws): a model's name becomes part of C identifiers"),
        (PLAN + "add_usmp_model(digits PLAN plan)\n" * 2, 'add_usmp_model(digits): plan "plan" has this model already'),
        (PLAN + "add_usmp_model(plan PLAN plan)", 'add_usmp_model(plan): a target named "plan" exists already; choose'),
        (
            PLAN.replace(")", " OUTPUT_DIR gen)")
            + PLAN.replace("plan(plan", "plan(two").replace(")", " OUTPUT_DIR ./gen/)"),
            "usmp_add_plan(two): another plan generates into OUTPUT_DIR",
        ),
        (
            "usmp_add_plan(plan MANIFEST usmp.toml OUTPUT_DIR ${CMAKE_CURRENT_SOURCE_DIR})",
            "is a source folder, whose CMakeLists.txt would be overwritten; choose another",
        ),
        ("usmp_add_plan(plan MANIFEST usmp.toml OFF)", "usmp_add_plan(plan): unknown argument: OFF"),
        (
            PLAN + "add_usmp_model(digits PLAN plan CONSTANT_POOLS a,b)",
            '_POOLS takes names without "," and "="; separate',
        ),
        (PLAN + 'add_usmp_model(digits PLAN plan WORKSPACE_POOLS "a;--out=x")', "WORKSPACE_POOLS takes names without"),
        (PLAN + "add_usmp_model(digits PLAN plan CONCURRENT_WITH a=b)", "CONCURRENT_WITH takes names without"),
        ('usmp_add_plan("" MANIFEST usmp.toml)', "usmp_add_plan(): a plan's name is that of a target: letters"),
        ('usmp_add_manifest("a;b" MANIFEST usmp.toml)', "usmp_add_manifest(a;b): a plan's name is that of a target"),
        (PLAN + 'add_usmp_model("" PLAN plan)', "add_usmp_model(): a model's name becomes part of C identifiers"),
        (PLAN + 'add_usmp_model("a;b" PLAN plan)', "add_usmp_model(a;b): a model's name becomes part of C identifiers"),
        ("add_custom_target(plan_gen)\n" + PLAN, 'usmp_add_plan(plan): a target named "plan_gen" exists already'),
        (
            PLAN + "add_usmp_model(plan_gen PLAN plan MODEL usmp.toml)",
            'usmp_add_plan(plan): a target named "plan_gen" exists already; choose another name',
        ),
        *(
            (PLAN + f"add_usmp_model(digits PLAN plan DEPENDS {it})", f'DEPENDS names "{it}", which needs the model')
            for it in ("digits", "usmp::plan", "plan_gen")
        ),
        ("usmp_add_manifest(plan MANIFEST usmp.toml ALL)", "usmp_add_manifest(plan): unknown argument: ALL"),
        (PLAN + "add_usmp_model(p PLAN plan MODEL usmp.toml)", 'a target named "usmp::p" exists already; choose'),
    ],
)
def test_a_wrong_call_is_an_error_in_one_sentence(
    tmp_path: Path, find: str, stub: str, calls: str, message: str
) -> None:
    code, text = project(tmp_path, FOUND + calls + "\n").try_to_configure(find, stub, *QUICK)
    assert code != 0
    assert message in unwrapped(text)


def test_an_executable_may_be_called_by_its_alias(tmp_path: Path, find: str, stub: str) -> None:
    lists = (
        FOUND
        + "usmp_add_manifest(plan MANIFEST usmp.toml)\nadd_executable(app main.c)\nadd_executable(my::app ALIAS app)\n"
    )
    case = project(tmp_path, lists + "usmp_link_pools(my::app plan CHECK)\n")
    (case.source / "main.c").touch()
    case.configure(find, stub, *QUICK)
    rules = (case.binary / "CMakeFiles" / "app.dir" / "build.make").read_text()
    assert "Checking the pools of app" in rules
    assert re.search(r"cd \S*CMakeFiles && .* check ", rules)


def test_names_that_mean_false_to_cmake_are_names(tmp_path: Path, find: str) -> None:
    lists = """usmp_add_manifest(no MANIFEST usmp.toml)
        add_executable(NO main.c)
        add_executable(my::app ALIAS NO)
        usmp_link_pools(my::app usmp::off)
        target_link_libraries(NO PRIVATE usmp::n)
        """
    case = project(tmp_path, FOUND + lists, MANIFEST.replace('"p"', '"off"').replace("models.digits", "models.n"))
    (case.source / "main.c").write_text("int main(void) { return 0; }\n")
    case.configure(find, PYTHON)
    assert "link NO" in case.build()


@NINJA_AND_MAKE
def test_files_may_be_generated_into_the_build_folder_itself(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml OUTPUT_DIR .)\n")
    case = Project(case.source, case.binary, generator)
    case.configure(find, PYTHON)
    assert "plan" in case.build()
    assert (case.binary / "digits.c").is_file()
    assert case.build() == []


def test_a_list_may_be_one_argument(tmp_path: Path, find: str) -> None:
    manifest = MANIFEST + "[pools.a]\naccess = 'rw'\n[pools.b]\naccess = 'rw'\n"
    case = project(tmp_path, FOUND + PLAN + 'add_usmp_model(digits PLAN plan WORKSPACE_POOLS "b;a")\n', manifest)
    case.configure(find, PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
    (model,) = json.loads((case.generated / "plan.json").read_text())["models"]
    assert model["overrides"]["workspace_pools"] == ["b", "a"]


def test_of_several_plans_of_one_project_the_first_is_called_like_it(tmp_path: Path, find: str, stub: str) -> None:
    plans = "".join(
        f"usmp_add_plan({name} MANIFEST usmp.toml)\nadd_usmp_model({name}_model PLAN {name} MODEL usmp.toml)\n"
        for name in ("one", "two")
    )
    shown = "get_target_property(plan usmp::p ALIASED_TARGET)\nmessage(NOTICE plan=${plan})\n"
    assert "plan=one\n" in project(tmp_path, FOUND + plans + shown).configure(find, stub, *QUICK)


def test_messages_of_the_tool_are_shown_as_they_are(tmp_path: Path, find: str) -> None:
    """At configure time for the manifest, at build time for what it names."""
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n", "[project]\nnam = 'p'\n")
    manifest = case.source / "usmp.toml"
    code, text = case.try_to_configure(find, PYTHON, *QUICK)
    assert code != 0
    assert f"{manifest}:2:1: error[M105]: " in text
    assert "\n    2 | nam = 'p'\n      | ^^^\nhelp: " in text
    manifest.write_text("[project]\nname = 'p'\n[models.kws]\npath = 'kws.tflite'\n")
    case.configure(find, PYTHON, *QUICK)
    code, text = case.try_to_build("--target", "plan_gen")
    assert code != 0
    assert f'{manifest}:4:8: error[M101]: cannot read "kws.tflite": no such file\n' in text


@pytest.mark.parametrize("version", ["", "0", "0.1", "0.1.0", "0.1...<0.9"])
def test_versions_that_will_do(tmp_path: Path, find: str, stub: str, version: str) -> None:
    lists = FOUND.replace("usmp_build CONFIG", f"usmp_build {version} CONFIG") + 'message("v${usmp_build_VERSION}.")\n'
    assert f"v{usmp_build.__version__}." in project(tmp_path, lists).configure(find, stub, *QUICK)


@pytest.mark.parametrize("version", ["0.0", "0.2", "1", "0.2...<0.9", "0.0...<0.1.0"])
def test_versions_that_will_not_do(tmp_path: Path, find: str, stub: str, version: str) -> None:
    lists = FOUND.replace("usmp_build CONFIG", f"usmp_build {version} CONFIG")
    code, text = project(tmp_path, lists).try_to_configure(find, stub, *QUICK)
    assert code != 0
    assert f"version: {usmp_build.__version__}" in text


@pytest.mark.parametrize(
    "lists",
    [
        "include(FetchContent)\nFetchContent_Declare(usmp_build SOURCE_DIR [[ROOT]])\n"
        "FetchContent_MakeAvailable(usmp_build)\nfind_package(usmp_build REQUIRED)\n",
        "add_subdirectory([[ROOT]] usmp_build EXCLUDE_FROM_ALL)\n",
        "include([[ROOT/cmake/UsmpBuild.cmake]])\n",
    ],
    ids=["FetchContent", "add_subdirectory", "include"],
)
def test_the_source_tree_will_do(tmp_path: Path, lists: str) -> None:
    case = project(tmp_path, START + lists + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    case.configure(PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]


def other_version(tree: Path, to: Path) -> Path:
    """A copy of our tree that says it is another version; return its CMake files."""
    shutil.copytree(tree, to)
    edit(to / "usmp_build" / "__init__.py", f'"{usmp_build.__version__}"', '"0.0.9"')
    return to / "cmake"


def test_the_source_tree_leaves_what_the_user_has_set(tmp_path: Path, tree: Path, stub: str) -> None:
    """All of this build take the source tree; the next build may do without it."""
    other = other_version(tree, tmp_path / "other")
    lists = (
        START + 'add_subdirectory([[ROOT]] usmp_build)\nfind_package(usmp_build)\nmessage("v${usmp_build_VERSION}.")\n'
    )
    case = project(tmp_path, lists)
    for option in (f"-Dusmp_build_DIR={other}", "-Dsecond=time"):
        assert f"v{usmp_build.__version__}." in case.configure(option, stub, *QUICK)
    assert f"\nusmp_build_DIR:PATH={other}\n" in (case.binary / "CMakeCache.txt").read_text().replace(
        "UNINITIALIZED", "PATH"
    )


def test_two_versions_in_one_build_are_refused(tmp_path: Path, tree: Path, find: str, stub: str) -> None:
    other = other_version(tree, tmp_path / "other")
    case = project(tmp_path, FOUND + f"include([[{other}/UsmpBuild.cmake]])\n{PLAN}")
    code, text = case.try_to_configure(find, stub, *QUICK)
    assert code != 0
    wanted = f'two versions of usmp_build in one build: {usmp_build.__version__}, and 0.0.9 in "{other}"'
    assert wanted in unwrapped(text)


ONLY = "".join(f"set(CMAKE_FIND_ROOT_PATH_MODE_{kind} ONLY)\n" for kind in ("PROGRAM", "LIBRARY", "INCLUDE", "PACKAGE"))


@pytest.mark.parametrize("lists", ["add_subdirectory([[ROOT]] usmp_build)\n", "find_package(usmp_build REQUIRED)\n"])
def test_a_toolchain_that_hides_all_of_this_machine_hides_no_interpreter(tmp_path: Path, find: str, lists: str) -> None:
    case = project(tmp_path, START + lists + PLAN + "add_usmp_model(digits PLAN plan)\n")
    (case.source / "cross.cmake").write_text(
        f"set(CMAKE_C_COMPILER {shutil.which('cc')})\nset(CMAKE_FIND_ROOT_PATH [[{tmp_path}]])\n{ONLY}"
    )
    options = (find, f"--toolchain={case.source}/cross.cmake", "-DCMAKE_MAKE_PROGRAM=make", *QUICK)
    _, text = case.try_to_configure(*options)  # some interpreter, which may not have what we require
    assert "no Python 3.10 or newer was found" not in unwrapped(text)
    case.configure(*options, PYTHON)
    assert case.build("--target", "plan_gen") == ["plan"]


def test_the_tool_tells_where_its_cmake_files_are() -> None:
    assert Path(call("--cmake-dir").out.strip()).resolve() == ROOT / "cmake"


def test_another_usmp_build_plans_again(tmp_path: Path, tree: Path) -> None:
    """Even one that has lost a file."""
    other = shutil.copytree(tree, tmp_path / "tree")
    extra = other / "usmp_build" / "emitters" / "extra.py"
    extra.write_text("")
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    case.configure(f"-Dusmp_build_DIR={other}/cmake", PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
    extra.unlink()
    assert case.build("--target", "plan_gen") == ["plan"]
    assert case.build("--target", "plan_gen") == []
    template = other / "usmp_build" / "emitters" / "templates" / "pools.c.j2"
    template.write_text(template.read_text() + "/* new */\n")
    assert case.build("--target", "plan_gen") == ["plan"]
    assert "/* new */" in (case.generated / "p_pools.c").read_text()


@pytest.mark.parametrize(
    "variable", ["USMP_BUILD_PYTHON", "Python3_EXECUTABLE", "Python_EXECUTABLE", "PYTHON_EXECUTABLE"]
)
def test_an_interpreter_without_the_tool_is_an_error_with_a_cure(tmp_path: Path, tree: Path, variable: str) -> None:
    other = interpreter(tmp_path, "echo 'No module named usmp_build' >&2; exit 1")
    case = project(tmp_path, FOUND)
    code, text = case.try_to_configure(f"-Dusmp_build_DIR={tree}/cmake", f"-D{variable}={other}", *QUICK)
    assert code != 0
    assert f'"{other}" cannot run usmp_build {usmp_build.__version__} (No module named usmp_build)' in unwrapped(text)
    assert f'  "{other}" -m pip install "{tree}"\n' in text


@pytest.mark.parametrize("package", DEPENDENCIES)
def test_an_interpreter_without_what_we_depend_on_will_not_do(tmp_path: Path, tree: Path, package: str) -> None:
    """Neither for find_package(), after which a project may fall back to checked-in files, nor with the source tree."""
    bare = empty(tmp_path / "bare")
    write_files(bare.packages, {f"{other}/__init__.py": "" for other in DEPENDENCIES if other != package})
    quiet = START + 'find_package(usmp_build QUIET)\nmessage("found: ${usmp_build_FOUND}.")\n'
    find = f"-Dusmp_build_DIR={tree}/cmake"
    python = f"-DUSMP_BUILD_PYTHON={bare.python}"
    assert "found: 0." in project(tmp_path / "quiet", quiet).configure(find, python, *QUICK)
    for lists in (FOUND, START + "add_subdirectory([[ROOT]] usmp_build)\n"):
        code, text = project(tmp_path, lists).try_to_configure(find, python, *QUICK)
        assert code != 0
        assert f"(ModuleNotFoundError: No module named '{package}'). Install it with" in unwrapped(text)
        assert f'  "{bare.python}" -m pip install "/' in text


@pytest.mark.parametrize("variable", ["USMP_BUILD_PYTHON", "Python3_EXECUTABLE"])
@pytest.mark.parametrize("value", [".venv/bin/python", "a-python"])
def test_an_interpreter_may_be_a_relative_path_or_a_name(tmp_path: Path, tree: Path, variable: str, value: str) -> None:
    """It is named as it is run; who is asked here says who was."""
    case = project(tmp_path, FOUND)
    for name in (".venv/bin/python", "on_path/a-python"):
        (case.source / name).parent.mkdir(parents=True)
        interpreter((case.source / name).parent, "exit 1").rename(case.source / name)
    env = os.environ | {"PATH": f"{case.source}/on_path{os.pathsep}{os.environ['PATH']}"}
    case = Project(case.source, case.binary, env=env)
    code, text = case.try_to_configure(f"-Dusmp_build_DIR={tree}/cmake", f"-D{variable}={value}", *QUICK)
    assert code != 0
    assert f'"{case.source}/{value.replace("a-", "on_path/a-")}" cannot run usmp_build' in unwrapped(text)


def test_a_package_that_is_optional_may_be_missing(tmp_path: Path, find: str) -> None:
    lists = START + 'find_package(usmp_build QUIET)\nif(NOT usmp_build_FOUND)\nmessage("without it")\nendif()\n'
    other = interpreter(tmp_path, "exit 1")
    text = project(tmp_path, lists).configure(find, f"-DUSMP_BUILD_PYTHON={other}", *QUICK)
    assert "without it\n" in text
    assert "cannot run" not in text


def test_another_version_of_the_tool_is_refused(tmp_path: Path, find: str) -> None:
    other = interpreter(tmp_path, "echo 'usmp_build 0.0.1'")
    code, text = project(tmp_path, FOUND).try_to_configure(find, f"-DUSMP_BUILD_PYTHON={other}", *QUICK)
    assert code != 0
    assert f"cannot run usmp_build {usmp_build.__version__} (usmp_build 0.0.1)" in unwrapped(text)


def stamp(case: Project) -> Path:
    return case.binary / "CMakeFiles" / "plan.usmp.stamp"


def test_the_folder_and_the_path_have_no_say(tmp_path: Path, find: str) -> None:
    """Neither a module in the folder where the build runs, nor other tools of this name."""
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    fake = write_files(
        tmp_path / "fake", {"usmp_build/__init__.py": "raise SystemExit(7)\n", "usmp-build": "#!/bin/sh\nexit 7\n"}
    )
    (fake / "usmp-build").chmod(0o755)
    shutil.copytree(fake / "usmp_build", case.binary / "usmp_build")
    env = environment()
    env |= {"PYTHONPATH": str(fake), "PATH": f"{fake}{os.pathsep}{env['PATH']}"}
    case = Project(case.source, case.binary, case.generator, env=env)
    case.configure(find, PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
