"""What the runners of pages share: the page, and a reader's shell."""

import compileall
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.environments import lent
from tests.support.planned import Shared
from tests.support.processes import environment
from tests.support.shell import Shell
from tests.support.snippets import Page
from tests.support.tree import copy


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Page:
    """The page, or the section of one, that a test runs."""
    return Page(request.param)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """A runner that has come to its end has taken every snippet, or fails."""
    done = yield
    if isinstance(page := pyfuncitem.funcargs.get("page"), Page):
        page.check_that_all_were_taken()
    return done


@pytest.fixture(scope="session")
def checkout(shared: Shared) -> Path:
    """A copy of our source tree, in which nobody builds; `.venv` is a virtual environment that it is installed in."""

    def make(folder: Path) -> Path:
        copied = copy(folder / "usmp_build")
        compileall.compile_dir(copied / "usmp_build", quiet=1)
        lent(copied / ".venv").link(copied)
        return copied

    return shared("checkout", make)


@pytest.fixture
def clone(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of that for one test, to build in."""
    return shutil.copytree(checkout, tmp_path_factory.mktemp("clone") / "usmp_build", symlinks=True)


@pytest.fixture
def shell(checkout: Path, tmp_path: Path) -> Shell:
    """A shell in an empty folder, in which the virtual environment is active; `usmp-build` is loaded there already."""
    env = environment("PYTHONPATH")
    path = f"{warm.command(checkout / '.venv' / 'bin' / 'python')}:{checkout}/.venv/bin:{env['PATH']}"
    env |= {"PATH": path, "VIRTUAL_ENV": f"{checkout}/.venv", "PYTHONUNBUFFERED": "1"}
    return Shell(tmp_path, env)
