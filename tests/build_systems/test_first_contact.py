"""CMake and linker: the mistakes of a first day, each in a small firmware, and the message that says what to do.

Mistakes in manifests and on the command line are in tests/errors and tests/end_to_end/test_cli.py; two plans that have
a pool of one name are in test_two_plans_linked.py, calls with wrong arguments in test_cmake_calls.py.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit, touch, write_files
from tests.support.tools import need

QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""
INCLUDE = "    INCLUDE bare.ld\n"
CODE = ".text : { *(.text*)"
POOLS = "usmp_link_pools(firmware plan)\n"
Edits = Mapping[str, tuple[str, str]]
"""File → what stands in it once, and what is to stand there instead."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, find: str) -> Project:
    """A firmware that CMake builds with one model, and whose image is as planned."""
    need_cmake()
    need("arm-none-eabi-gcc")
    folder = tmp_path_factory.mktemp("board")
    source = copy_project("bare_metal", folder / "source", {"digits.tflite": "digits"})
    edit(source / "main.c", "(void)digits_run();", "(void)digits_run(), (void)digits_map_outputs().scores;")
    project = Project(source, folder / "build")
    project.configure(find, PYTHON, f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake")
    code, text = project.try_to_build()
    assert code == 0, text
    assert "every pool is as planned" in text
    return project


@pytest.fixture
def firmware(board: Project) -> Iterator[Project]:
    """The same, and what a test does to its files is undone."""
    before = {path: path.read_bytes() for path in board.source.iterdir()}
    yield board
    for path, data in before.items():
        if path.read_bytes() != data:
            path.write_bytes(data)
            touch(path)


def unwrapped(text: str) -> str:
    """The text, without the line breaks that CMake puts into messages."""
    return re.sub(r"\s+", " ", text)


def change(folder: Path, edits: Edits) -> None:
    """Make a mistake."""
    for name, (old, new) in edits.items():
        edit(folder / name, old, new)
        touch(folder / name)


ALL_CODE = ".text : { *(.text*) *(.rodata*) *(.eh_frame*) *(.ARM*) } > FLASH"
TABLE = "    .isr_vector : { *(.isr_vector) } > FLASH\n"
VECTORS = {
    "main.c": (
        "void _start(void)\n{",
        "extern int _estack[];\n"
        '__attribute__((section(".isr_vector"), used)) void *const table[16] = {_estack, _start};\n'
        "void _start(void)\n{",
    )
}
AT_THE_LINK: dict[str, tuple[Edits, list[str]]] = {
    "MEMORY has another region": (
        {"link.ld": ("    TCM :", "    tcm :")},
        ["usmp: MEMORY has no region TCM, which pool tcm asks for"],
    ),
    "MEMORY's region is too small": (
        {"link.ld": ("LENGTH = 4K", "LENGTH = 512")},
        ["section `.usmp.bare.tcm' will not fit in region `TCM'", "region `TCM' overflowed by 247 bytes"],
    ),
    "INCLUDE is forgotten": (
        {"link.ld": (INCLUDE, "")},
        ['error[S621]: pool "tcm": section .usmp.bare.tcm is at 0x', "help: INCLUDE bare.ld in SECTIONS"],
    ),
    "INCLUDE and usmp_link_pools() are forgotten": (
        {"link.ld": (INCLUDE, ""), "CMakeLists.txt": (POOLS, "")},
        ["undefined symbol `__usmp.INCLUDE_bare.ld' referenced in expression"],
    ),
    "INCLUDE is outside of SECTIONS": (
        {"link.ld": (f"SECTIONS\n{{\n    {CODE}", f"INCLUDE bare.ld\nSECTIONS\n{{\n    {CODE}")},
        ["bare.ld:", "syntax error"],
    ),
    "a wildcard of the script takes the pool": (
        {"link.ld": (CODE, f".ram : {{ *(.usmp.bare.tcm) }} > RAM\n    {CODE}")},
        [
            "usmp: bare_tcm_pool is outside of section .usmp.bare.tcm: a wildcard of the linker script took it first; "
            "INCLUDE bare.ld above that, or give pool tcm a section that it does not match",
        ],
    ),
    "a wildcard of the script matches the section that the manifest names": (
        {
            "usmp.toml": ('region = "TCM"', 'region = "TCM"\nsection = ".bss.work"'),
            "link.ld": (CODE, f".bss : {{ *(.bss*) }} > RAM\n    {CODE}"),
        },
        ["usmp: bare_tcm_pool is outside of section .bss.work: a wildcard of the linker script took it first; INCLUDE"],
    ),
    "INCLUDE stands twice": (
        {"link.ld": (INCLUDE, 2 * INCLUDE)},
        ["usmp: bare.ld is included twice; INCLUDE it once"],
    ),
    "INCLUDE stands above the vectors": (
        {
            "link.ld": (
                f"    {ALL_CODE}\n{INCLUDE}",
                f"    _estack = ORIGIN(RAM) + 4K;\n{INCLUDE}{TABLE}    {ALL_CODE}\n",
            ),
            **VECTORS,
        },
        [
            'error[S632]: pool "flash" is at 0x00400000, before the vector table at 0x0040',
            "help: INCLUDE bare.ld below",
        ],
    ),
    "the stack is in a pool": (
        {
            "link.ld": (CODE, f"_estack = ORIGIN(TCM) + 600;\n{TABLE}    {CODE}"),
            **VECTORS,
        },
        ['error[S633]: pool "tcm" is at 0x30000000', "and the stack begins"],
    ),
    "no model is called": (
        {"main.c": ("(void)digits_run(), (void)digits_map_outputs().scores;", "")},
        ['error[S626]: the image shows no pool of plan "bare"', "help: call a model of the plan"],
    ),
    "target_link_libraries() is forgotten": (
        {"CMakeLists.txt": ("target_link_libraries(firmware PRIVATE usmp::digits)", "")},
        ["digits.h: No such file or directory"],
    ),
    "a pool of the call is misspelt": (
        {"CMakeLists.txt": ("usmp_add_manifest(plan MANIFEST usmp.toml)", "SPELT")},
        ['error[U233]: model "digits" names pool "tmc", which no [pools.*] defines help: did you mean "tcm"?'],
    ),
}
"""A mistake → the edits, and parts of the message."""


@pytest.mark.parametrize("mistake", AT_THE_LINK)
def test_a_mistake_that_the_build_finds(firmware: Project, mistake: str) -> None:
    edits, messages = AT_THE_LINK[mistake]
    change(firmware.source, edits)
    lists = firmware.source / "CMakeLists.txt"
    spelt = "usmp_add_plan(plan MANIFEST usmp.toml)\nadd_usmp_model(digits PLAN plan WORKSPACE_POOLS tmc)"
    lists.write_text(lists.read_text("utf-8").replace("SPELT", spelt), encoding="utf-8")
    code, text = firmware.try_to_build()
    assert code != 0, text
    assert "Traceback" not in text
    for message in messages:
        assert message in unwrapped(text), text


def test_the_fragment_says_where_it_belongs(board: Project) -> None:
    head = (board.generated / "bare.ld").read_text("utf-8").partition("*/")[0]
    assert "Inside SECTIONS of your own linker script write    INCLUDE bare.ld" in head
    assert "Outside of SECTIONS it is a syntax error" in head


def test_another_model_in_the_place_of_one(firmware: Project) -> None:
    """The compiler sees names that are gone; with its hash in the manifest, the build sees that before."""
    model = firmware.source / "digits.tflite"
    shutil.copyfile(DATA / "branchy.tflite", model)
    touch(model)
    code, text = firmware.try_to_build()
    assert code != 0
    assert "has no member named 'scores'" in text.replace("‘", "'").replace("’", "'")
    change(firmware.source, {"usmp.toml": ('path = "digits.tflite"', f'path = "digits.tflite"\nsha256 = "{"0" * 64}"')})
    code, text = firmware.try_to_build()
    assert code != 0
    assert "error[P201]" in text


PLAN = "usmp_add_manifest(plan MANIFEST usmp.toml)\n"
APP = "add_executable(app main.c)\n"
FIND = "find_package(usmp_build CONFIG REQUIRED)\n"
MANIFEST = '[project]\nname = "{project}"\n[models.{model}]\npath = "DATA/digits.tflite"\n'
FILES = {
    "usmp.toml": MANIFEST.format(project="p", model="digits"),
    "same_project.toml": MANIFEST.format(project="p", model="more"),
    "same_model.toml": MANIFEST.format(project="q", model="digits"),
    "main.c": '#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n',
}
BOTH = f"{PLAN}usmp_add_manifest(two MANIFEST same_project.toml)\n{APP}"
CONFIGURING = [
    (
        "links_a_misspelt_model",
        f"{PLAN}{APP}target_link_libraries(app PRIVATE usmp::digit)",
        ['"app" links usmp::digit, which is no model and no plan; there is usmp::digits, usmp::plan'],
    ),
    (
        "links_a_misspelt_model_below",
        f"{PLAN}add_subdirectory(below)",
        ['"deep" links usmp::digit, which is no model and no plan; there is usmp::digits, usmp::plan'],
    ),
    (
        "misspells_the_plan",
        f"{PLAN}{APP}usmp_link_pools(app pla)",
        ['there is no plan "pla" yet', "so far there is plan"],
    ),
    (
        "places_pools_before_the_plan",
        f"{APP}usmp_link_pools(app plan)\n{PLAN}",
        ['no plan "plan" yet; usmp_add_plan()'],
    ),
    (
        "links_two_plans_of_one_project",
        f"{BOTH}target_link_libraries(app PRIVATE usmp::digits usmp::more)",
        ["USMP_ONLY_PLAN_OF_PROJECT_p property", "does not agree with the value of USMP_ONLY_PLAN_OF_PROJECT_p"],
    ),
    (
        "has_a_model_in_two_manifests",
        f"{PLAN}usmp_add_manifest(two MANIFEST same_model.toml)",
        [
            'plan "plan" of "/',
            '/usmp.toml" has a model "digits" already',
            'give [models.digits] of "/',
            'same_model.toml"',
        ],
    ),
    (
        "checks_and_does_not",
        f"{PLAN}{APP}usmp_link_pools(app plan CHECK NO_CHECK)",
        ["say CHECK or NO_CHECK, not both"],
    ),
]
"""A name, what follows find_package() in CMakeLists.txt, and parts of what CMake says."""


def project(folder: Path, lists: str, languages: str = "C") -> Project:
    need_cmake()
    start = f"cmake_minimum_required(VERSION 3.22)\nproject(test {languages})\n"
    deep = f"{APP.replace('app', 'deep').replace('main.c', '../main.c')}target_link_libraries(deep usmp::digit)\n"
    files = FILES | {"CMakeLists.txt": f"{start}{lists}\n", "below/CMakeLists.txt": deep}
    return Project(write_files(folder / "a firmware" / "source", files), folder / "a firmware" / "build")


@pytest.mark.parametrize(("lists", "messages"), [row[1:] for row in CONFIGURING], ids=[row[0] for row in CONFIGURING])
def test_a_mistake_that_cmake_finds(tmp_path: Path, find: str, lists: str, messages: list[str]) -> None:
    code, text = project(tmp_path, FIND + lists).try_to_configure(find, PYTHON, *QUICK)
    assert code != 0, text
    for message in messages:
        assert message in unwrapped(text), text


@pytest.mark.parametrize(
    ("options", "languages", "messages"),
    [
        (
            ["FIND", "-DUSMP_BUILD_PYTHON=/nowhere/python3"],
            "C",
            ['"/nowhere/python3" cannot run usmp_build', "USMP_BUILD_PYTHON"],
        ),
        (["FIND", "-DUSMP_BUILD_PYTHON=PLAIN"], "C", ["(ModuleNotFoundError: No module named", "-m pip install"]),
        (["-Dusmp_build_DIR=", PYTHON], "C", ['Could not find a package configuration file provided by "usmp_build"']),
        (
            ["FIND", PYTHON, "-DCMAKE_C_COMPILER=/nowhere/gcc"],
            "C",
            ["The CMAKE_C_COMPILER: /nowhere/gcc is not a full path"],
        ),
        (["FIND", PYTHON], "CXX", ["the generated code is C, which this project does not enable"]),
    ],
    ids=["no_python", "python_without_the_package", "no_folder", "no_compiler", "no_c"],
)
def test_something_that_is_not_there(
    tmp_path: Path, find: str, options: list[str], languages: str, messages: list[str]
) -> None:
    plain = tmp_path / "python"
    plain.write_text(
        "#!/bin/sh\necho 'ModuleNotFoundError: No module named usmp_build' >&2\nexit 1\n", encoding="utf-8"
    )
    plain.chmod(0o755)
    given = [option.replace("FIND", find).replace("PLAIN", str(plain)) for option in options]
    code, text = project(tmp_path, FIND + PLAN, languages).try_to_configure(*given)
    assert code != 0, text
    for message in messages:
        assert message in unwrapped(text), text


def test_what_is_no_mistake(tmp_path: Path, find: str) -> None:
    """The name that one guesses, spaces in paths, and a model that is a link."""
    lists = 'usmp_add_plan(plan MANIFEST usmp.toml)\nusmp_add_model(digits PLAN plan MODEL "a model.tflite")\n'
    right = project(tmp_path, f"{FIND}{lists}{APP}target_link_libraries(app PRIVATE usmp::digits)")
    (right.source / "a model.tflite").symlink_to(DATA / "digits.tflite")
    right.configure(find, PYTHON)
    assert "link app" in right.build()
