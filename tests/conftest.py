"""What all tests share: models, a copy of the tree to build with, and no silent skips where every tier is asked for."""

import compileall
import fcntl
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support import sample
from tests.support.checker import CheckedPlans
from tests.support.planned import Shared
from tests.support.tree import OF_CMAKE, ROOT, copy
from usmp_build.cli import progress

progress.SECONDS_EACH = 3600.0
"""Tests compare what is said: on a slow machine, a line about what takes ten seconds would be in between."""

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
_LONG = "long tests"
"""One more tier: the tests that are marked `long`."""
_SAMPLED = ("boards", "build systems", "packages", _LONG)
"""Tiers of which a sample has about a third."""


_CPU_SECONDS = 10.0
"""What a test that is not `long` may take of its process; on the machine that CI is measured on, three are asked."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-tiers", action="store_true", help=f"also run {', '.join(TIERS)} and {_LONG}")


def _all_tiers(config: pytest.Config) -> bool:
    return bool(config.getoption("--all-tiers") or os.environ.get("USMP_ALL_TIERS"))


def _left_out(config: pytest.Config) -> list[str]:
    """Return the tiers that are not asked for, by option, by path, or by USMP_ALL_TIERS."""
    if _all_tiers(config):
        return []
    paths = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    left_out = [name for name, folder in TIERS.items() if not any(path.is_relative_to(folder) for path in paths)]
    return left_out + [_LONG] * any(path.is_dir() for path in paths)


def _seed_of_sample(left_out: list[str]) -> str:
    """Return what draws the machines that tests run on (see `tests.support.sample`); empty: all tests run on all."""
    return os.environ.get("USMP_SAMPLE", "short" if _LONG in left_out else "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = _left_out(config)
    if seed := _seed_of_sample(left_out):
        terminalreporter.write_line(f"a sample of the tests ran (tests/support/sample.py): USMP_SAMPLE={seed}")
    if left_out:
        terminalreporter.write_line(f"left out: {', '.join(left_out)}; --all-tiers runs them")
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        seconds = dict(report.user_properties).get("cpu seconds", 0.0)
        if report.when == "call" and seconds > _CPU_SECONDS and "long" not in report.keywords:
            terminalreporter.write_line(
                f"{report.nodeid} took {seconds:.0f} s of CPU: make it smaller, or mark it long"
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measure the work of each test, for the summary: no test fails for its time, which is the machine's, too."""
    begin = time.process_time()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu seconds", time.process_time() - begin))


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tiers; mark the tests that read the models and problems of others: CI runs them without those, too."""
    left_out = _left_out(config)

    def is_of(item: pytest.Item, tiers: Sequence[str]) -> bool:
        is_long = _LONG in tiers and item.get_closest_marker("long") is not None
        return is_long or any(item.path.is_relative_to(TIERS[name]) for name in tiers if name != _LONG)

    wanted = [item for item in items if not is_of(item, left_out)]
    seed = _seed_of_sample(left_out)
    not_drawn = sample.of_parameters(wanted, seed) if seed else set()
    if os.environ.get("USMP_SAMPLE"):
        not_drawn |= sample.of_long_ones([item for item in wanted if is_of(item, _SAMPLED)], seed)
    kept = [item for item in wanted if item not in not_drawn]
    config.hook.pytest_deselected(items=[*{*items} - {*kept}])
    items[:] = kept
    reading = {path for path in {item.path for item in items} if _READS_OTHERS.search(path.read_text("utf-8"))}
    for item in items:
        if item.path in reading or not {*_OF_OTHERS}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("needs_shared")


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
