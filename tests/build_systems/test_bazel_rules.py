"""The rules, one by one, in a small workspace of its own: what they give, and what they refuse."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.bazel import Workspace, need_bazel, written
from tests.support.bazel_files import BUILD, FILES
from tests.support.environments import empty
from tests.support.files import edit
from tests.support.report_pages import table, tree
from tests.support.tools import need


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, bazel_cache: Path) -> Iterator[Workspace]:
    """A workspace with a plan of two models.  Servers are slow to start: tests leave it as it was."""
    need_bazel()
    with written(tmp_path_factory.mktemp("rules"), bazel_cache, FILES) as workspace:
        yield workspace


def test_overrides_and_pools_of_the_application(app: Workspace) -> None:
    ran = app.bazel("test", "//:parity_test")
    assert "Compiling reader/parity.c" in ran.done
    assert "Compiling reader/digits.c" not in ran.done  # nobody links it
    plan = json.loads(app.built("reader/plan.json").read_text(encoding="utf-8"))
    overrides = {model["name"]: list(model["overrides"]) for model in plan["models"]}
    assert overrides == {"digits": ["path", "workspace_pools"], "parity": ["path", "constant_pools", "concurrent"]}
    assert "OF_THE_PLAN" in app.bazel("aquery", "mnemonic(CppCompile, //:reader)").text
    assert "OF_THE_PLAN" not in app.bazel("aquery", "mnemonic(CppCompile, //:parity_test)").text
    app.bazel("build", "//:weights")
    assert app.built("reader/reader_weights.bin").stat().st_size > 1000


def test_a_plan_is_for_the_processor_that_it_is_compiled_for(app: Workspace) -> None:
    def planned(*options: str) -> str:
        app.bazel("build", "//:reader", "--output_groups=plan_json", *options)
        isa: str = json.loads(app.built("reader/plan.json").read_text(encoding="utf-8"))["targets"][0]["isa"]
        return isa

    assert planned() == "portable"
    assert planned("--copt=-mcpu=cortex-m55", "--copt=-O2") == "mve"
    assert planned("--copt=-mcpu=cortex-m55", "--conlyopt=-mcpu=cortex-m4") == "dsp"
    assert planned("--cxxopt=-mcpu=cortex-m4") == "portable"
    before = edit(app.folder / "BUILD.bazel", "-DOF_THE_PLAN", "-march=armv8-m.main+dsp")
    try:
        assert planned("--copt=-mcpu=cortex-m3") == "dsp"
    finally:
        (app.folder / "BUILD.bazel").write_text(before, encoding="utf-8")


def test_the_page_is_written_where_it_is_asked_for(app: Workspace) -> None:
    ran = app.bazel("build", "//:reader")
    assert "Reporting the memory of digits, parity" not in ran.done
    ran = app.bazel("build", "//:reader", "--output_groups=report")
    assert "Reporting the memory of digits, parity" in ran.done
    page = tree(app.built("reader/report.html").read_text(encoding="utf-8"))
    assert [row[0] for row in table(page, "model")[1:]] == ["digits", "parity"]


def test_libraries_of_models_have_names_of_their_own(app: Workspace) -> None:
    app.bazel("build", "//:reader_digits", "//:reader_parity", "//:reader", "//:parity")


def test_headers_may_be_included_where_clang_checks_layers(app: Workspace) -> None:
    """The model's, the plan's, and its bytes."""
    need("clang")
    ran = app.bazel("build", "//:parity_test", "--repo_env=CC=clang")
    assert "Compiling parity_test.c" in ran.done
    commands = app.bazel("aquery", "mnemonic(CppCompile, //:parity_test)", "--repo_env=CC=clang").text
    assert "-fmodules-strict-decluse" in commands


def test_coverage_fails_test_by_test(app: Workspace) -> None:
    """Without the tool that reports it everything can still be loaded, and built."""
    ran = app.try_bazel("coverage", "//:parity_test")
    assert ran.code == 3, ran.text
    assert "Linking parity_test" in ran.done
    assert "no remote_coverage_tools" in ran.text


WRONG = [
    (
        ":reader",
        ("usmp.toml", 'name = "reader"\n', 'name = "doorbell"\n'),
        [
            'usmp.toml:2:8: error[U245]: the project is called "doorbell", but the build expects "reader"',
            '(Bazel: project = "doorbell")',
        ],
    ),
    (
        ":reader",
        ("BUILD.bazel", '    pool_bytes = ["weights"],\n', ""),
        ['error[U246]: the bytes of pool "weights" are files, which the build does not expect'],
    ),
    (
        ":reader",
        ("BUILD.bazel", 'workspace_pools = ["sram"]', 'workspace_pools = ["srma"]'),
        ["error[U233]", '"srma"'],
    ),
    (":reader", ("BUILD.bazel", 'concurrent_with = ["digits"]', 'concurrent_with = ["digit"]'), ["error[U234]"]),
    (
        ":parity",
        ("BUILD.bazel", '        ":parity_model",\n    ],\n    pool', "    ],\n    pool"),
        ['//:parity: the models of //:reader have no "parity"; add "//:parity_model" to its models'],
    ),
    (
        ":parity",
        ("BUILD.bazel", '    models = [":parity_model"],\n', '    models = ["//another:parity"],\n'),
        ['//:parity: //:reader calls another model "parity", not "//another:parity"; say model_name'],
    ),
    (
        ":reader",
        ("BUILD.bazel", 'model_name = "parity"', 'model_name = "digits"'),
        ['//:reader: //:digits and //:parity_model are both called "digits"; say model_name'],
    ),
    (
        ":reader",
        ("BUILD.bazel", 'model_name = "parity"', 'model_name = "reader"'),
        ['error[M110]: model "reader" and the project have the same name: both get a file reader.h'],
    ),
    (
        ":parity_model",
        ("BUILD.bazel", 'model_name = "parity"', 'model_name = "par-ity"'),
        ['"par-ity" becomes part of C identifiers: a letter, then letters, digits and underscores'],
    ),
    (
        ":reader",
        ("BUILD.bazel", 'src = "models/digits.tflite"', 'src = "models/digit.tflite"'),
        ["missing input file '//:models/digit.tflite'"],
    ),
    (
        ":reader",
        ("BUILD.bazel", '        ":digits",\n        ":parity_model",\n', ""),
        ["models", "non empty"],
    ),
]
"""What is built; which text of a file is wrong; the message."""


@pytest.mark.parametrize(("target", "change", "messages"), WRONG)
def test_wrong_inputs(app: Workspace, target: str, change: tuple[str, str, str], messages: list[str]) -> None:
    """Each error says what is wrong, and where."""
    file, old, new = change
    before = edit(app.folder / file, old, new)
    try:
        ran = app.try_bazel("build", f"//{target}")
    finally:
        (app.folder / file).write_text(before, encoding="utf-8")
    assert ran.code == 1, ran.text
    assert "was not created" not in ran.text
    assert "host_force_python" not in ran.text  # Bazel 4 blames Python 2 where it may
    for message in messages:
        assert message in ran.text


MY_GENERATOR = """\
import sys
from pathlib import Path

from usmp_build.cli import main

print("my own generator")
code = main()
if sys.argv[1].startswith("@"):
    arguments = Path(sys.argv[1][1:]).read_text().splitlines()
    folder = next(Path(word[6:]) for word in arguments if word.startswith("--out="))
    header = folder / "reader.h"
    header.write_text(header.read_text() + "/* my own generator */\\n")
sys.exit(code)
"""
MY_TOOLCHAIN = """
load("@rules_python//python:py_binary.bzl", "py_binary")
load("@usmp_build//bazel:defs.bzl", "usmp_elf_test", "usmp_toolchain")

usmp_plan(
    name = "-plan",
    manifest = "-src.toml",
    models = [":digits"],
    project = "reader",
)

usmp_elf_test(
    name = "image_test",
    binary = ":parity_test",
    plan = ":-plan",
)

py_binary(
    name = "my_generator",
    srcs = ["my_generator.py"],
    legacy_create_init = 0,
    python_version = "PY3",
    deps = ["@usmp_build"],
)

usmp_toolchain(
    name = "mine",
    generator = ":my_generator",
)

toolchain(
    name = "my_toolchain",
    toolchain = ":mine",
    toolchain_type = "@usmp_build//bazel:toolchain_type",
)
"""


def test_another_generator(app: Workspace) -> None:
    (app.folder / "my_generator.py").write_text(MY_GENERATOR, encoding="utf-8")
    (app.folder / "BUILD.bazel").write_text(BUILD + MY_TOOLCHAIN, encoding="utf-8")
    app.bazel("build", "//:reader", "--output_groups=hdrs", "--extra_toolchains=//:my_toolchain")
    assert "/* my own generator */" in app.built("reader/reader.h").read_text(encoding="utf-8")
    ran = app.try_bazel("test", "//:image_test", "--extra_toolchains=//:my_toolchain")
    assert ran.code == 3
    assert "my own generator" in ran.text
    assert 'error[S621]: pool "sram": section .usmp.reader.sram' in ran.text  # checked, and found wanting
    (app.folder / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    app.bazel("build", "//:reader", "--output_groups=hdrs")
    assert "my own" not in app.built("reader/reader.h").read_text(encoding="utf-8")


def test_an_interpreter_without_the_packages(app: Workspace, tmp_path: Path) -> None:
    python = empty(tmp_path / "venv").python
    ran = replace(app, env={**app.env, "USMP_PYTHON": str(python)}).try_bazel("build", "//:reader")
    assert ran.code == 1
    assert f"{python} cannot run usmp_build: ModuleNotFoundError: No module named " in ran.text
    assert f'"{python}" -m pip install jinja2 numpy pydantic tomli' in ran.text
