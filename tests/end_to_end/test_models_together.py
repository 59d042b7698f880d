"""Words about models together, from outside: what they cost, what the header says, what runs, what is refused."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import RO, RW, call, manifest, planned, says, succeed, tables
from tests.support.flatbuffer import model, operator, quantization, subgraph, tensor, write
from tests.support.processes import output
from tests.support.programs_c import function, invoke, parameter, program, store
from tests.support.tools import few, need
from tests.support.tree import text_file
from usmp_build import effort, passes
from usmp_build.ir.lifetimes import Survivors
from usmp_build.search import operator_order

SIZE = 64
HEAD = tables("p", {"sram": RW, "flash": RO}, {})
NAMES = ("a", "b", "c")


def chain(inputs: int = 1) -> bytes:
    """Add up the inputs, twice; all tensors mean the same."""
    like: dict[str, Any] = {"Quantization": quantization([0.1], [3])}
    tensors = [tensor(f"in{i}", (1, SIZE), **like) for i in range(inputs)]
    tensors += [tensor("inner", (1, SIZE), **like), tensor("out", (1, SIZE), **like)]
    first = operator("ADD", [0, inputs - 1], [inputs])
    second = operator("ADD", [inputs, 0], [inputs + 1])
    return write(model(subgraph(tensors, [first, second], list(range(inputs)), [inputs + 1])))


def asked(folder: Path, extra: str = "", words: dict[str, str] | None = None, top: str = "") -> Path:
    """Three models in one pool; `words` are lines of their tables."""
    for name in NAMES:
        (folder / f"{name}.tflite").write_bytes(chain(2 if name == "c" else 1))
    tables = (f'[models.{name}]\npath = "{name}.tflite"\n{(words or {}).get(name, "")}\n' for name in NAMES)
    return manifest(folder, f"{top}{HEAD}{''.join(tables)}{extra}")


def edge(source: str, target: str) -> str:
    return f'[[connections]]\nfrom = "{source}"\nto = "{target}"\n'


def workspace(plan: dict[str, Any]) -> int:
    return sum(int(pool["size"]) for pool in plan["pools"] if pool["access"] == "rw")


def header(folder: Path, path: Path, name: str) -> str:
    succeed("generate", path, "--out", folder / "out")
    return (folder / "out" / f"{name}.h").read_text("utf-8").replace("\n * ", " ")


WORDS = [
    ({"a": 'inputs = "preserved"'}, "a", "inputs", SIZE),
    ({"a": 'inputs = "reserved"'}, "a", "inputs", SIZE),
    ({"b": 'outputs = "reserved"'}, "b", "outputs", SIZE),
    ({"b": 'io = "application"'}, "b", "", 0),
]


@pytest.mark.parametrize(("words", "name", "word", "cost"), WORDS)
def test_words_cost_what_the_plan_says(tmp_path: Path, words: dict[str, str], name: str, word: str, cost: int) -> None:
    with_word, without = planned(asked(tmp_path, words=words)), planned(asked(tmp_path))
    (alone,) = [row for row in with_word["alternatives"]["models"] if row["name"] == name]
    assert sum(keep["workspace"] for keep in alone["keeps"]) <= cost
    if word:
        (keep,) = alone["keeps"]
        assert keep["key"] == word
        assert keep["workspace"] == workspace(with_word) - workspace(without)
        value = f'{word} = "{keep["value"]}" costs {keep["workspace"]} bytes of workspace'
        assert value in call("plan", asked(tmp_path, words=words)).out
        assert "costs" not in header(tmp_path, asked(tmp_path, words=words), name)


def test_what_many_words_cost_is_worked_out_for_the_first_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes another plan of the whole firmware."""
    monkeypatch.setattr(effort, "RETENTION_SETTINGS", 2)
    words = 'inputs = "preserved"\noutputs = "reserved"\n'
    text = '[project]\nname = "many"\n'
    path = manifest(
        tmp_path, text + "".join(f'[models.m{i}]\npath = "DATA/odd_even.tflite"\n{words}' for i in range(2))
    )
    keeps = [keep["workspace"] for model in planned(path)["alternatives"]["models"] for keep in model["keeps"]]
    assert [cost is None for cost in keeps] == [False, False, True, True]
    message = call("plan", path).out
    assert message.count("of workspace") == 2
    assert "what 2 more such words cost is not worked out" in message


def test_what_concurrency_costs(tmp_path: Path) -> None:
    together = planned(asked(tmp_path, top='concurrent = [["a", "b"]]\n'))
    apart = planned(asked(tmp_path))
    assert together["concurrent"] == [["a", "b"]]
    assert together["alternatives"]["concurrent_workspace"] == workspace(together) - workspace(apart) > 0
    text = call("plan", asked(tmp_path, top='concurrent = [["a", "b"]]\n')).out
    cost = together["alternatives"]["concurrent_workspace"]
    assert f"models at the same time (a and b) cost {cost} bytes of workspace" in text
    assert (apart["concurrent"], apart["alternatives"]["concurrent_workspace"]) == ([], 0)


def test_headers_say_how_long_pointers_are_valid(tmp_path: Path) -> None:
    words = {"b": 'inputs = "reserved"\noutputs = "reserved"', "c": 'inputs = "preserved"'}
    path = asked(tmp_path, edge("a.out", "c.in0"), words, 'concurrent = [["a", "b"]]\n')
    first = header(tmp_path, path, "a")
    assert "the run itself, a run of c, or filling its inputs may overwrite them." in first
    assert "Output out feeds c.in0: it is valid until this model runs again, or its inputs are filled." in first
    second = header(tmp_path, path, "b")
    assert "Inputs are nobody else's" in second
    assert "They stay intact until filled again." in second
    assert "Outputs are valid until this model runs again" in second
    third = header(tmp_path, path, "c")
    assert "Input in1 is intact after a run until a or b runs, or their inputs are filled" in third
    assert "A run of a fills input in0, with its output out.  It is valid until a runs, or its inputs are" in third
    assert "    const int8_t *in0;\n    int8_t *in1;\n" in third


CASES = {
    "chain": (edge("a.out", "b.in0") + edge("b.out", "c.in1"), {}, ""),
    "two consumers": (edge("b.out", "a.in0") + edge("b.out", "c.in0") + edge("b.out", "c.in1"), {}, ""),
    "cycle": (edge("a.out", "b.in0") + edge("b.out", "a.in0"), {}, ""),
    "kept": (
        edge("a.out", "c.in0"),
        {"a": 'outputs = "reserved"', "b": 'inputs = "reserved"', "c": 'inputs = "preserved"'},
        "",
    ),
    "concurrent": (edge("a.out", "c.in0"), {"b": 'outputs = "reserved"'}, 'concurrent = [["a", "b"], ["b", "c"]]\n'),
}

OWNED = [
    {},
    {"a": 'inputs = "preserved"'},
    {"a": 'inputs = "reserved"'},
    {"b": 'outputs = "reserved"'},
    {"a": 'inputs = "reserved"\noutputs = "reserved"', "c": 'inputs = "reserved"'},
    {"a": 'io = "application"'},
]


@pytest.mark.parametrize("words", few(OWNED, 1), ids=lambda words: str(list(words.values())))
@pytest.mark.parametrize("constants", ["generated", "application"])
@pytest.mark.long
def test_all_of_it_runs_in_pools_of_the_application(tmp_path: Path, words: dict[str, str], constants: str) -> None:
    path = asked(tmp_path, words=words)
    text = path.read_text("utf-8")
    for access, owner in (("rw", "application"), ("ro", constants)):
        assert f'"{access}"' in text
        text = text.replace(f'"{access}"', f'"{access}"\nowner = "{owner}"')
    path.write_text(text, encoding="utf-8")
    succeed("selftest", path, "--sanitize", "--runs", "2")


@pytest.mark.slow
@pytest.mark.parametrize("case", few(CASES, 2))
def test_all_of_it_runs(tmp_path: Path, case: str) -> None:
    succeed("selftest", asked(tmp_path, *CASES[case]), "--sanitize", "--runs", "3")


@pytest.mark.parametrize("case", ["chain", "kept"])
def test_data_lost_between_runs_is_detected(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(request: Any, models: Any, *_: Any) -> Survivors:
        none = (frozenset[int](),) * len(models)
        return Survivors(frozenset(), none, none)

    monkeypatch.setattr(passes, "survivors", nothing)
    says(call("selftest", asked(tmp_path, *CASES[case]), "--runs", "2"), 4, "S608")


def test_outputs_overwritten_by_filling_inputs_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the step that fills inputs forgets the outputs of the run before."""
    lifetimes = passes.lifetimes

    def forgetful(plan: Any, *others: Any) -> Any:
        programs = (replace(p, body=(replace(p.body[0], keeps=()), *p.body[1:])) for p in plan.programs)
        return lifetimes(replace(plan, programs=tuple(programs)), *others)

    twice = RELU.replace("inputs", '%2 "w" float32[1,32]\n  inputs').replace("outputs %1", "outputs %2")
    (tmp_path / "a.model.txt").write_text(twice + "  %2 = RELU(%1)\n")
    path = manifest(tmp_path, HEAD + '[models.a]\npath = "a.model.txt"\noutputs = "reserved"\n')
    assert call("selftest", path, "--runs", "2").code == 0
    monkeypatch.setattr(passes, "lifetimes", forgetful)
    monkeypatch.setattr(operator_order, "least_workspace", lambda *_: 0)  # that bound would find it first
    says(call("selftest", path, "--runs", "2"), 4, "S608")


SAME = """model "b"
subgraph 0 "main"
  %0 "x" float32[1,32]
  %1 "z" float32[1,32]
  %2 "y" float32[1,32]
  inputs %0, %1
  outputs %2, %0
  %2 = ADD(%0, %1)
"""
RELU = """model "a"
subgraph 0 "main"
  %0 "u" float32[1,32]
  %1 "v" float32[1,32]
  inputs %0
  outputs %1
  %1 = RELU(%0)
"""


@pytest.mark.slow
def test_a_reserved_output_that_is_an_input_is_valid_until_that_is_filled(tmp_path: Path) -> None:
    (tmp_path / "a.model.txt").write_text(RELU)
    (tmp_path / "b.model.txt").write_text(SAME)
    b = '[models.b]\npath = "b.model.txt"\noutputs = "reserved"\n'
    path = manifest(tmp_path, HEAD + b)
    alone = header(tmp_path, path, "b")
    assert "Output y is valid until this model runs again: filling its inputs leaves it intact" in alone
    assert "Output x_2 is input x: it is valid until that is filled." in alone
    assert call("selftest", path, "--runs", "3", "--sanitize").code == 0
    path = manifest(tmp_path, f'{HEAD}[models.a]\npath = "a.model.txt"\n{b}{edge("a.v", "b.x")}')
    fed = header(tmp_path, path, "b")
    assert "A run leaves it as it is: it is output x_2." in fed
    assert "consumes" not in fed
    assert "Output x_2 is input x: it is valid until a runs, or its inputs are filled." in fed
    assert call("selftest", path, "--runs", "3", "--sanitize").code == 0


def test_refusals_stand_at_the_connection(tmp_path: Path) -> None:
    done = call("plan", asked(tmp_path, edge("a.out", "b.nowhere")))
    says(done, 1, 'error[P341]: model "b" has no input called "nowhere"')
    assert "^^^^^^^^^^^" in done.err.splitlines()[2]
    assert 'to = "b.nowhere"' in done.err.splitlines()[1]
    assert "inputs: in0" in done.err


def test_a_cascade_that_concurrency_makes_impossible(tmp_path: Path) -> None:
    done = call("plan", asked(tmp_path, edge("a.out", "b.in0"), top='concurrent = [["a", "b"]]\n'))
    assert done.code == 1
    assert 'error[P347]: model "a" feeds "b", and `concurrent` lets both run at the same time' in done.err
    assert 'take "a" or "b" out of the group in `concurrent`' in done.err


@pytest.mark.slow
def test_programs_are_connected_too(tmp_path: Path) -> None:
    """They say nothing of quantization, so any of it will do."""
    ports = [parameter("x", "int8", SIZE), parameter("y", "int8", SIZE)]
    scale = function([parameter("from", "int8", SIZE), parameter("to", "int8", SIZE)], store("to", "from"))
    program(tmp_path, function(ports, invoke("scale", "x", "y")), scale=scale)
    table = '[models.q]\npath = "p.program.json"\n'
    plan = planned(asked(tmp_path, table + edge("q.y", "a.in0") + edge("a.out", "q.x")))
    between = {b["name"]: (b["model"], b["shared_with"]) for b in plan["buffers"] if b["kind"] == "connection"}
    assert between == {"q.y": ("q", ["a"]), "a.out": ("a", ["q"])}
    (tmp_path / "p.c").write_text(
        '#include <string.h>\n#include "q.h"\n'
        f"void q_scale(const int8_t *from, int8_t *to) {{ memcpy(to, from, {SIZE}); }}\n",
        encoding="utf-8",
    )
    path = asked(tmp_path, table + edge("q.y", "a.in0") + edge("a.out", "q.x"))
    succeed("selftest", path, "--source", tmp_path / "p.c", "--runs", "3", "--sanitize")


def test_stages_and_explanations_say_what_is_kept_and_why(tmp_path: Path) -> None:
    words = {"b": 'inputs = "reserved"\noutputs = "reserved"', "c": 'inputs = "preserved"'}
    path = asked(tmp_path, edge("a.out", "c.in0"), words)

    def table(stage: str) -> list[list[str]]:
        return [line.split() for line in call("inspect", stage, path).out.splitlines()[1:]]

    assert table("connections") == [["a.out", "c.in0", "a.out", str(SIZE)]]
    survivors = {name: columns for name, *columns in table("survivors")}
    assert survivors["b.in0"] == ["always", "always"]
    assert survivors["a.out"] == ["b", "c", "a", "b", "c"]  # before those of b and c, after those of all
    assert "a.inner" not in survivors
    (shown,) = json.loads(call("inspect", "connections", path, "--json").out)
    assert (shown["producer_name"], shown["consumer_name"]) == ("a.out", "c.in0")
    assert set(json.loads(call("inspect", "survivors", path, "--json").out)) == {"always", "before", "after"}
    assert [line for line in call("explain", "a.out", path).out.splitlines() if "kept" in line] == [
        "  kept    for c.in0",
        '  kept    by inputs = "preserved" of model "c"',
    ]
    assert '  kept    by outputs = "reserved" of model "b"' in call("explain", "b.out", path).out
    assert '  kept    by inputs = "reserved" of model "b"' in call("explain", "b.in0", path).out
    assert "kept" not in call("explain", "a.inner", path).out


def test_a_bound_of_models_at_the_same_time_has_no_step_but_their_names(tmp_path: Path) -> None:
    path = asked(tmp_path, top='concurrent = [["a", "b"]]\n')
    plan = planned(path)
    pool = plan["pools"][0]
    witness = pool["certificate"]
    assert witness["step"] is None
    assert {name.partition(".")[0] for name in witness["buffers"]} == {"a", "b"}
    apart = planned(asked(tmp_path))["pools"][0]["certificate"]
    assert apart["step"] in [step["text"] for step in plan["steps"]]
    small = asked(tmp_path, top='concurrent = [["a", "b"]]\n')
    text = small.read_text("utf-8").replace('access = "rw"', f'access = "rw"\nsize = {pool["bound"] - 1}')
    small.write_text(text, encoding="utf-8")
    says(call("plan", small), 3, 'is 1 byte too small while "a" and "b" run at the same time: ')


def test_a_word_that_does_not_fit_is_a_way_out(tmp_path: Path) -> None:
    words = {"a": 'inputs = "reserved"'}
    needed = workspace(planned(asked(tmp_path)))
    path = asked(tmp_path, words=words)
    path.write_text(path.read_text("utf-8").replace('"rw"', f'"rw"\nsize = {needed}'), encoding="utf-8")
    done = call("plan", path)
    assert done.code == 3
    assert f"{SIZE} bytes" in done.err
    assert f'leave inputs = "reserved" out of model "a": {SIZE} bytes are then not kept between runs' in done.err


THREADS = text_file("models_together_threads.c")


def threads(folder: Path, top: str) -> subprocess.CompletedProcess[str]:
    """Run a and b in a thread each, under ThreadSanitizer, without the guard of debug builds, which would refuse."""
    assert call("generate", asked(folder, top=top), "--out", folder / "out").code == 0
    (folder / "out" / "main.c").write_text(THREADS, encoding="utf-8")
    files = ["main.c", "a.c", "b.c", "p_pools.c", "p_kernels.c"]
    command = ["gcc", "-std=c99", "-O1", "-g", "-DNDEBUG", "-fsanitize=thread", "-pthread", *files, "-o", "both"]
    output(command, folder / "out")
    return subprocess.run([folder / "out" / "both"], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_models_at_the_same_time_in_two_threads(tmp_path: Path) -> None:
    need("gcc")
    done = threads(tmp_path, 'concurrent = [["a", "b"]]\n')
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not run under this kernel")
    assert done.returncode == 0, done.stderr
    assert "data race" in threads(tmp_path, "").stderr  # without the word, they share
