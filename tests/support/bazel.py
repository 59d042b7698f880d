"""Bazel workspaces in tests: outside of our tree, which is an external repository; in sandboxes, without a network."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.cli import DATA
from tests.support.files import edit, write_files
from tests.support.processes import output, run
from tests.support.tools import need
from tests.support.tree import OF_BAZEL, ROOT, copy

EXAMPLE = ROOT / "examples" / "bazel"
_WORKSPACE = """\
workspace(name = "app")

local_repository(
    name = "usmp_build",
    path = "../usmp_build",
)

load("@usmp_build//bazel/workspace:repositories.bzl", "usmp_repositories")

usmp_repositories()
"""
_SETTINGS = """
startup --output_user_root={private}/bazel --host_jvm_args=-Xmx768m
startup --host_jvm_args=-XX:TieredStopAtLevel=1 --host_jvm_args=-XX:+UseSerialGC
build --disk_cache={cache}
build --execution_log_json_file={private}/steps.json
build --experimental_repository_disable_download
build --sandbox_default_allow_network=false
build --spawn_strategy=sandboxed
"""
"""More for `.bazelrc`; a server of a test does not live for long, so its Java need not be made fast."""


@dataclass(frozen=True)
class Step:
    """A process that Bazel ran, or would have run if it had not had its results."""

    message: str
    """What Bazel says of it: `Compiling plan/digits.c`."""
    was_cached: bool


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    text: str
    steps: tuple[Step, ...] = ()

    @property
    def done(self) -> list[str]:
        """What the steps are, sorted, each once."""
        return sorted({step.message for step in self.steps})


@dataclass(frozen=True)
class Workspace:
    """A workspace, and a Bazel server for it."""

    folder: Path
    private: Path
    """Where Bazel keeps what it knows of the workspace, and whatever else tests put there."""
    env: Mapping[str, str]

    def bazel(self, *arguments: str) -> Ran:
        """Run a command; return what it did.  Fails the test if it fails."""
        ran = self.try_bazel(*arguments)
        assert ran.code == 0, ran.text
        return ran

    def try_bazel(self, command: str, *arguments: str) -> Ran:
        """Run a command; return its steps and its output."""
        log = self.private / "steps.json"
        log.unlink(missing_ok=True)
        done = run(["bazel", command, *arguments], self.folder, self.env, merged=True, timeout=600)
        steps = tuple(_steps(log.read_text(encoding="utf-8"))) if log.is_file() else ()
        return Ran(done.code, done.out, steps)

    def built(self, path: str) -> Path:
        """Return where a file that was built is."""
        return self.folder / "bazel-bin" / path

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text of a file, which must be there once."""
        edit(self.folder / path, old, new)

    def shut_down(self) -> None:
        """End the server, and make what it left deletable."""
        output(["bazel", "shutdown"], self.folder, self.env)
        for folder, _, _ in os.walk(self.private):
            Path(folder).chmod(0o755)


def need_bazel(*others: str) -> None:
    """Skip the test where Bazel, or another tool, is missing."""
    need("bazel", *others)


@contextmanager
def example(root: Path, cache: Path) -> Iterator[Workspace]:
    """Yield a copy of examples/bazel, `app`, beside a copy of our repository, `usmp_build`."""
    folder = root / "app"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("bazel-*"))
    with served(folder, root, cache) as workspace:
        workspace.edit("WORKSPACE", 'path = "../.."', 'path = "../usmp_build"')
        yield workspace


@contextmanager
def written(
    root: Path, cache: Path, files: Mapping[str, str], env: Mapping[str, str] | None = None
) -> Iterator[Workspace]:
    """Yield a workspace of these files, with our models in `models/`."""
    folder = root / "app"
    write_files(folder, files)
    (folder / "models").mkdir(exist_ok=True)
    for model in ("digits", "odd_even"):
        shutil.copyfile(DATA / f"{model}.tflite", folder / "models" / f"{model}.tflite")
    shutil.copyfile(EXAMPLE / ".bazelrc", folder / ".bazelrc")
    (folder / "WORKSPACE").write_text(_WORKSPACE, encoding="utf-8")
    with served(folder, root, cache, env) as workspace:
        yield workspace


@contextmanager
def served(folder: Path, root: Path, cache: Path, env: Mapping[str, str] | None = None) -> Iterator[Workspace]:
    """Yield a workspace that takes results from a cache, which may be shared, and adds its own.

    Beside it is a copy of our repository, `usmp_build`, unless something is there.
    """
    if not (root / "usmp_build").exists():
        copy(root / "usmp_build", *OF_BAZEL)
    private = root / "private"
    private.mkdir()
    with (folder / ".bazelrc").open("a", encoding="utf-8") as settings:
        settings.write(_SETTINGS.format(private=private, cache=cache))
    own = {"PATH": os.environ["PATH"], "HOME": str(private), "USMP_PYTHON": sys.executable}
    workspace = Workspace(folder, private, {**own, **(env or {})})
    try:
        yield workspace
    finally:
        workspace.shut_down()


def _steps(log: str) -> Iterator[Step]:
    """Read the log of executions: JSON objects, one after the other, nothing between them.

    The report that Bazel writes after a test is left out: it depends on how many seconds the test took.
    """
    decoder = json.JSONDecoder()
    while log := log.lstrip():
        step, end = decoder.raw_decode(log)
        assert re.search("sandbox|cache hit", step["runner"]), f"not in a sandbox: {step['runner']}"
        if not any(argument.endswith("generate-xml.sh") for argument in step["commandArgs"]):
            yield Step(step["progressMessage"], bool(step["remoteCacheHit"]))
        log = log[end:]
