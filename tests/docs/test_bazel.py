"""docs/build-systems.md and examples/bazel/README.md, with the real Bazel, offline: `MODULE.bazel` is only read."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.bazel import Workspace, example, need_bazel, written
from tests.support.doorbell import MAIN
from tests.support.processes import Done, run
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

MANIFEST = '[project]\nname = "doorbell"\n'
TOOL = """
load("@rules_python//python:py_binary.bzl", "py_binary")

py_binary(
    name = "company-usmp-build",
    srcs = ["tool.py"],
    legacy_create_init = 0,
    main = "tool.py",
    deps = ["@usmp_build"],
)
"""


@pytest.fixture
def app(tmp_path: Path, bazel_cache: Path) -> Iterator[Workspace]:
    """A firmware that has no BUILD file yet, with our repository in `third_party/`."""
    need_bazel("buildifier")
    with written(tmp_path, bazel_cache, {"usmp.toml": MANIFEST, "main.c": MAIN, "BUILD.bazel": ""}) as workspace:
        models = workspace.folder / "models"
        (models / "digits.tflite").rename(models / "kws.tflite")
        (models / "odd_even.tflite").rename(models / "vww.tflite")
        (workspace.folder / "third_party").mkdir()
        (workspace.folder / "third_party" / "usmp_build").symlink_to(tmp_path / "usmp_build")
        (workspace.folder / ".bazelignore").write_text("third_party/usmp_build\n", encoding="utf-8")
        yield workspace


@runs("docs/build-systems.md#bazel")
def test_the_page(page: Page, app: Workspace) -> None:
    folder = app.folder
    module = page.take("starlark")
    check_style(folder, "MODULE.bazel", f'module(name = "app")\n\n{module.text}')
    (folder / "WORKSPACE").write_text(page.take("starlark").text, encoding="utf-8")
    build = page.take("starlark").text
    check_style(folder, "BUILD.bazel", build)
    shell_in(app).run(page.take("sh"))

    (folder / "BUILD.bazel").write_text(build.replace('    project = "doorbell",\n', ""), encoding="utf-8")
    assert 'let the build expect it (Bazel: project = "doorbell")' in app.try_bazel("build", "//:plan").text

    (folder / "BUILD.bazel").write_text(build, encoding="utf-8")
    generator = Page("docs/build-systems.md#the-generator-of-bazel").take("starlark").text
    (folder / "tools").mkdir()
    (folder / "tools" / "BUILD.bazel").write_text(generator + TOOL, encoding="utf-8")
    (folder / "tools" / "tool.py").write_text('raise SystemExit("this is the company\'s")\n', encoding="utf-8")
    app.edit("WORKSPACE", "\nusmp_repo", '\nregister_toolchains("//tools:frozen_toolchain")\n\nusmp_repo')
    assert "this is the company's" in app.try_bazel("build", "//:plan").text


@runs("docs/build-systems.md#the-generator-of-bazel")
def test_the_style_of_a_toolchain(page: Page, tmp_path: Path) -> None:
    need_bazel("buildifier")
    check_style(tmp_path, "BUILD.bazel", page.take("starlark").text)


def check_style(folder: Path, name: str, text: str) -> None:
    """Hold a snippet against what buildifier says of such files, and leave it there."""
    (folder / name).write_text(text, encoding="utf-8")
    command = ["buildifier", "-mode=check", "-lint=warn", "-warnings=-module-docstring", name]
    assert run(command, folder) == Done(0, "", "")


@runs("examples/bazel/README.md")
def test_the_example(page: Page, tmp_path: Path, bazel_cache: Path) -> None:
    need_bazel("arm-none-eabi-gcc", "qemu-system-arm")
    with example(tmp_path, bazel_cache) as app:
        shell = shell_in(app, PATH=f"{Path(sys.executable).parent}:{app.env['PATH']}", USMP_PYTHON="/nowhere")
        first = page.take("sh")
        second = page.take("sh")
        shell.run(replace(first, text=first.text + second.text))
        shell_in(app).run(page.take("console"))


def shell_in(app: Workspace, **env: str) -> Shell:
    """A shell in the workspace."""
    return Shell(app.folder, {**app.env, **env})
