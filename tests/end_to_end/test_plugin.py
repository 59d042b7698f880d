"""An algorithm of another package: installed as packages are, chosen by its name, and trusted in nothing."""

import re
import shutil
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model, planned, says
from tests.support.packages import Installed, install
from tests.support.tree import ROOT

pytestmark = pytest.mark.usefixtures("_beside_us")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The package in tests/plugin."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "tests" / "plugin", folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    return install(folder / "source", folder / "installed")


@pytest.fixture
def _beside_us(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process see it, too: `call` is faster than a process for each question."""
    monkeypatch.syspath_prepend(installed.folder)


def asked(folder: Path, table: str) -> Path:
    """A manifest that asks for an algorithm, in line 6."""
    return manifest(folder, one_model("digits", f"[plan]\n{table}\n"))


@pytest.mark.long
def test_in_a_process_of_its_own(installed: Installed, tmp_path: Path) -> None:
    assert re.search(r"(?m)^algorithms +shelf +usmp-shelf 0\.3$", installed.call("plugins").out)
    done = installed.call("plan", asked(tmp_path, 'algorithm = "shelf"\noptions = { gap = 4 }'), "--isa", "portable")
    assert (done.code, done.err) == (0, "")
    assert "verified plan by shelf;" in done.out
    for fault, code in (("overlap", "P501"), ("zero", "P407")):
        done = installed.call("plan", asked(tmp_path, f'algorithm = "faulty"\noptions = {{ fault = "{fault}" }}'))
        assert done.code == 4
        assert f'error[{code}]: algorithm "faulty" of usmp-shelf 0.3 ' in done.err
        assert "Traceback" not in done.err


@pytest.mark.slow
def test_it_is_listed_with_its_package() -> None:
    rows = [line.split() for line in call("plugins").out.splitlines()]
    assert ["algorithms", "shelf", "usmp-shelf", "0.3"] in rows
    assert ["algorithms", "auto", "usmp_build"] in rows


def test_it_is_read_as_builds_see_it(installed: Installed, tmp_path: Path) -> None:
    """Another version of it plans otherwise: then, build systems generate again."""
    depfile = tmp_path / "deps.d"
    path = asked(tmp_path, 'algorithm = "shelf"')
    assert call("generate", path, "--out", tmp_path / "out", "--depfile", depfile, "--depfile-target", "x").code == 0
    read = depfile.read_text(encoding="utf-8").strip().split(" \\\n  ")
    folder = installed.folder.as_posix()
    for name in ("usmp_shelf/__init__.py", "usmp_shelf/faulty.py", "usmp_shelf-0.3.dist-info/entry_points.txt"):
        assert read.count(f"{folder}/{name}") == 1, name


def test_it_is_chosen_by_its_name(tmp_path: Path) -> None:
    plan = planned(asked(tmp_path, 'algorithm = "shelf"'))
    pool = plan["pools"][0]
    assert plan["algorithm"] == "shelf"
    assert pool["size"] >= sum(row["size"] for row in plan["buffers"] if row["pool"] == pool["name"])


@pytest.mark.parametrize(
    "options",
    ["gap = 100", 'first = "smallest"', "slack = 2", "slack = 1.5", 'last = ["digits.mix_1/Relu"]', "most = 9999"],
)
@pytest.mark.long
def test_its_options_are_in_the_manifest(tmp_path: Path, options: str) -> None:
    """In either form; a whole number is a number, and a list is a tuple."""
    plain, inline, table = (
        planned(asked(tmp_path, f'algorithm = "shelf"\n{words}'))["buffers"]
        for words in ("", f"options = {{ {options} }}", f"[plan.options]\n{options}")
    )
    assert inline == table
    assert (plain != inline) == (options != "most = 9999")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("gup = 1", 'error[P402]: algorithm "shelf" has no option "gup"'),
        ("gap = 1.5", 'error[P406]: option "gap" of algorithm "shelf" should be a whole number'),
        ("gap = true", 'error[P406]: option "gap" of algorithm "shelf" should be a whole number'),
        ('slack = "2"', 'error[P406]: option "slack" of algorithm "shelf" should be a number'),
        ('first = "any"', 'error[P406]: option "first" of algorithm "shelf" should be "largest" or "smallest"'),
        ('last = "x"', 'error[P406]: option "last" of algorithm "shelf" should be a list'),
        ('most = "x"', 'error[P406]: option "most" of algorithm "shelf" should be a whole number'),
    ],
)
def test_its_options_are_checked(tmp_path: Path, options: str, message: str) -> None:
    done = call("plan", asked(tmp_path, f'algorithm = "shelf"\noptions = {{ {options} }}'))
    says(done, 1, f"usmp.toml:7:13: {message}", "\nhelp: ")


def faulty(folder: Path, fault: str) -> tuple[int, str]:
    done = call("plan", asked(folder, f'algorithm = "faulty"\noptions = {{ fault = "{fault}" }}'))
    assert "Traceback" not in done.err
    return done.code, done.err


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "overlap",
            r"digits\.\S+ and digits\.\S+ overlap in workspace: \[0, \d+\) and \[0, \d+\); "
            r"digits\.\S+ must start at least .* \(and \d+ more\)",
        ),
        ("elsewhere", r"digits\.\S+ is in pool number 99, but may only be in: workspace"),
        ("short", r"the plan has \d+ places for \d+ buffers"),
        ("floats", r"digits\.\S+ has a place that is not two integers: 0, \d+\.\d"),
        ("pairs", r"digits\.\S+ has a place that is no Allocation: \(0, \d+\)"),
    ],
)
def test_its_wrong_plan_is_named(tmp_path: Path, fault: str, message: str) -> None:
    """By the package that brings it, whatever the plan says of its origin."""
    code, err = faulty(tmp_path, fault)
    assert code == 4
    who = re.escape('error[P501]: algorithm "faulty" of usmp-shelf 0.3 returned a wrong plan: ')
    assert re.search(f"usmp.toml:6:13: {who}{message}", err), err


def test_a_plan_beyond_a_limit_is_wrong(tmp_path: Path) -> None:
    table = '[plan]\nalgorithm = "faulty"\noptions = { fault = "outside" }\n'
    done = call("plan", manifest(tmp_path, one_model("digits", f'[pools.ram]\naccess = "rw"\nsize = 65536\n{table}')))
    assert done.code == 4
    assert re.search(r"error\[P501\]: .*ends at \d+ in ram, beyond the limit 65536", done.err)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("zero", "ZeroDivisionError: integer division or modulo by zero (faulty.py, line "),
        ("exit", "SystemExit: 0 (faulty.py, line "),
        ("unheard of", "KeyError: 'unheard of' (faulty.py, line "),
    ],
)
def test_an_exception_is_an_error_with_its_name(tmp_path: Path, fault: str, message: str) -> None:
    code, err = faulty(tmp_path, fault)
    assert code == 4
    assert f'usmp.toml:6:13: error[P407]: algorithm "faulty" of usmp-shelf 0.3 failed: {message}' in err


def test_an_exception_of_an_importer_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "m.shelf").touch()
    done = call("plan", manifest(tmp_path, one_model("digits").replace("DATA/digits.tflite", "m.shelf")))
    says(done, 4, "error[P407]: a plug-in of usmp-shelf 0.3 failed: KeyError: 'digits' (import_nothing, line ")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('algorithm = "faulty"', "TypeError: Faulty.__init__() missing 1 required positional argument: 'fault'"),
        ('algorithm = "shelf"\noptions = { gap = -1 }', "ValueError: the gap is less than nothing"),
    ],
)
def test_options_that_it_refuses(tmp_path: Path, table: str, message: str) -> None:
    says(call("plan", asked(tmp_path, table)), 4, f"of usmp-shelf 0.3 failed: {message}")


def test_an_algorithm_that_finds_nothing(tmp_path: Path) -> None:
    code, err = faulty(tmp_path, "nothing")
    assert code == 3
    assert "usmp.toml:6:13: error[P502]: no plan was found: no place was found for digits." in err
    assert 'help: one may exist all the same; write algorithm = "auto", which finds a plan' in err


@pytest.mark.slow
def test_what_it_cannot_fit_is_explained_with_its_own_figures(tmp_path: Path) -> None:
    """It stacks everything: that needs more than is necessary, and that is not taken for a proof."""
    text = one_model("digits", '[pools.ram]\naccess = "rw"\nsize = 3000\n[plan]\nalgorithm = "shelf"\n')
    done = call("plan", manifest(tmp_path, text))
    assert done.code == 3
    assert "no plan needs less" not in done.err
    ways = done.err.partition("help: ")[2]
    more = re.search(r'enlarge "ram" by ([\d,]+) bytes', ways)
    assert more
    enough = 3000 + int(more[1].replace(",", ""))
    assert call("plan", manifest(tmp_path, text.replace("3000", str(enough)))).code == 0
    assert call("plan", manifest(tmp_path, text.replace("3000", str(enough - 16)))).code == 3
    assert 'write algorithm = "auto", which finds a plan' in ways


def test_a_package_that_does_not_hold_what_it_promises(tmp_path: Path) -> None:
    done = call("plan", asked(tmp_path, 'algorithm = "absent"'))
    says(done, 1, 'error[P405]: plug-in "absent" of usmp-shelf 0.3 cannot be loaded: No module named')


@pytest.mark.slow
def test_a_name_that_is_taken(installed: Installed, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "tests" / "plugin", source)
    project = (source / "pyproject.toml").read_text(encoding="utf-8").replace("usmp-shelf", "other-shelf")
    (source / "pyproject.toml").write_text(f'{project}\n[tool.flit.module]\nname = "usmp_shelf"\n', encoding="utf-8")
    both = Installed(install(source, shutil.copytree(installed.folder, tmp_path / "both")).folder)
    done = both.call("plugins")
    assert done.code == 1
    assert re.search(r'error\[P401\]: both \S+ 0.3 and \S+ 0.3 provide algorithms called "', done.err)
