"""docs/install.md, from top to bottom, in one folder; its packages come from an index, as anybody's would."""

import json
import re
import sys
import sysconfig
from pathlib import Path

import pytest

import usmp_build
from tests.support.processes import far_from_us, output, run
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need
from tests.support.tree import copy

VERSION = f"usmp_build {usmp_build.__version__}\n"


@pytest.fixture
def clean(tmp_path: Path) -> Shell:
    """A shell beside a copy of the source tree; pipx and uvx are there."""
    scripts = Path(sysconfig.get_path("scripts"))
    need(scripts / "pipx", scripts / "uvx")
    probe = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", tmp_path / "probe", "tomli"]
    if run(probe, env=far_from_us()).code != 0:
        pytest.skip("no package index is in reach")
    copy(tmp_path / "usmp_build")
    (tmp_path / "tools").mkdir()
    for tool in ("pipx", "uv", "uvx"):
        (tmp_path / "tools" / tool).symlink_to(scripts / tool)
    env = far_from_us() | {
        "PIPX_HOME": f"{tmp_path}/pipx",
        "PIPX_BIN_DIR": f"{tmp_path}/bin",
        "PIP_NO_COMPILE": "0",  # which stands for true: Python compiles the little that runs
    }
    env |= {"PATH": f"{tmp_path}/bin:{tmp_path}/tools:{env['PATH']}"}
    return Shell(tmp_path, env)


@runs("docs/install.md")
def test_every_way_to_install_it(page: Page, clean: Shell) -> None:
    folder = clean.folder
    assert clean.run(page.take("sh")).endswith(2 * VERSION)  # for a project
    assert clean.run(page.take("sh")).endswith(VERSION)  # for the command alone
    assert (folder / "bin" / "usmp-build").exists()
    clean.run(page.take("console"))

    clean.run(page.take("sh"))  # to work on it
    answer = python(folder, "import usmp_build; print(usmp_build.__file__)")
    assert Path(answer).parent == folder / "usmp_build" / "usmp_build"

    assert clean.run(page.take("sh")).endswith(VERSION)  # without installing it

    clean.run(page.take("sh"))  # without a network
    assert clean.run(page.take("sh")).endswith(VERSION)
    clean.run(page.take("sh"))
    assert [path.name for path in (folder / "wheels-3.12").glob("numpy-*-cp312-*.whl")]

    clean.run(page.take("sh"))  # extras
    python(folder, "import tflite_micro")
    clean.run(page.take("console"))  # the compiled core
    assert len(set(clean.run(page.take("sh")).splitlines()[-2:])) == 2  # archives
    assert len(list((folder / "usmp_build" / "dist").iterdir())) == 2
    clean.run(page.take("sh"))  # a bill of materials
    bill = json.loads((folder / "usmp_build.cdx.json").read_text(encoding="utf-8"))
    assert bill["metadata"]["component"]["name"] == "usmp_build"
    names = {component["name"].lower() for component in bill["components"]}
    assert {"jinja2", "numpy", "pydantic", "tomli"} <= names
    (command,) = re.findall(r"- run: (.*)", page.take("yaml").text)  # wheels: which ones, as nothing here builds them
    wheels = clean.at(folder / "usmp_build").output(f"{command} --print-build-identifiers --platform linux")
    assert "cp312-manylinux_x86_64" in wheels.split()


def python(folder: Path, program: str) -> str:
    """What the interpreter in `.venv` prints."""
    return output([folder / ".venv" / "bin" / "python", "-c", program], folder / "tools", far_from_us()).strip()
