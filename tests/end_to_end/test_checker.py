"""The checker of plans, which shares nothing with us, accepts what we plan and refuses what is in a wrong place."""

import ast
import contextlib
import hashlib
import io
import json
import os
import random
import re
import sys
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checker.main import check, main
from checker.model import Model, NotCovered, Wrong
from tests.support.checker import CheckedPlans, PlannedModels, planned_models
from tests.support.cli import call
from tests.support.flatbuffer import model, operator, subgraph, tensor, write
from tests.support.lstms import lstm
from tests.support.net import LINEAR, Net
from tests.support.processes import run
from tests.support.spoiled_json import spoiled
from usmp_build import installation, pipeline
from usmp_build.files import DictFiles
from usmp_build.layout.plan_json import plan_json
from usmp_build.pipeline import Planned
from usmp_build.planner.memory.plan import Allocation
from usmp_build.planner.memory.verify import violations

DATA = Path(__file__).parents[1] / "data"
COUNT = int(os.environ.get("USMP_FUZZ", "150"))
MODELS = ("branchy", "digits", "float_net", "kitchen_a", "kitchen_b", "odd_even", "quantized_io")
BY_ROWS = "[plan]\nrows = {}\n"


@pytest.fixture
def digits() -> PlannedModels:
    return planned_models(("digits",), BY_ROWS.format("false"))


@pytest.mark.parametrize("rows", ["true", "false"])
@pytest.mark.parametrize("name", MODELS)
def test_plans_of_models_are_right(name: str, rows: str) -> None:
    firmware = planned_models((name,), BY_ROWS.format(rows))
    assert firmware.verdict(firmware.document) == ""


def test_an_operator_reads_on_from_what_the_caller_gets_a_copy_of() -> None:
    """A view of an output, whose parts stay in the workspace: it shows them, not the copy, which comes later."""
    firmware = planned_models(("kitchen_a",), 'io = "application"\n' + BY_ROWS.format("false"))
    assert [step["operator"] for step in firmware.document["steps"]][-3:-1] == [12, 13]
    assert firmware.verdict(firmware.document) == ""


@pytest.mark.parametrize("rows", ["true", "false"])
def test_steps_say_what_their_text_says(rows: str) -> None:
    enter, *steps, leave = planned_models(("digits",), BY_ROWS.format(rows)).document["steps"]
    nobody = {"model": "digits", "operator": None, "row": None, "buffer": None}
    assert enter == {**nobody, "kind": "enter", "text": "digits: enter"}
    assert leave == {**nobody, "kind": "leave", "text": "digits: leave"}
    for step in steps:
        row = "" if step["row"] is None else f", row {step['row']}"
        assert step["kind"] == "operator"
        assert re.fullmatch(rf"digits: \w+ {step['operator']}{row}", step["text"])
    assert (0 in [step["row"] for step in steps]) == (rows == "true")


def test_operators_of_subgraphs_are_other_steps() -> None:
    steps = planned_models(("control",)).document["steps"]
    texts = {step["text"].partition(": ")[2]: (step["kind"], step["operator"]) for step in steps}
    assert texts["WHILE 0"] == texts["copy in"] == texts["LESS 0"] == ("other", None)
    assert texts["LESS 2"] == ("operator", 2)


@pytest.mark.parametrize("name", ["branchy", "digits"])
def test_a_bound_is_checked_where_buffers_overlap(name: str) -> None:
    """The bytes that the fullest turn of one operator needs are as many, which are fewer than its buffers have."""
    firmware = planned_models((name,), BY_ROWS.format("false"))
    document = firmware.document
    pool = document["pools"][0]
    sizes = {buffer["name"]: buffer["size"] for buffer in document["buffers"]}
    assert sum(sizes[buffer] for buffer in pool["certificate"]["buffers"]) > pool["bound"]
    assert not [line for line in check(document, firmware.models) if line.startswith("bound")]
    pool["size"] = pool["bound"] = pool["bound"] + 1
    assert "can be seen" in check(document, firmware.models)[-1]


@pytest.mark.parametrize("first", ["", 'concurrent = [["digits", "odd_even"]]\n'])
def test_plans_of_several_models_are_right(first: str) -> None:
    firmware = planned_models(("digits", "odd_even"), first=first)
    assert firmware.verdict(firmware.document) == ""


def test_models_that_may_run_together_share_no_byte() -> None:
    firmware = planned_models(("digits", "odd_even"))
    assert "share bytes" in firmware.verdict({**firmware.document, "concurrent": [["digits", "odd_even"]]})


def test_what_it_cannot_check_is_no_silent_yes() -> None:
    firmware = planned_models(("control",))
    with pytest.raises(NotCovered, match="control flow"):
        firmware.verdict(firmware.document)


def _moved(document: dict[str, Any], draw: random.Random) -> tuple[str, int]:
    """Move a buffer of the workspace, or a row; return its name and its new place."""
    buffers = [b for b in document["buffers"] if b["pool"] == "sram"]
    buffer = draw.choice(buffers)
    peak = document["pools"][0]["size"]
    place = draw.choice((draw.randrange(peak + 8), draw.choice(buffers).get("offset", 0)))
    if "offsets" not in buffer:
        buffer["offset"] = max(0, buffer["offset"] + draw.choice((-4, -1, 1, 4))) if draw.random() < 0.3 else place
        return buffer["name"], buffer["offset"]
    row = draw.randrange(len(buffer["offsets"]))
    buffer["offsets"][row] = place
    return f"{buffer['name']}[{row}]", place


@pytest.mark.long
@pytest.mark.parametrize("names", [("digits",), ("kitchen_b",), ("branchy",), ("digits", "odd_even")], ids="+".join)
def test_a_moved_buffer_is_refused_by_both_or_by_none(names: tuple[str, ...]) -> None:
    """The verifier knows what kernels declare; the checker only what operators are.  They agree on every place."""
    firmware = planned_models(names)
    draw, refused = random.Random(7), 0
    numbers = {buffer.name: index for index, buffer in enumerate(firmware.problem.buffers)}
    for _ in range(COUNT // 4):
        document = firmware.document
        name, offset = _moved(document, draw)
        places = list(firmware.plan.allocations)
        places[numbers[name]] = Allocation(places[numbers[name]].pool, offset)
        end = offset + firmware.problem.buffers[numbers[name]].size
        document["pools"][0]["size"] = max(document["pools"][0]["size"], end)
        wrong = violations(firmware.problem, replace(firmware.plan, allocations=tuple(places)))
        refusal = firmware.verdict(document)
        assert bool(wrong) == bool(refusal), f"{name} at {offset}: {wrong[:1]} and {refusal!r}"
        refused += bool(refusal)
    assert 0 < refused < COUNT // 4


def _fault(document: dict[str, Any], number: int) -> None:
    """Change one fact so that the plan is wrong."""
    buffers, pool, model = document["buffers"], document["pools"][0], document["models"][0]
    first = next(b for b in buffers if "offset" in b and b["kind"] == "input")
    faults = (
        lambda: pool.update(size=pool["size"] - 1),
        lambda: pool.update(limit=pool["size"] - 1),
        lambda: pool.update(bound=pool["size"] + 1),
        lambda: first.update(pool="nowhere"),
        lambda: first.update(offset=-1),
        lambda: first.update(size=first["size"] - 1),
        lambda: first.update(intervals=[[0, 1]]),
        lambda: first.update(name=buffers[-1]["name"]),
        lambda: model["operators"][1].update(reads=[]),
        lambda: model["operators"].pop(),
        lambda: model["tensors"].pop(0),
        lambda: document["steps"].insert(1, document["steps"].pop(-2)),
        lambda: document["steps"].pop(1),
        lambda: pool["certificate"]["buffers"].append(pool["certificate"]["buffers"][0]),
        lambda: pool["certificate"].update(step=document["steps"][-1]["text"]),
        lambda: model["backward"].append(0) if 0 not in model["backward"] else model["backward"].remove(0),
    )
    faults[number]()


@pytest.mark.parametrize("number", range(16))
def test_a_wrong_fact_is_refused(digits: PlannedModels, number: int) -> None:
    document = digits.document
    _fault(document, number)
    assert digits.verdict(document)


def _main(folder: Path, plan: str, model: bytes) -> tuple[int, str]:
    """Run the program on a plan and a model; return its exit code and what it prints, which is a line if not right."""
    (folder / "plan.json").write_text(plan, encoding="utf-8")
    (folder / "m.tflite").write_bytes(model)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main([str(folder / "plan.json"), str(folder / "m.tflite")])
    assert code == 0 or printed.getvalue().count("\n") == 1
    assert printed.getvalue().isascii()
    return code, printed.getvalue()


def _of(document: dict[str, Any], model: bytes) -> str:
    document["models"][0]["sha256"] = hashlib.sha256(model).hexdigest()
    return json.dumps(document)


def test_no_name_means_two_things_where_all_files_are_one() -> None:
    body = ast.parse(installation.checker()).body
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    named = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    named += [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert len({*named}) == len(named) > 50


def test_it_is_printed_and_runs_alone(tmp_path: Path, digits: PlannedModels) -> None:
    """As one file, in a Python that sees no folder but its own."""
    text = call("verify", "--print-checker").out
    assert not re.search(r"^ *(from|import) (checker|usmp_build)", text, re.MULTILINE)
    plan = json.dumps(digits.document)
    assert _main(tmp_path, plan, (DATA / "digits.tflite").read_bytes())[0] == 0
    assert _main(tmp_path, plan, (DATA / "odd_even.tflite").read_bytes())[0] == 1
    program = tmp_path / "check_plan.py"
    program.write_text(text, encoding="utf-8")
    for name, code in (("digits", 0), ("odd_even", 1)):
        command = [sys.executable, "-I", str(program), str(tmp_path / "plan.json"), str(DATA / f"{name}.tflite")]
        done = run(command, tmp_path)
        assert (done.code, done.err) == (code, "")
        assert done.out.startswith("wrong: " if code else "right: ")


def _planned(manifest: str, **models: bytes) -> tuple[dict[str, Any], list[Any]]:
    """Return a plan of these models in one pool, and the models as the checker reads them, in its order."""
    tables = "".join(f'[models.{name}]\npath = "{name}.tflite"\n' for name in models)
    text = f'[project]\nname = "p"\n[pools.sram]\naccess = "rw"\n{tables}{manifest}'
    files = DictFiles({"usmp.toml": text.encode(), **{f"{name}.tflite": data for name, data in models.items()}})
    document = json.loads(plan_json(pipeline.plan(pipeline.read("usmp.toml", files), files).summary))
    return document, [Model(models[record["name"]]) for record in document["models"]]


def _quantized(document: dict[str, Any], fault: str) -> None:
    """Plant a fault in a plan of a model of floats with weights of integers."""
    constants = [b for b in document["buffers"] if b["kind"] == "constant"]
    if fault == "scratch":
        next(b for b in document["buffers"] if b["kind"] == "scratch")["size"] = 1
    elif fault == "constants in one place":
        for buffer in constants:
            buffer.update(offset=0, size=0)
    elif fault == "no constants":
        document["buffers"] = [b for b in document["buffers"] if b not in constants]
    elif fault == "an output that leaves by rows":
        document["models"][0]["outputs_by_rows"] = document["models"][0]["outputs"]
    else:
        document["models"][0]["inputs"] = []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("scratch", "needs scratch of"),
        ("constants in one place", "the plan has 0 for the"),
        ("no constants", "the plan has 0 for the"),
        ("an output that leaves by rows", "is to leave row by row, and is not computed so"),
        ("no inputs", "the file has 1 inputs, the plan names 0"),
    ],
)
def test_what_a_plan_says_is_compared_with_the_model(fault: str, message: str) -> None:
    document, models = _planned("", m=lstm(np.random.default_rng(2), "FLOAT32", dynamic=True))
    check(document, models)
    for pool in document["pools"]:
        pool.update(certificate=None, bound=0)
    _quantized(document, fault)
    with pytest.raises(Wrong, match=message):
        check(document, models)


@pytest.mark.parametrize("names", permutations("abc"), ids="".join)
def test_a_connection_is_kept_from_every_model(names: tuple[str, ...]) -> None:
    """Wherever the third model is in the plan: it may run between the other two.  Its buffers may lie anywhere else."""
    net = Net(3)
    data = net.file(net.conv(net.input(2, 2, 4), 4, act=LINEAR))
    first, second, third = names
    link = f'[[connections]]\nfrom = "{first}.t3"\nto = "{second}.t0"\n'
    document, models = _planned(link, **dict.fromkeys(names, data))
    assert not [each for each in check(document, models) if each.startswith("bound")]
    kept = next(b for b in document["buffers"] if b["kind"] == "connection")
    moved = [b for b in document["buffers"] if b["model"] == third and b["kind"] != "constant"]
    document["pools"][0].update(certificate=None, bound=0, size=document["pools"][0]["size"] + 64)
    for place in range(kept["offset"] + 20):
        is_over = any(abs(place + at - kept["offset"]) < 16 for at in (0, 4))
        for b, at in zip(sorted(moved, key=lambda b: b["kind"] == "input"), (0, 4), strict=True):
            b["offset"] = place + at
        lost = f'{third} overwrites "{kept["name"]}", which must outlive its runs'
        with pytest.raises(Wrong, match=lost) if is_over else contextlib.nullcontext():
            check(document, models)


HUGE = 1 << 60


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"steps": []}, 1),
        ({"buffers": [{"name": "a", "offsets": [HUGE], "row_size": 1, "intervals": []}]}, 1),
        ({"pools": {"sram": 0}}, 1),
        ({"models": 3}, 1),
        ({"version": "\ud800\x1b[2J\n"}, 1),
    ],
    ids=["no steps", "no interval", "a table for a list", "a number for a list", "strange text"],
)
def test_hostile_plans_are_refused(tmp_path: Path, digits: PlannedModels, changes: dict[str, Any], code: int) -> None:
    plan = json.dumps(digits.document | changes)
    assert _main(tmp_path, plan, (DATA / "digits.tflite").read_bytes())[0] == code


def test_a_pool_that_no_machine_has_takes_no_memory_here(tmp_path: Path, digits: PlannedModels) -> None:
    document = digits.document
    for pool in document["pools"]:
        pool["size"] = HUGE
    for buffer in document["buffers"]:
        if "offset" in buffer:
            buffer["offset"] += HUGE // 2
    assert _main(tmp_path, json.dumps(document), (DATA / "digits.tflite").read_bytes())[0] == 0


@pytest.mark.parametrize("plan", ["[" * 100_000, "", "[]", '{"models": [{}]}', "9" * 10_000])
def test_what_is_no_plan_is_refused(tmp_path: Path, plan: str) -> None:
    assert _main(tmp_path, plan, (DATA / "digits.tflite").read_bytes())[0] == 1


def test_hostile_models_take_bounded_work(tmp_path: Path, digits: PlannedModels) -> None:
    """Vectors that all tensors share, and more elements than could ever be replayed."""
    shared = tensor("t", Buffer=1)
    wide = tensor("x", [1 << 30, 1 << 20])
    for node in (
        model(subgraph([shared] * 20_000), data=[bytes(100_000)]),
        model(subgraph([wide, wide], [operator("RELU", [0], [1])], [0], [1])),
        model(subgraph([tensor("x", [1] * 50_000)])),
        model(subgraph([wide, wide, wide], [operator("RELU", [0], [1])], [0], [2])),
    ):
        data = write(node)
        assert _main(tmp_path, _of(digits.document, data), data)[0] in (1, 3)


@pytest.mark.long
def test_changed_values_are_no_traceback(tmp_path: Path, digits: PlannedModels) -> None:
    draw, model_file = random.Random(3), (DATA / "digits.tflite").read_bytes()
    codes = set()
    for _ in range(COUNT // 3):
        codes.add(_main(tmp_path, json.dumps(spoiled(digits.document, draw)), model_file)[0])
    assert codes >= {0, 1}


@pytest.mark.parametrize("seed", ["", "one", "another"])
def test_a_wrong_plan_that_a_test_makes_fails_it(monkeypatch: pytest.MonkeyPatch, seed: str) -> None:
    """Whatever the seed draws: the plan is a small one."""
    plan = pipeline.plan

    def short(*arguments: Any) -> Planned:
        planned = plan(*arguments)
        pools = tuple(replace(pool, size=pool.size - 1) for pool in planned.summary.pools)
        return replace(planned, summary=replace(planned.summary, pools=pools))

    monkeypatch.setattr(pipeline, "plan", short)
    with pytest.raises(AssertionError, match="and the pool has"), CheckedPlans(seed).hooked():
        planned_models.__wrapped__(("digits",), BY_ROWS.format("false"))
