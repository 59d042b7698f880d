"""What all tests share: models, a copy of the tree to build with, and no silent skips where every tier is asked for."""

import compileall
import fcntl
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import sample
from tests.support.checker import CheckedPlans
from tests.support.planned import Shared
from tests.support.tree import OF_CMAKE, ROOT, copy
from usmp_build.cli import progress

progress.SECONDS_EACH = 3600.0
"""Tests compare messages: on a slow machine, a line about what takes ten seconds would be in between."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start our tool hundreds of times, which takes twice as long where its modules are compiled at each start."""

TIERS = {
    "sources": ROOT / "tests" / "architecture",
    "boards": ROOT / "tests" / "firmware",
    "build systems": ROOT / "tests" / "build_systems",
    "packages": ROOT / "tests" / "packaging",
    "pages": ROOT / "tests" / "docs",
}
"""What takes long, by name: `pytest` leaves it out unless it is asked for the folder, or for all tiers."""
_LONG, _SLOW = "long tests", "slow tests"
MARKS = {_LONG: "long", _SLOW: "slow"}
"""Further tiers, of marked tests: left out unless their file is named, or all tiers."""
_SAMPLED = {"boards": 3, "build systems": 5, "packages": 3, _LONG: 5}
"""Tiers of which a sample has one test of about so many."""
_CPU_SECONDS = {_SLOW: 10.0, "": 3.0}
"""What a slow test, and one of no tier, may take of its process and those that it starts."""
_NOT_RUN = pytest.StashKey[dict[str, int]]()
"""How many tests of each tier are left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-tiers", action="store_true", help=f"also run {', '.join([*TIERS, *MARKS])}")


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where long tests are left out; no property has a time to keep."""
    settings.register_profile("all", deadline=None)
    settings.register_profile("few", deadline=None, max_examples=20)
    settings.load_profile("few" if _LONG in _left_out(config) else "all")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file in one process, where they share fixtures and plans, in the order of files."""
    if config.option.dist != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            group = super()._split_scope(nodeid)
            return nodeid.partition("::")[0] if group == nodeid else group

    config.option.loadscopereorder = False
    return ByFile(config, log)


def _all_tiers(config: pytest.Config) -> bool:
    return bool(config.getoption("--all-tiers") or os.environ.get("USMP_ALL_TIERS"))


def _left_out(config: pytest.Config) -> list[str]:
    """Return the tiers that are not asked for, by option, by path, or by USMP_ALL_TIERS."""
    if _all_tiers(config):
        return []
    paths = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    left_out = [name for name, folder in TIERS.items() if not any(path.is_relative_to(folder) for path in paths)]
    return [*left_out, *MARKS] if any(path.is_dir() for path in paths) else left_out


def _seed_of_sample(left_out: list[str]) -> str:
    """Return what draws the machines that tests run on (see `tests.support.sample`); empty: all tests run on all."""
    return os.environ.get("USMP_SAMPLE", "short" if _LONG in left_out else "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if seed := _seed_of_sample(_left_out(config)):
        terminalreporter.write_line(f"a sample of the tests ran (tests/support/sample.py): USMP_SAMPLE={seed}")
    if counts := config.stash.get(_NOT_RUN, {}):
        tiers = ", ".join(f"{name} ({count})" for name, count in counts.items())
        terminalreporter.write_line(f"left out: {tiers}; --all-tiers runs them")
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        seconds = dict(report.user_properties).get("cpu seconds")
        if report.when == "call" and seconds:
            advice = "make it smaller, or mark it slow or long"
            terminalreporter.write_line(f"{report.nodeid} took {seconds:.0f} s of CPU: {advice}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the work of tests that take much, for the summary: none fails for its time, which is the machine's, too."""
    begin = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        seconds = sum(os.times()[:4]) - begin
        if seconds > _CPU_SECONDS.get(_tier(item), seconds):
            item.user_properties.append(("cpu seconds", seconds))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With USMP_ALL_TIERS set, a test that is skipped or excused fails: a tier that drops out proves nothing."""
    report = yield
    if report.skipped and os.environ.get("USMP_ALL_TIERS"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but USMP_ALL_TIERS asks for every tier: {report.longrepr}"
    return report


_OF_OTHERS = ("real_models", "dsa_cases")
"""Fixtures that are the models and problems of others."""
_READS_OTHERS = re.compile(r"\b(shared_cases|usmp_cases|USMP_MODELS\W|USMP_PROBLEMS)\b")
"""In a module that reads them by itself."""


def _tier(item: pytest.Item) -> str:
    """Return the tier of a test; empty: it always runs."""
    folders = (name for name, folder in TIERS.items() if item.path.is_relative_to(folder))
    marks = (name for name, mark in MARKS.items() if item.get_closest_marker(mark))
    return next(chain(marks, folders), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tiers; mark the tests that read the models and problems of others: CI runs them without those, too."""
    left_out = _left_out(config)
    tiers = {item: _tier(item) for item in items}
    config.stash[_NOT_RUN] = dict(Counter(tier for tier in tiers.values() if tier in left_out))
    wanted = [item for item in items if tiers[item] not in left_out]
    seed = _seed_of_sample(left_out)
    not_drawn = sample.of_parameters(wanted, seed) if seed else set()
    if os.environ.get("USMP_SAMPLE"):
        shares = {item: _SAMPLED[tiers[item]] for item in wanted if tiers[item] in _SAMPLED}
        not_drawn |= sample.of_long_ones(shares, seed)
    kept = [item for item in wanted if item not in not_drawn]
    config.hook.pytest_deselected(items=[*{*items} - {*kept}])
    items[:] = kept
    reading = {path for path in {item.path for item in items} if _READS_OTHERS.search(path.read_text("utf-8"))}
    for item in items:
        if item.path in reading or not {*_OF_OTHERS}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("needs_shared")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a process of pytest-xdist to the one that writes the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["not run"] = session.config.stash.get(_NOT_RUN, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if hasattr(node, "workeroutput"):
        node.config.stash[_NOT_RUN] = node.workeroutput.get("not run", {})


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The folder of real models: $USMP_MODELS, else ../shared/models beside the project."""
    folder = Path(os.environ.get("USMP_MODELS") or ROOT.parent / "shared" / "models")
    if not any(folder.glob("*.tflite")):
        pytest.skip(f"the real models are not at {folder.name}; set USMP_MODELS")
    return folder


@pytest.fixture(scope="session")
def dsa_cases() -> list[Path]:
    """MiniMalloc's problems: in the folder $USMP_PROBLEMS, else in ../shared/cases beside the project."""
    folder = Path(os.environ.get("USMP_PROBLEMS") or ROOT.parent / "shared" / "cases") / "dsa"
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        pytest.skip(f"MiniMalloc's problems are not at {folder.name}; set USMP_PROBLEMS")
    return paths


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Shared:
    """Make a thing once for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if hasattr(request.config, "workerinput") else base) / "shared"

    def once(name: str, make: Callable[[Path], Path]) -> Path:
        folder, answer = root / name, root / f"{name}.path"
        folder.mkdir(parents=True, exist_ok=True)
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not answer.exists():
                answer.write_text(str(make(folder)))
        return Path(answer.read_text())

    return once


_PLANS = CheckedPlans(os.environ.get("USMP_SAMPLE", ""))


def pytest_runtest_setup(item: pytest.Item) -> None:
    _PLANS.is_on = "monkeypatch" not in getattr(item, "fixturenames", ()) and "fault" not in item.nodeid


@pytest.fixture(scope="session", autouse=True)
def plans_are_checked(request: pytest.FixtureRequest) -> Iterator[None]:
    """With all tiers, the checker of plans checks what tests plan; with a sample, of the large plans one of forty."""
    if not _all_tiers(request.config):
        yield
        return
    with _PLANS.hooked():
        yield


@pytest.fixture(scope="session")
def tree(shared: Shared) -> Path:
    """A copy of our source tree: builds depend on it, so nobody may edit it while tests run."""

    def make(folder: Path) -> Path:
        copied = copy(folder / "usmp_build", *OF_CMAKE)
        compileall.compile_dir(copied, quiet=1)
        return copied

    return shared("tree", make)


@pytest.fixture(scope="session")
def find(tree: Path) -> str:
    """The option that tells CMake where the package is."""
    return f"-Dusmp_build_DIR={tree.as_posix()}/cmake"


@pytest.fixture(scope="session")
def bazel_cache(shared: Shared) -> Path:
    """A cache of results for all Bazel workspaces of a test run: what one has built, others take."""
    return shared("bazel_cache", lambda folder: folder)
