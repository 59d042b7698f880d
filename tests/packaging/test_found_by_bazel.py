"""Bazel takes the rules, and the generator, from an installed package."""

from pathlib import Path

import usmp_build
from tests.support.bazel import need_bazel, written
from tests.support.bazel_files import FILES
from tests.support.environments import lent
from tests.support.files import edit, write_files


def test_by_the_folder_that_the_tool_prints(wheel: Path, tmp_path: Path, bazel_cache: Path) -> None:
    """The folder of the package is the repository; Bazel sees no sources in it, so the interpreter brings them."""
    need_bazel()
    installed = lent(tmp_path / "venv")
    installed.install(wheel)
    (tmp_path / "usmp_build").symlink_to(installed.usmp("--bazel-dir").strip())
    with written(tmp_path, bazel_cache, FILES, {"USMP_PYTHON": str(installed.python)}) as workspace:
        workspace.bazel("test", "//:parity_test")
        versions = workspace.folder / "bazel-app" / "external" / "usmp_build_pypi" / "versions.txt"
        assert f"usmp_build {usmp_build.__version__}\n" in versions.read_text(encoding="utf-8")

        (metadata,) = installed.packages.glob("tomli-*.dist-info")
        metadata.unlink()
        plug_in = {"entry_points.txt": "[usmp_build.algorithms]\nmine = mine:Mine\n"}
        for name, files in (("tomli", {}), ("mine", plug_in)):
            folder = installed.packages / f"{name}-99.dist-info"
            write_files(folder, {"METADATA": f"Name: {name}\nVersion: 99\n", **files})
            workspace.bazel("sync", "--configure")
            assert workspace.bazel("test", "//:parity_test").done == ["Planning the memory of digits, parity"]

        edit(installed.packages / "usmp_build" / "__init__.py", usmp_build.__version__, "99")
        workspace.try_bazel("sync", "--configure")
        ran = workspace.try_bazel("build", "//:reader")
        assert ran.code == 1
        assert f"it has usmp_build 99, and the rules are of {usmp_build.__version__}" in ran.text
        assert f'"{installed.python}" -m pip install usmp_build=={usmp_build.__version__}\n' in ran.text
