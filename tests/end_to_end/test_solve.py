"""`usmp-build solve` and `verify` as people use them."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.cli import call, call_apart, succeed
from tests.support.tree import ROOT

EXAMPLE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"
HARDER = "id,lower,upper,size\na,3,6,4\nb,2,5,5\nc,5,6,6\nd,0,3,6\n"
"""11 bytes are enough; first fit by size takes 15."""


def file(folder: Path, text: str, name: str = "problem.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_a_table_and_what_is_known(tmp_path: Path) -> None:
    done = succeed("solve", file(tmp_path, EXAMPLE), "--capacity", "12")
    head, row, _, reason, status, who = done.out.splitlines()
    assert head.split() == ["pool", "peak", "limit", "bound", "gap"]
    assert row.split() == ["memory", "12", "12", "12", "0"]
    assert reason == "memory: 12 bytes are needed by 3 buffers alive at step 0"
    assert status == "OPTIMAL: no plan is better"
    assert who.startswith("verified plan by auto")


def test_offsets_in_the_form_of_minimalloc(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert call("solve", file(tmp_path, EXAMPLE), "--out", out).code == 0
    head, *rows = out.read_text().splitlines()
    assert head == "id,lower,upper,size,offset"
    assert [row.rpartition(",")[0] for row in rows] == EXAMPLE.splitlines()[1:]
    assert call("verify", out, tmp_path / "problem.csv", "--capacity", "12").code == 0
    again = call("solve", out, "--json")  # the offsets of the first run are now fixed
    assert json.loads(again.out)["pools"][0]["peak"] == 12


def test_offsets_of_several_pools_and_intervals(tmp_path: Path) -> None:
    text = "id,lower,upper,size,alignment,pools\na,0,2,8,4,x:0|y:1\na,4,6,,,\nb,1,3,8,,y\n"
    assert call("solve", file(tmp_path, text), "--out", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text() == (
        "id,lower,upper,size,alignment,pool,offset\na,0,2,8,4,x,0\na,4,6,8,4,x,0\nb,1,3,8,1,y,0\n"
    )
    assert call("verify", tmp_path / "out.csv", tmp_path / "problem.csv").code == 0


def test_the_solution_as_json_keeps_its_schema_and_is_what_out_writes(tmp_path: Path) -> None:
    path = file(tmp_path, EXAMPLE)
    text = call("solve", path, "--json", "--out", tmp_path / "plan.json").out
    assert (tmp_path / "plan.json").read_text() == text
    schema = json.loads((ROOT / "schemas" / "solution.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(text), schema)
    done = call("verify", tmp_path / "plan.json", path)
    assert done.code == 0
    assert done.out.startswith("OPTIMAL: every place of 5 buffers is right")


def test_what_is_proven_not_to_fit(tmp_path: Path) -> None:
    path, out = file(tmp_path, EXAMPLE), tmp_path / "plan.json"
    done = call("solve", path, "--capacity", "11", "--out", out)
    assert done.code == 3
    assert done.out.startswith("INFEASIBLE: there is no plan, and that is proven\n")
    assert 'error[P502]: the buffers do not fit: pool "memory" (11 bytes) is 1 byte too small, at step 0: ' in done.err
    assert "no plan needs less" in done.err
    assert json.loads(out.read_text())["shortage"]["proven"] is True
    done = call("verify", out, path)
    assert (done.code, done.out) == (0, "INFEASIBLE: there is no plan, and the proof holds\n")
    assert call("verify", out, path, "--capacity", "12").code == 4


def test_no_plan_after_the_search_is_unknown_not_infeasible(tmp_path: Path) -> None:
    path, greedy = file(tmp_path, HARDER), ["--algorithm", "greedy_by_size"]
    assert call("solve", path, "--capacity", "11").code == 0
    assert json.loads(call("solve", path, "--json", *greedy).out)["pools"][0]["peak"] == 15
    done = call("solve", path, "--capacity", "11", *greedy, "--out", tmp_path / "out.csv")
    assert done.code == 3
    assert done.out.startswith("UNKNOWN: no plan was found; whether one exists is not proven\n")
    assert "a better one may exist" in done.err
    assert not (tmp_path / "out.csv").exists()


def test_wrong_plans_exit_with_4_and_name_the_line(tmp_path: Path) -> None:
    path, out = file(tmp_path, EXAMPLE), tmp_path / "plan.json"
    call("solve", path, "--out", out)
    text = out.read_text()
    out.write_text(text.replace('"peak": 12', '"peak": 8').replace('"offset": 0', '"offset": 1'))
    done = call("verify", out, path)
    assert done.code == 4
    assert done.out == ""
    assert "plan.json:10:47: error[V107]: the peak of memory is" in done.err
    assert "error[V106]: " in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--capacity", "12 KB"], 2, "U209"),
        (["--capacity", "many"], 2, "U209"),
        (["--option", "rounds"], 2, "U210"),
        (["--work", "-1"], 2, "U210"),
        (["--work", "5", "--algorithm", "greedy_by_size"], 2, "U210"),
        (["--out", "plan.txt"], 2, "U212"),
        (["--algorithm", "atuo"], 2, 'P404]: there is no algorithm called "atuo"'),
        (["--option", "speed=9"], 2, "P402"),
        (["--option", "rounds=few"], 2, "P406"),
        (["--option", "rounds=-1"], 2, 'P406]: algorithm "auto": "rounds" must be at least 0, not -1'),
        (["--option", "nodes=-1", "--algorithm", "exact"], 2, 'P406]: algorithm "exact": "nodes" must be at least 0'),
        (["--option", "rounds=-1", "--algorithm", "hill_climb"], 2, "P406"),
        (["--option", "minimize=false"], 2, "say --capacity BYTES: then any plan that fits will do"),
        (["--option", "algorithm=exact"], 2, "say --algorithm NAME"),
        (["--option", "capacity=9"], 2, "say --capacity BYTES"),
        (["--option", "progress=1"], 2, 'there is no option "progress"\nhelp: the options of auto are: rounds\n'),
        (["--minimise"], 2, "did you mean --minimize?"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    done = call("solve", file(tmp_path, EXAMPLE), *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_the_problem_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path, EXAMPLE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").hardlink_to(path)
    for out in ("problem.csv", "./problem.csv", path, "link.csv"):
        done = call("solve", path, "--out", out)
        assert (done.code, done.out) == (2, "")
        assert "U212" in done.err
    assert path.read_text() == EXAMPLE
    assert call("solve", path, "--out", "other.csv").code == 0


def test_one_byte_and_no_buffers(tmp_path: Path) -> None:
    done = call("solve", file(tmp_path, "id,lower,upper,size\na,0,1,1\n"))
    assert "memory: 1 byte is needed by 1 buffer alive at step 0\n" in done.out
    done = call("solve", file(tmp_path, '{"buffers": []}', "nothing.json"))
    assert done.out.endswith("OPTIMAL: no plan is better\nverified plan by auto\n")


@pytest.mark.parametrize(("count", "message"), [(2, '"p0" and "p1"'), (128, '"p0", "p1", "p2" and 125 more')])
def test_pools_that_are_too_small_together(tmp_path: Path, count: int, message: str) -> None:
    document = {
        "pools": [{"name": f"p{i}", "limit": 4} for i in range(count)],
        "buffers": [{"name": f"b{i}", "size": 4, "intervals": [[0, 1]]} for i in range(count + 1)],
    }
    done = call("solve", file(tmp_path, json.dumps(document), "problem.json"))
    assert f"pools {message} together ({4 * count} bytes) are 4 bytes too small" in done.err
    assert "enlarge one of the pools" in done.err


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no such device here")
def test_a_device_is_not_read() -> None:
    done = call("solve", "/dev/null")
    assert (done.code, done.out) == (1, "")
    assert 'cannot read "/dev/null": it is a device or a pipe, not a file' in done.err


@pytest.mark.slow
def test_wrong_files_exit_with_1_and_a_place(tmp_path: Path) -> None:
    wrong = file(tmp_path, "id,lower,upper,size\na,0,x,4\n", "wrong.csv")
    done = call_apart("solve", "wrong.csv", cwd=tmp_path)
    assert done.code == 1
    assert done.err.startswith('wrong.csv:2:5: error[Q104]: "upper" must be a step, not "x"\n')
    assert call("verify", wrong, file(tmp_path, EXAMPLE)).code == 1
    done = call_apart("solve", "nothing.csv", cwd=tmp_path)
    assert (done.code, "Traceback" in done.err) == (1, False)


@pytest.mark.slow
def test_the_problems_of_minimalloc(dsa_cases: list[Path], tmp_path: Path) -> None:
    for path in dsa_cases:
        out = tmp_path / f"{path.stem}.json"
        succeed("solve", path, "--algorithm", "greedy_by_size", "--out", out)
        assert call("verify", out, path).code == 0
        record = json.loads(out.read_text())["pools"][0]
        assert record["bound"] <= 1048576 <= record["peak"]  # each fits there, and that is not for the greedy
        done = call("solve", path, "--algorithm", "greedy_by_size", "--capacity", "1 MiB")
        assert (done.code, done.out.split(":")[0]) == (3, "UNKNOWN")
        assert call("solve", path, "--capacity", record["bound"] - 1).out.startswith("INFEASIBLE")


MANIFEST = """
[project]
name = "p"
[pools.tcm]
access = "rw"
size = "300 B"
[pools.sram]
access = "rw"
[models.m]
path = "digits.tflite"
[plan]
rows = false
"""


@pytest.mark.slow
@pytest.mark.parametrize("rows", [True, False])
def test_the_problem_of_a_firmware_gets_the_same_plan(rows: bool, tmp_path: Path) -> None:
    """Names, limits, costs, conflicts and separations are all there.  With rows `solve` has more work, so may save."""
    (tmp_path / "digits.tflite").write_bytes((ROOT / "tests" / "data" / "digits.tflite").read_bytes())
    manifest = file(tmp_path, MANIFEST.replace("rows = false\n", "" if rows else "rows = false\n"), "usmp.toml")
    shown = succeed("inspect", "problem", manifest, "--json")
    problem = file(tmp_path, shown.out, "problem.json")
    solved = json.loads(call("solve", problem, "--json").out)
    table = [line.split() for line in call("plan", manifest).out.splitlines()]
    used = {row[0]: int(row[2].replace(",", "")) for row in table if row[1:2] in (["rw"], ["ro"])}
    peaks = {pool["name"]: pool["peak"] for pool in solved["pools"]}
    assert peaks.keys() == used.keys()
    assert all(used[name] - 16 * rows <= peak <= used[name] for name, peak in peaks.items())
    assert call("verify", file(tmp_path, json.dumps(solved), "plan.json"), problem).code == 0


def test_costs_come_before_bytes_and_are_shown(tmp_path: Path) -> None:
    """A chain in a fast pool of 10 bytes: every second buffer is outside; `b` and `c` are the dearest there."""
    names, sizes = "abcd", (6, 5, 5, 6)
    buffers = [{"name": name, "size": size} for name, size in zip(names, sizes, strict=True)]
    conflicts = [["a", "b"], ["b", "c"], ["c", "d"]]
    stated = {"pools": [{"name": "fast", "limit": 10}, {"name": "slow"}], "buffers": buffers, "conflicts": conflicts}
    done = succeed("solve", file(tmp_path, json.dumps(stated), "problem.json"))
    assert "\ncost: 10; no plan costs less\nOPTIMAL: no plan is better\n" in done.out
