"""Rows that move to make room: what plans say of them, when none do, and that the checker follows them."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.main import check
from checker.model import Model, Wrong
from tests.support.cli import call, manifest, one_model, planned, says, succeed, tables
from tests.support.row_nets import drawn, residual
from tests.support.tools import needs_c

Document = dict[str, Any]


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(residual())
    return path


def with_key(net: Path, key: str) -> Path:
    return manifest(net.parent, f"{one_model('net', path='net.tflite')}[plan]\n{key}\n", "net.toml")


def moves_of(plan: Document) -> list[Document]:
    return [step for step in plan["steps"] if step["kind"] == "move"]


def test_each_move_has_a_place(net: Path) -> None:
    plan = planned(with_key(net, ""))
    times = Counter(step["buffer"] for step in moves_of(plan))
    assert times
    assert times == {each["name"]: len(each["moved"]) for each in plan["buffers"] if each.get("moved")}
    rows = {step["buffer"]: [] for step in moves_of(plan)}
    for step in moves_of(plan):
        rows[step["buffer"]].append(step["row"])
    assert rows == {each["name"]: each["moved"] for each in plan["buffers"] if each.get("moved")}


def test_the_table_says_how_much_moves(net: Path) -> None:
    path = with_key(net, "")
    plan = planned(path)
    sizes = {each["name"]: each["row_size"] for each in plan["buffers"] if "row_size" in each}
    moved = sum(sizes[step["buffer"]] for step in moves_of(plan))
    assert (
        f"net: rows move {len(moves_of(plan))} times in a run, {moved:,} bytes, to make room" in call("plan", path).out
    )


def test_moves_are_traffic(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved() -> int:
        (model,) = planned(path)["models"]
        return sum(each["read"] + each["written"] for each in model["traffic"])

    path = with_key(net, "")
    plan, with_moves = planned(path), moved()
    sizes = {each["name"]: each["row_size"] for each in plan["buffers"] if "row_size" in each}
    monkeypatch.setattr("usmp_build.effort.MOVES", 0)
    assert with_moves - moved() == 2 * sum(sizes[step["buffer"]] for step in moves_of(plan)) > 0


@pytest.mark.parametrize("key", ['goal = "balanced"', 'algorithm = "greedy_by_size"', "rows = false"])
def test_nothing_moves_where_that_is_not_asked_for(net: Path, key: str) -> None:
    assert moves_of(planned(with_key(net, key))) == []


def test_nothing_moves_where_all_rows_are_taken(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_key(net, "")
    in_rows = [each for each in planned(path)["buffers"] if "row_size" in each]
    rows = sum(len(each["offsets"]) - len(each.get("moved", ())) for each in in_rows)
    monkeypatch.setattr("usmp_build.effort.ROWS", rows)
    plan = planned(path)
    assert [each for each in plan["buffers"] if "row_size" in each]
    assert moves_of(plan) == []


def test_c_makes_each_move_once(net: Path) -> None:
    path = with_key(net, "")
    succeed("generate", path, "--out", net.parent / "out")
    code = (net.parent / "out" / "net.c").read_text("utf-8")
    assert f"net_moves[{len(moves_of(planned(path)))}][3]" in code
    assert code.count("    net_make_room(") == 1


def test_a_row_that_moves_elsewhere_is_noticed(net: Path) -> None:
    """The checker reads it from where it has been put."""
    plan, model = planned(with_key(net, "")), Model(net.read_bytes())
    check(plan, [model])
    tensor = next(each for each in plan["buffers"] if each.get("moved"))
    number = len(tensor["offsets"]) - len(tensor["moved"])
    for wrong in (0, 1):
        spoiled = {**tensor, "offsets": [*tensor["offsets"]]}
        spoiled["offsets"][number] = tensor["offsets"][wrong] + wrong
        buffers = [spoiled if each is tensor else each for each in plan["buffers"]]
        with pytest.raises(Wrong):
            check({**plan, "buffers": buffers}, [model])
    steps = [step for step in plan["steps"] if step is not moves_of(plan)[0]]
    with pytest.raises(Wrong):
        check({**plan, "steps": steps}, [model])


def test_a_pool_that_only_a_plan_with_moves_fits_is_large_enough(net: Path) -> None:
    least = planned(with_key(net, ""))["workspace"]["achieved"]
    assert least < planned(with_key(net, 'goal = "balanced"'))["workspace"]["achieved"]
    text = tables("p", {"ram": f'access = "rw"\nsize = {least}\n'}, {"net": 'path = "net.tflite"\n'})
    assert planned(manifest(net.parent, text))["workspace"]["achieved"] <= least


def test_a_pool_need_not_grow_to_what_fixed_places_take(net: Path) -> None:
    net.write_bytes(drawn(0))
    least = planned(with_key(net, ""))["workspace"]["achieved"]
    text = tables("p", {"ram": f'access = "rw"\nsize = {least - 1}\n'}, {"net": 'path = "net.tflite"\n'})
    says(call("plan", manifest(net.parent, text)), 3, 'enlarge "ram" by 1 byte,')


@needs_c
def test_rows_in_several_pools_are_those_of_tensorflow_lite_micro(net: Path) -> None:
    """Moves are planned again where a limit takes a plan of one pool apart into two."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    pools = {"fast": 'access = "rw"\nsize = 100\n', "slow": 'access = "rw"\n'}
    path = manifest(net.parent, tables("p", pools, {"net": 'path = "net.tflite"\n'}))
    assert "net: " in succeed("selftest", path, "--sanitize", "--runs", "2").out
