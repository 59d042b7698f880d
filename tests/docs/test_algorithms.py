"""docs/maintainers/algorithms.md: its algorithm is installed and run, its table is complete."""

import json
import re
from dataclasses import fields, replace

import pytest

from tests.support.cli import call, manifest, one_model
from tests.support.files import write_files
from tests.support.packages import Installed
from tests.support.page_files import python
from tests.support.problems import CASES, load
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need_packages
from tests.support.tree import ROOT
from usmp_build.planner import by_name
from usmp_build.planner.memory.verify import violations
from usmp_build.providers import providers

PAGE = (ROOT / "docs" / "maintainers" / "algorithms.md").read_text(encoding="utf-8")
LONGEST_FIRST = Page("docs/maintainers/algorithms.md#your-own-in-25-lines").take("python")


@runs("docs/maintainers/algorithms.md")
def test_an_algorithm_is_chosen_written_and_installed(page: Page, shell: Shell) -> None:
    assert call("plan", manifest(shell.folder, one_model("odd_even") + page.take("toml").text)).code == 0
    package = {"longest_first.py": page.take("python").text, "pyproject.toml": page.take("toml").text}
    write_files(shell.folder / "longest-first", package)
    installing(shell).run(page.take("console"))
    table = '[plan]\nalgorithm = "longest_first"\noptions = { shortest = true }\n'
    path = manifest(shell.folder, one_model("odd_even") + table)
    done = Installed(shell.folder / "installed").call("plan", path, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["algorithm"] == "longest_first"


def installing(shell: Shell) -> Shell:
    """A shell whose pip installs into a folder beside our packages, without any network."""
    need_packages("flit_core", "pip")
    folder = str(shell.folder / "installed")
    switches = ("PIP_NO_INDEX", "PIP_NO_DEPS", "PIP_DISABLE_PIP_VERSION_CHECK")
    env = {"PIP_TARGET": folder, "PYTHONPATH": folder, "PIP_NO_BUILD_ISOLATION": "0", **dict.fromkeys(switches, "1")}
    return replace(shell, env={**shell.env, **env})


def test_the_algorithm_of_the_manual_is_sound() -> None:
    names = python(LONGEST_FIRST)
    longest, shortest = (names["LongestFirst"](shortest=flag) for flag in (False, True))
    solved = [stated for stated, _ in map(load, CASES) if longest(stated) is not None]
    assert len(solved) > len(CASES) / 2
    assert all(violations(stated, longest(stated)) == () for stated in solved)
    assert any(shortest(stated) != longest(stated) for stated in solved)


@pytest.mark.parametrize("name", by_name.ALGORITHMS)
def test_the_manual_knows_every_algorithm_and_its_options(name: str) -> None:
    row = re.search(rf"(?m)^\| `{name}` \| (.*?)\| ", PAGE)
    assert row
    algorithm = providers("algorithms", by_name.ALGORITHMS)[name].load()
    assert re.findall(r"`(\w+)`", row[1]) == [field.name for field in fields(algorithm) if field.init]
