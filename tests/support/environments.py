"""Virtual environments of tests: ours is installed afresh, what it depends on is lent by the tests' own environment."""

import sys
import sysconfig
import venv
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import Done, far_from_us, output, run

_OURS = ("usmp_build", "_usmp_build")


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        return next(self.folder.glob("lib/python*/site-packages"))

    def run(self, command: str, *arguments: object, env: Mapping[str, str] | None = None) -> Done:
        """Run a command of it, in its folder: our source tree is not in sight."""
        return run([self.folder / "bin" / command, *arguments], self.folder, far_from_us() | dict(env or {}))

    def usmp(self, *arguments: object) -> str:
        """Run a verb; return what it prints.  Fails the test if the verb fails."""
        return self.passes("usmp-build", *arguments)

    def passes(self, command: str, *arguments: object, env: Mapping[str, str] | None = None) -> str:
        """Run a command; return what it prints.  Fails the test if the command fails."""
        done = self.run(command, *arguments, env=env)
        assert done.code == 0, done.out + done.err
        return done.out

    def install(self, *arguments: object) -> None:
        """Install, without any network, packages whose requirements are there already."""
        self._pip("install", "--quiet", "--no-index", "--no-build-isolation", *arguments)

    def link(self, tree: Path) -> None:
        """Do at once what `pip install --editable` does: the commands pip and usmp-build, and ours from a source tree.

        The compiled core is the one of the tests, if they have one.
        """
        (self.packages / "usmp_build.pth").write_text(f"{tree}\n", encoding="utf-8")
        for core in Path(sysconfig.get_path("platlib")).glob("_usmp_build_core.*"):
            (self.packages / core.name).symlink_to(core)
        for name, module in (("pip", "pip"), ("usmp-build", "usmp_build")):
            command = self.folder / "bin" / name
            command.write_text(f'#!/bin/sh\nexec "${{0%/*}}/python" -m {module} "$@"\n', encoding="utf-8")
            command.chmod(0o755)

    def check(self) -> None:
        """Let pip see that all packages have what they require."""
        self._pip("check")

    def _pip(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python]
        output([*command, *arguments], env=far_from_us())


def empty(folder: Path) -> Environment:
    """Make an environment without any package."""
    venv.create(folder, symlinks=True, with_pip=False)
    return Environment(folder)


def lent(folder: Path, only: Collection[str] = ()) -> Environment:
    """Make an environment that has the packages of the tests' own, but for ours; or `only` these files and folders."""
    environment = empty(folder)
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(place).iterdir():
            if only and entry.name not in only:
                continue
            if not (entry.name.startswith(_OURS) or entry.suffix == ".pth" or entry.name == "__pycache__"):
                (environment.packages / entry.name).symlink_to(entry)
    return environment
