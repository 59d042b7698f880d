"""What the tests of packaging share: each archive is built once, by whoever needs it first."""

from pathlib import Path

import pytest

from tests.support.archives import Builder, litter, need_build_tools, unpack
from tests.support.environments import Environment, lent
from tests.support.planned import Shared
from tests.support.tree import ROOT
from tests.support.verbs import required

FROM_TREE = Builder(ROOT)


@pytest.fixture(scope="session")
def sdist(shared: Shared) -> Path:
    """The source archive of our tree."""
    need_build_tools()
    return shared("sdist", FROM_TREE.sdist)


@pytest.fixture(scope="session")
def elsewhere(shared: Shared, sdist: Path) -> Builder:
    """The source archive, unpacked at another place, worked in, and built under other circumstances.

    Without ccache, which would return what was compiled at the first place.
    """

    def make(folder: Path) -> Path:
        tree = unpack(sdist, folder / "a longer path" / "with ünicode")
        litter(tree)
        return tree

    others = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7", "CCACHE_DISABLE": "1"}
    return Builder(shared("elsewhere", make), umask=0o077, env=others)


@pytest.fixture(scope="session")
def wheel(shared: Shared) -> Path:
    """A wheel of our tree."""
    need_build_tools()
    return shared("wheel", FROM_TREE.wheel)


@pytest.fixture(scope="session")
def from_wheel(shared: Shared, wheel: Path) -> Environment:
    """An environment with the wheel, and what tests need."""

    def make(folder: Path) -> Path:
        lent(folder).install(wheel)
        return folder

    return Environment(shared("from_wheel", make))


@pytest.fixture(scope="session")
def bare(shared: Shared, wheel: Path) -> Environment:
    """An environment with this wheel and the packages that it requires: nothing else is there."""

    def make(folder: Path) -> Path:
        lent(folder, required()).install(wheel)
        return folder

    return Environment(shared("bare", make))


@pytest.fixture(scope="session")
def source(shared: Shared, sdist: Path) -> Path:
    """A source tree to install from."""
    return shared("source", lambda folder: unpack(sdist, folder))


@pytest.fixture(scope="session")
def editable(shared: Shared, source: Path) -> Environment:
    """An environment with an editable installation, made without build isolation."""
    need_build_tools()

    def make(folder: Path) -> Path:
        lent(folder).install("--editable", source)
        return folder

    return Environment(shared("editable", make))


@pytest.fixture(params=["from_wheel", "editable"])
def installed(request: pytest.FixtureRequest) -> Environment:
    """Each kind of installation."""
    environment: Environment = request.getfixturevalue(request.param)
    return environment
