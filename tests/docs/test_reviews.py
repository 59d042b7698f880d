"""docs/report.md: the commands of its examples compare two branches of a repository."""

import re
import shutil

import pytest

from tests.support.cli import DATA, RO, RW, manifest, tables
from tests.support.processes import Done, run
from tests.support.shell import Shell
from tests.support.snippets import Page, Snippet, runs
from tests.support.tree import ROOT

POOLS = {"sram": RW + 'size = "4 KiB"\n', "flash": RO}
SMALL = tables("doorbell", POOLS, {"digits": 'path = "digits.tflite"\n'})
LARGE = SMALL + "[plan]\nrows = false\n"
BRANCHES = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "BASE": "origin/main", "GITHUB_STEP_SUMMARY": "summary.md"}


@pytest.fixture
def repository(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A clone whose branch needs more memory than main."""
    origin = tmp_path_factory.mktemp("origin")
    shutil.copyfile(DATA / "digits.tflite", origin / "digits.tflite")
    manifest(origin, SMALL)
    git = "git -c user.name=a -c user.email=a@example.com"
    shell.at(origin).output(f"usmp-build generate && git init -q -b main && git add . && {git} commit -qm small")
    shell.output(f"git clone -q {origin} .")
    manifest(shell.folder, LARGE)
    shell.output(f"usmp-build generate && git checkout -qb larger && {git} commit -qam large")
    return shell


def commands(snippet: Snippet, key: str) -> list[str]:
    """The commands below a key of YAML that our tool and git run: those of services are left out."""
    lines = snippet.text.splitlines()
    listed = [line.strip().removeprefix("- ") for line in lines]
    if key == "run":
        listed = [line.removeprefix("run: ") for line in listed]
    return [line for line in listed if re.match(r"(usmp-build|git|mkdir|cat) ", line)]


def tried(shell: Shell, lines: list[str]) -> Done:
    return run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], shell.folder, {**shell.env, **BRANCHES})


@runs("docs/report.md#what-changed")
def test_what_changed(page: Page, repository: Shell) -> None:
    (repository.folder / "before").mkdir()
    repository.output("git show origin/main:generated/plan.json > before/plan.json")
    repository.run(page.take("console"))


@runs("docs/report.md#budgets")
def test_budgets(page: Page, shell: Shell) -> None:
    shutil.copyfile(DATA / "digits.tflite", shell.folder / "digits.tflite")
    manifest(shell.folder, '[project]\nname = "doorbell"\n' + page.take("toml").text)
    shell.run(page.take("console"))
    assert tried(shell, ["usmp-build plan --fail-over-budget"]).code == 4


@runs("docs/report.md#github-actions")
def test_github_actions(page: Page, repository: Shell) -> None:
    *shown, refused = commands(page.take("yaml"), "run")
    assert len(shown) == 6
    done = tried(repository, shown)
    assert done.code == 0, done.err
    assert "| sram | 759 | 1,543 | **+784** |" in (repository.folder / "summary.md").read_text(encoding="utf-8")
    assert (repository.folder / "report.html").is_file()
    assert tried(repository, [refused]).code == 0
    assert tried(repository, [refused.replace("1 KiB", "783 B")]).code == 4


@runs("docs/report.md#gitlab")
def test_gitlab(page: Page, repository: Shell) -> None:
    lines = commands(page.take("yaml"), "script")
    assert len(lines) == 7
    done = tried(repository, lines)
    assert done.code == 0, done.err
    assert "**+784**" in (repository.folder / "memory.md").read_text(encoding="utf-8")


@runs("docs/report.md#pre-commit")
def test_the_hook_refuses_a_stale_folder(page: Page, repository: Shell) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    config = page.take("yaml").text
    assert re.search(r"id: (\S+)", config)[1] == re.search(r"id: (\S+)", hook)[1]  # type: ignore[index]
    entry = re.search(r"entry: (.*)", hook)[1]  # type: ignore[index]
    arguments = re.search(r"args: \[(.*)\]", config)[1].replace(",", "")  # type: ignore[index]
    assert tried(repository, [f"{entry} {arguments}"]).code == 0
    manifest(repository.folder, SMALL)
    done = tried(repository, [f"{entry} {arguments}"])
    assert done.code == 4
    assert "error[U241]" in done.err
