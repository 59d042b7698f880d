"""The compiled core changes no byte of any answer; where it is missing, or cannot be loaded, Python searches."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest

import usmp_build
from tests.support.cases import texts_of_tvm
from tests.support.environments import Environment
from tests.support.processes import output
from tests.support.tree import ROOT

ASK = """
import contextlib, io, json, sys
from usmp_build.cli import main

def answer(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()

questions = json.loads(open(sys.argv[1], encoding="utf-8").read())
print(json.dumps([answer(question) for question in questions]))
"""
"""Answers many command lines in one process."""

Answers = list[tuple[int, str, str]]

MANIFESTS = sorted(path for path in ROOT.glob("examples/**/usmp.toml") if "\npath =" in path.read_text("utf-8"))
MANIFESTS.remove(ROOT / "examples" / "rows" / "usmp.toml")  # takes Python four minutes; "regions" has rows, too
EXAMPLES = [["plan", "--json", "--quiet", path] for path in MANIFESTS]
"""Of those that say themselves where their models are; quiet, for progress depends on time."""
FILES = sorted((ROOT / "tests" / "cases" / "problems").glob("*.*"))
PROBLEMS = [["solve", path] for path in FILES if path.suffix != ".txt"]

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
BROKEN = {
    "not a library": b"rubbish",
    "of another processor": b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x03\x00\x15\x00\x00\x00\x01" + bytes(4096),
    "empty": b"",
}


def ask(environment: Environment, questions: list[list[object]], folder: Path, before: Path | None = None) -> Answers:
    """Put command lines to an installation; `before` holds modules that Python finds first."""
    script, asked = folder / "ask.py", folder / "questions.json"
    script.write_text(ASK, encoding="utf-8")
    asked.write_text(json.dumps([list(map(str, question)) for question in questions]), encoding="utf-8")
    env = {} if before is None else {"PYTHONPATH": str(before)}
    return [(code, out, err) for code, out, err in json.loads(environment.passes("python", script, asked, env=env))]


def note(environment: Environment, before: Path | None = None) -> str:
    """What an installation says of its core."""
    done = environment.run("usmp-build", "plugins", env={} if before is None else {"PYTHONPATH": str(before)})
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[-1]


def test_it_is_told_who_searches(pure: Environment, with_core: Environment) -> None:
    assert note(with_core) == "the compiled core searches"
    assert note(pure) == "the compiled core was not built; Python searches, more slowly"


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.parent.relative_to(ROOT).as_posix() for path in MANIFESTS])
def test_plans_of_examples_are_the_same(
    example: list[object], pure: Environment, with_core: Environment, tmp_path: Path
) -> None:
    (answer,) = ask(with_core, [example], tmp_path)
    assert answer[0] == 0
    assert ask(pure, [example], tmp_path) == [answer]


def test_answers_to_problems_are_the_same(pure: Environment, with_core: Environment, tmp_path: Path) -> None:
    questions = [*PROBLEMS, *written(tmp_path)]
    answers = ask(with_core, questions, tmp_path)
    assert {0, 1, 3} <= {code for code, *_ in answers}
    assert ask(pure, questions, tmp_path) == answers


def written(folder: Path) -> list[list[object]]:
    """A problem that has a plan, one that has none, and TVM's cases where they are, each in a file."""
    texts = {f"limit_{limit}": json.dumps(ring(limit)) for limit in (5, 6)}
    texts |= texts_of_tvm()
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return [["solve", folder / f"{name}.json"] for name in texts]


def ring(limit: int) -> dict[str, object]:
    """A problem of which every plan takes 6 bytes, though never more than 4 are alive: the search has to prove that."""
    return {
        "pools": [{"name": "sram", "limit": limit}],
        "buffers": [{"name": str(number), "size": 2} for number in range(5)],
        "conflicts": [[str(number), str((number + 1) % 5)] for number in range(5)],
    }


@pytest.mark.parametrize("name", "ACE")
def test_answers_to_hard_problems_are_the_same(
    name: str, dsa_cases: list[Path], pure: Environment, with_core: Environment, tmp_path: Path
) -> None:
    (case,) = (path for path in dsa_cases if path.name.startswith(name))
    wanted = [["solve", case, "--capacity", "1048576", "--out", tmp_path / "plan.json"]]
    files = []
    for environment in (with_core, pure):
        ((code, _, err),) = ask(environment, wanted, tmp_path)
        assert (code, err) == (0, "")
        files.append((tmp_path / "plan.json").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_core_that_cannot_be_loaded_is_no_error(
    content: bytes, pure: Environment, with_core: Environment, tmp_path: Path
) -> None:
    (tmp_path / f"_usmp_build_core{SUFFIX}").write_bytes(content)
    assert note(with_core, tmp_path).startswith("the compiled core cannot be loaded; Python searches, more slowly (")
    assert ask(with_core, EXAMPLES[:2], tmp_path, before=tmp_path) == ask(pure, EXAMPLES[:2], tmp_path)


def test_a_library_that_is_no_module_is_no_error(with_core: Environment, tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    output(["cc", "-shared", source, "-o", tmp_path / f"_usmp_build_core{SUFFIX}"])
    assert "dynamic module does not define module export function" in note(with_core, tmp_path)


def test_a_core_for_another_python_is_not_seen(pure: Environment, tmp_path: Path) -> None:
    (tmp_path / "_usmp_build_core.cpython-39-x86_64-linux-gnu.so").write_bytes(b"")
    assert note(pure, tmp_path) == note(pure)


def test_a_core_of_another_version_is_not_used(with_core: Environment, tmp_path: Path) -> None:
    (tmp_path / "_usmp_build_core.py").write_text('__version__ = "0.0.9"\n')
    assert usmp_build.__version__ != "0.0.9"
    assert "is of another version, 0.0.9;" in note(with_core, tmp_path)
