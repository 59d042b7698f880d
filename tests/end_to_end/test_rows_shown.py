"""What is shown of layers that run row by row: plan.json, `explain`, `diff` and `inspect` know tensors in rows."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.cli import call, manifest, one_model, says, succeed
from tests.support.row_nets import residual
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.cli.explain_rows import place_lines
from usmp_build.errors import UsageError
from usmp_build.files import DiskFiles
from usmp_build.layout.plan_json import plan_json, read_plan
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve
from usmp_build.planner.problems import problem_json
from usmp_build.units import show_bytes

Document = dict[str, Any]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A manifest whose layers run row by row."""
    (tmp_path / "net.tflite").write_bytes(residual())
    return manifest(tmp_path, one_model("net", path="net.tflite"))


@pytest.fixture
def whole(rows: Path) -> Path:
    """The same, layer by layer."""
    return manifest(rows.parent, one_model("net", path="net.tflite") + "[plan]\nrows = false\n", "whole.toml")


def text_of(path: Path) -> str:
    done = succeed("plan", path, "--json")
    return done.out


def in_rows(plan: Document) -> list[Document]:
    return [buffer for buffer in plan["buffers"] if "offsets" in buffer]


def test_rows_of_a_tensor_are_one_record(rows: Path, whole: Path) -> None:
    text = text_of(rows)
    plan = json.loads(text)
    jsonschema.validate(plan, json.loads((ROOT / "schemas" / "plan.schema.json").read_text("utf-8")))
    assert plan_json(read_plan(text.encode(), "plan.json", UsageError, "U204", "")) == text
    names = [buffer["name"] for buffer in plan["buffers"]]
    assert [name for name in names if "[" in name] == []
    assert {*names} - {buffer["name"] for buffer in json.loads(text_of(whole))["buffers"]} == {"net.t12.sums"}
    assert [
        (b["name"], b["row_size"], len(b["offsets"]) - len(b["moved"]), len(b["intervals"]) - len(b["moved"]))
        for b in sorted(in_rows(plan), key=str)
    ] == [
        ("net.t10", 40, 8, 8),
        ("net.t11", 24, 4, 4),
        ("net.t3", 40, 8, 8),
        ("net.t6", 40, 8, 8),
        ("net.t9", 40, 8, 8),
    ]


def problem_of(path: Path, plan: Document) -> Document:
    """The problem that was planned, with the lifetimes of plan.json: who conflicts follows from these."""
    request = resolve(load(path.read_bytes(), path.name))
    problem: Document = json.loads(problem_json(pipeline.plan(request, DiskFiles(path.parent)).analysis.problem))
    intervals = {name: intervals for name, _, _, intervals in places(plan)}
    buffers = [{**buffer, "intervals": intervals[buffer["name"]]} for buffer in problem["buffers"]]
    return {**problem, "buffers": buffers, "conflicts": None}


def places(plan: Document) -> list[tuple[str, str, int, list[list[int]]]]:
    """All buffers of plan.json, each row by itself: name, pool, offset, intervals."""
    listed = [(b["name"], b["pool"], b["offset"], b["intervals"]) for b in plan["buffers"] if "offset" in b]
    for b in in_rows(plan):
        pairs = enumerate(zip(b["offsets"], b["intervals"], strict=True))
        listed += [(f"{b['name']}[{row}]", b["pool"], offset, [interval]) for row, (offset, interval) in pairs]
    return listed


@pytest.mark.slow
def test_plan_json_holds_what_proves_every_row(rows: Path) -> None:
    """Another program can check it; a row that is moved onto another one is an error."""
    plan, problem, csv = json.loads(text_of(rows)), rows.parent / "problem.json", rows.parent / "places.csv"
    problem.write_text(json.dumps(problem_of(rows, plan)))

    def verify() -> tuple[int, str]:
        lines = [f'"{name}",{pool},{offset}\n' for name, pool, offset, _ in places(plan)]
        csv.write_text("".join(["id,pool,offset\n", *lines]))
        done = call("verify", csv, problem)
        return done.code, done.err

    assert verify() == (0, "")
    tensor = next(buffer for buffer in in_rows(plan) if buffer["name"] == "net.t3")
    alive = tensor["intervals"]
    one, other = next(
        (a, b) for a, b in combinations(range(8), 2) if alive[a][0] < alive[b][1] and alive[b][0] < alive[a][1]
    )
    tensor["offsets"][other] = tensor["offsets"][one]
    code, errors = verify()
    assert code == 4
    assert f"net.t3[{one}]" in errors
    assert f"net.t3[{other}]" in errors


def test_explain_says_where_rows_go(rows: Path) -> None:
    plan = json.loads(text_of(rows))
    tensor = next(buffer for buffer in in_rows(plan) if buffer["name"] == "net.t3")
    offsets, intervals = tensor["offsets"], tensor["intervals"]
    most = max(sum(start <= step < stop for start, stop in intervals) for step in range(len(plan["steps"])))
    begin, first = min((start, row) for row, (start, _) in enumerate(intervals))
    end, last = max((stop, place) for place, (_, stop) in enumerate(intervals))
    last = last if last < 8 else tensor["moved"][last - 8]
    size = plan["pools"][0]["size"]
    expected = [
        "net.t3: intermediate, written by CONV_2D 0",
        f"  rows    8 of 40 bytes, each aligned to 1, at most {most} alive at the same time",
        f"  place   pool workspace, bytes [{min(offsets)}; {max(offsets) + 40}) of {size}",
        f"          rows 0 to 7 at {' '.join(map(str, offsets[:8]))}",
        f"  moves   {len(tensor['moved'])}, of {len({*tensor['moved']})} rows, to make room for others",
        f"  alive   [{begin}, {end}): from net: CONV_2D 0, row {first} to net: ADD 3, row {last}",
    ]
    for name in ("t3", "%3"):
        lines = call("explain", name, rows).out.splitlines()
        assert lines[:6] == expected, name
        assert len(lines) <= 12
    start, stop = intervals[3]
    row = call("explain", "t3[3]", rows).out.splitlines()
    assert row[:3] == [
        "net.t3[3]: intermediate, written by CONV_2D 0",
        f"  place   pool workspace, bytes [{offsets[3]}; {offsets[3] + 40}) of {size}",
        "  size    40 bytes, aligned to 1",
    ]
    assert row[3].startswith(f"  alive   [{start}, {stop}): from net: CONV_2D 0, row 3 to ")


def test_explain_names_a_tensor_and_not_its_rows(rows: Path) -> None:
    lines = call("explain", "net", rows).out.splitlines()
    headings = [line.partition(":")[0] for line in lines if line.startswith("net.")]
    assert len(headings) == len({*headings})
    assert [name for name in headings if "[" in name] == []
    (shared,) = (line for line in call("explain", "net.t3", rows).out.splitlines() if "alive at another time" in line)
    assert "rows of net.t" in shared
    assert "[" not in shared


@pytest.mark.parametrize(
    ("offsets", "lines"),
    [
        ([0] * 25, ["rows 0 to 24 at 0"]),
        ([8], ["row 0 at 8"]),
        ([16, 8], ["rows 0 to 1 at 16 8"]),
        (
            [1340, 20, 30, 10] + [20, 30, 10] * 3 + [5],
            ["row 0 at 1,340", "rows 1 to 12 go round 3 places: 20 30 10", "row 13 at 5"],
        ),
        (
            [4, 5] + [1, 2] * 3 + [1, 7, 8],
            ["rows 0 to 1 at 4 5", "rows 2 to 8 go round 2 places: 1 2", "rows 9 to 10 at 7 8"],
        ),
        ([*range(20)], ["rows 0 to 19 at 0 1 2 3 4 5 6 7 8 9 10 11 ..."]),
    ],
)
def test_places_that_repeat_are_told_once(offsets: list[int], lines: list[str]) -> None:
    assert [*place_lines([*map(show_bytes, offsets)])] == lines


@pytest.mark.slow
def test_diff_has_a_line_for_each_tensor(rows: Path, whole: Path) -> None:
    before, after, moved = (rows.parent / name for name in ("before.json", "after.json", "moved.json"))
    before.write_text(text_of(whole))
    after.write_text(text_of(rows))
    plan = json.loads(after.read_text())
    tensor = next(buffer for buffer in in_rows(plan) if buffer["name"] == "net.t3")
    low, high, count = min(tensor["offsets"]), max(tensor["offsets"]), len({*tensor["offsets"]})
    place = f"workspace+{low}..{high} (8 rows of 40 in {count} places)"
    changes = call("diff", before, after).out.splitlines()
    assert len(changes) <= 4 + len(plan["buffers"])
    assert "+ net.t12.sums  32" in changes
    (line,) = (line for line in changes if "net.t3" in line.split())
    old = next(buffer for buffer in json.loads(before.read_text())["buffers"] if buffer["name"] == "net.t3")
    assert line == f"~ net.t3  workspace+{old['offset']} (320) -> {place}"
    assert call("diff", after, after).out.count("\n") == 3
    tensor["offsets"].reverse()
    moved.write_text(json.dumps(plan))
    assert call("diff", after, moved).out.splitlines()[4:] == [f"~ net.t3  {place}: rows have other places among these"]
    tensor["offsets"] = [*tensor["offsets"][:-1], 1000]
    moved.write_text(json.dumps(plan))
    (line,) = call("diff", after, moved).out.splitlines()[4:]
    assert line.startswith(f"~ net.t3  {place} -> workspace+{min(tensor['offsets'])}..1000 (8 rows of 40 in ")
    tensor["offsets"], tensor["intervals"], tensor["moved"] = [4], [[0, 1]], []
    moved.write_text(json.dumps(plan))
    assert call("diff", after, moved).out.splitlines()[4:] == [
        f"~ net.t3  {place} -> workspace+4 (1 row of 40 in 1 place)"
    ]


@pytest.mark.long
def test_inspect_has_a_line_for_each_tensor(rows: Path, whole: Path) -> None:
    assert "  net: DEPTHWISE_CONV_2D 1, row 3  " in call("inspect", "schedule", rows).out
    stored = call("inspect", "storage", rows).out.splitlines()
    assert ["net.t3[0-7]", "intermediate", "40", "1", "%3"] in [line.split()[:5] for line in stored]
    assert len(stored) == len(call("inspect", "storage", whole).out.splitlines()) + 1
    by_rows, by_layers = (
        [line.split() for line in call("inspect", "traffic", path).out.splitlines()] for path in (rows, whole)
    )
    assert [line for line in by_rows if "net.t12.sums" not in line] == by_layers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"row_size"', '"rows"', '"row_size" is missing'),
        ('"offsets": [', '"offsets": ["a", ', '"offsets" is wrong'),
    ],
)
def test_a_wrong_record_of_rows_is_refused(rows: Path, right: str, wrong: str, message: str) -> None:
    path, text = rows.parent / "plan.json", text_of(rows)
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    says(call("diff", path, path), 2, f"error[U204]: this is not a plan: {message}")
