"""`usmp-build report`: a page and pictures that say what the plan says, do nothing, and are the same each time."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import DATA, DIGITS, ODD_EVEN, RO, RW, call, call_apart, manifest, tables
from tests.support.report_pages import check_policy, rows, table, texts, tree

TWO = {"digits": DIGITS, "odd_even": ODD_EVEN}
LIMITED = {"sram": RW + 'size = "1 KiB"\nregion = "RAM"\n', "flash": RO}
EVIL = '</svg><script>alert(1)</script>" onload="x'
HOSTILE = """model "speech"
subgraph 0 "main"
  %0 "NAME&" int8[1,4,4,2] scale=0.1 zero=3
  %1 "NAME\\u{1}\\u{202e}" int8[1,4,4,2] scale=0.1 zero=3
  %2 "'NAME'" int8[1,4,4,2] scale=0.1 zero=3
  inputs %0
  outputs %2
  %1 = RELU(%0) @0
  %2 = "CUSTOM:NAME"(%1) @1
""".replace("NAME", EVIL.replace('"', '\\"'))


def report(folder: Path, *arguments: object) -> str:
    out = folder / "report.html"
    done = call("report", *arguments, "--out", out)
    assert (done.code, done.out) == (0, f"{out}\n"), done.err
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return report(folder, manifest(folder, tables("doorbell", LIMITED, TWO)))


def test_the_page_says_what_the_plan_says(page: str) -> None:
    shown = texts(tree(page))
    assert "759 of 1,024 bytes used, 265 free: 74 % full." in shown
    assert "No plan that has these buffers in this pool takes less" in shown
    assert "doorbell" in shown
    check_policy(page)


def test_what_fills_the_pool_is_what_proves_its_bound(page: str, tmp_path: Path) -> None:
    plan = json.loads(call("plan", manifest(tmp_path, tables("doorbell", LIMITED, TWO)), "--json").out)
    sram = next(pool for pool in plan["pools"] if pool["name"] == "sram")
    filled = table(tree(page), "buffer")[1:]
    assert {row[0] for row in filled} == {name.partition("[")[0] for name in sram["certificate"]["buffers"]}
    assert sum(int(row[2].replace(",", "")) for row in filled) >= sram["bound"]
    assert sram["certificate"]["step"] in texts(tree(page))


def test_what_would_change_is_what_planning_says(page: str, tmp_path: Path) -> None:
    """Each line is compared with a plan of the manifest that it speaks of."""
    changes = {row[0]: row[1:] for row in table(tree(page), "change of the manifest")[1:]}

    def workspace(text: str, *arguments: str) -> str:
        plan = json.loads(call("plan", manifest(tmp_path, text), "--json", *arguments).out)
        return f"{plan['workspace']['achieved']:,}"

    both = tables("doorbell", {"sram": RW, "flash": RO}, TWO)
    assert changes["without model digits"][0] == workspace(both, "--model=odd_even") == "77"
    assert changes["without model odd_even"][0] == workspace(both, "--model=digits") == "759"
    assert changes["[plan] rows = false"] == ["–", "", "does not fit"]
    assert workspace(both + "[plan]\nrows = false\n") == "1,543"
    by_rows = both.replace("[models.digits]", '[models.digits]\ninputs = "rows"')
    assert changes['[models.digits] inputs = "rows"'][0] == workspace(by_rows)
    assert changes["[pools.sram] size + 1,024"] == ["759", "0", "the same plan"]
    assert "[pools.sram] size − 1,024" not in changes  # nothing would be left


@pytest.mark.slow
def test_models_that_do_more_than_take_turns_are_planned_together(tmp_path: Path) -> None:
    """What one keeps between runs, the others cannot use."""
    models = {"digits": DIGITS, "kept": ODD_EVEN + 'outputs = "reserved"\n', "odd_even": ODD_EVEN}
    text = tables("doorbell", {"sram": RW, "flash": RO}, models)
    page = report(tmp_path, manifest(tmp_path, text))
    changes = {row[0]: row[1] for row in table(tree(page), "change of the manifest")[1:]}
    for name in models:
        options = [f"--model={other}" for other in models if other != name]
        plan = json.loads(call("plan", manifest(tmp_path, text), "--json", *options).out)
        assert changes[f"without model {name}"] == f"{plan['workspace']['achieved']:,}"
    assert changes["without model odd_even"] > changes["without model kept"] == "759"


@pytest.mark.long
def test_a_larger_pool_saves_what_the_plan_costs(tmp_path: Path) -> None:
    pools = {"tcm": RW + 'size = "512 B"\n', "sram": RW, "flash": RO}
    page = report(tmp_path, manifest(tmp_path, tables("doorbell", pools, {"digits": DIGITS})))
    changes = {row[0]: row[1:] for row in table(tree(page), "change of the manifest")[1:]}
    cost = json.loads(call("plan", tmp_path / "usmp.toml", "--json").out)["cost"]["total"]
    assert changes["[pools.tcm] size + 1,024"][0] == "759"
    assert changes["[pools.tcm] size + 1,024"][2] == f"costs 0 in place of {cost:,} bytes times rank"


def test_a_limit_that_is_too_small_is_reported(tmp_path: Path) -> None:
    pools = {"sram": RW + 'size = "1700 B"\n', "flash": RO}
    text = tables("doorbell", pools, {"digits": DIGITS}) + "[plan]\nrows = false\n"
    changes = {
        row[0]: row[1:] for row in table(tree(report(tmp_path, manifest(tmp_path, text))), "change of the manifest")
    }
    assert changes["[pools.sram] size − 1,024"] == ["–", "", "does not fit"]
    assert changes["[plan] rows = true"] == ["759", "−784", ""]


def test_operators_are_those_that_run_with_what_they_move(page: str, tmp_path: Path) -> None:
    plan = json.loads(call("plan", manifest(tmp_path, tables("doorbell", LIMITED, TWO)), "--json").out)
    rows = [row for row in table(tree(page), "operator")[1:] if len(row) == 8]
    assert rows[1][0] == "CONV_2D 0"
    assert "conv_2d_s8_row" in rows[1][7]
    assert "row by row" in rows[1][7]
    digits = next(model for model in plan["models"] if model["name"] == "digits")
    number = [[int(cell.replace(",", "") or 0) for cell in row[3:7]] for row in rows]
    assert sum(read for _, read, _, _ in number) == sum(each["read"] for each in digits["traffic"])
    assert sum(written for _, _, written, _ in number) == sum(each["written"] for each in digits["traffic"])
    assert sum(macs for *_, macs in number) == digits["macs"]
    assert max(used for used, *_ in number) == plan["workspace"]["achieved"]


def test_what_keeps_a_faster_kernel_away_is_beside_the_kernel(tmp_path: Path) -> None:
    page = report(tmp_path, DATA / "kitchen_a.tflite", "--isa", "mve")
    rows = {row[0]: row[-1] for row in table(tree(page), "operator")[1:]}
    assert rows["DEPTHWISE_CONV_2D 7"].endswith("not mve: it has several filters for each of several channels")
    assert [cell for cell in rows.values() if "_mve_" in cell and "not mve" not in cell]


def test_constants_are_the_largest_first(page: str, tmp_path: Path) -> None:
    plan = json.loads(call("plan", manifest(tmp_path, tables("doorbell", LIMITED, TWO)), "--json").out)
    sizes = sorted((each["size"] for each in plan["buffers"] if each["kind"] == "constant"), reverse=True)
    assert [int(row[1].replace(",", "")) for row in table(tree(page), "constant")[1:]] == sizes


@pytest.mark.parametrize("given", ["generated", "generated/plan.json"])
def test_a_checked_in_folder_is_enough_for_all_but_changes(tmp_path: Path, given: str) -> None:
    usmp = manifest(tmp_path, tables("doorbell", LIMITED, TWO))
    assert call("generate", usmp, "--out", tmp_path / "generated").code == 0
    page = report(tmp_path, tmp_path / given)
    shown = texts(tree(page))
    check_policy(page)
    assert "759 of 1,024 bytes used, 265 free: 74 % full." in shown
    assert "What would change" not in shown
    assert "need the manifest and the models" in shown
    assert [row[0] for row in table(tree(page), "model")[1:]] == ["digits", "odd_even"]


@pytest.mark.slow
def test_a_plan_above_its_bound_says_how_far_and_where_rows_are(tmp_path: Path) -> None:
    pools = {"tcm": RW + 'size = "100 B"\n', "sram": RW}
    usmp = manifest(tmp_path, tables("p", pools, TWO))
    plan = json.loads(call("plan", usmp, "--json", "--isa=-mcpu=cortex-m4").out)
    above = plan["workspace"]["achieved"] - plan["workspace"]["with_overlap"]
    assert above > 0
    more = f"at most {above} bytes ({100 * above / plan['workspace']['with_overlap']:.1f} %) more than the least"
    assert f"; {more} of this schedule, with the same buffers in each pool" in call("plan", usmp, "--isa", "dsp").out
    assert call("generate", usmp, "--out", tmp_path / "out", "--isa", "dsp").code == 0
    root = tree(report(tmp_path, tmp_path / "out"))
    assert f"takes {more} plan of this schedule" in texts(root)
    assert "Planned for isa dsp." in texts(root)
    tight = ["".join(each.itertext()) for each in root.iter("div") if each.get("class") == "tight"]
    tcm = plan["pools"][0]
    assert tight == [f"{100 - tcm['size']}bytes free in tcm: {tcm['size']} % full"]
    places = dict(row[:5:4] for row in rows(root) if len(row) == 6)
    record = next(each for each in plan["buffers"] if isinstance(each.get("pool"), list))
    extents = []
    for name in ("sram", "tcm"):
        offsets = [at for at, pool in zip(record["offsets"], record["pool"], strict=True) if pool == name]
        extents.append(f"{name} [{min(offsets)}; {max(offsets) + record['row_size']})")
    assert places[record["name"]] == ", ".join(extents)


@pytest.mark.slow
def test_rows_of_a_tensor_are_one_shape(page: str, tmp_path: Path) -> None:
    plan = json.loads(call("plan", manifest(tmp_path, tables("doorbell", LIMITED, TWO)), "--json").out)
    tensors = [each for each in plan["buffers"] if each["kind"] != "constant"]
    shapes = [each for each in tree(page).iter("path") if "shape" in each.get("class", "").split()]
    assert len(shapes) == len(tensors)
    by_rows = {each["name"]: each for each in tensors if "offsets" in each}
    assert by_rows
    drawn = {"".join(each.itertext()).partition("\n")[0]: each.get("d", "").count("M") for each in shapes}
    assert all(drawn[name] == len(each["offsets"]) for name, each in by_rows.items())


def test_names_of_models_cannot_leave_their_place(tmp_path: Path) -> None:
    (tmp_path / "speech.model.txt").write_text(HOSTILE, encoding="utf-8")
    text = tables("p", {"ram": RW}, {"speech": 'path = "speech.model.txt"\n'})
    usmp = manifest(tmp_path, text)
    page = report(tmp_path, usmp)
    root = tree(page)
    assert EVIL in "".join(root.itertext())
    assert "\\x01\\u202e" in page
    assert "\x01" not in page
    assert "\u202e" not in page
    picture = tmp_path / "ram.svg"
    assert call("report", usmp, "--svg", "ram", "--out", picture).code == 0
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
    assert EVIL in "".join(drawn.itertext())
    assert not [each for each in drawn.iter() if each.tag.endswith("script")]


def test_names_of_plans_cannot_leave_their_place(tmp_path: Path) -> None:
    plan = json.loads(call("plan", manifest(tmp_path, tables("p", LIMITED, {"digits": DIGITS})), "--json").out)
    for holder, key in (
        (plan, "project"),
        (plan, "generator"),
        (plan["pools"][0], "region"),
        (plan["models"][0], "name"),
    ):
        holder[key] = f"{EVIL}\x01\u202e"
    plan["alternatives"] = None
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    page = report(tmp_path, tmp_path / "plan.json")
    assert "".join(tree(page).itertext()).count(EVIL) >= 4
    assert "\u202e" not in page


def test_a_picture_is_of_one_pool_and_stands_alone(tmp_path: Path) -> None:
    usmp = manifest(tmp_path, tables("doorbell", LIMITED, TWO))
    out = tmp_path / "sram.svg"
    assert call("report", usmp, "--svg", "sram", "--out", out).code == 0
    root = ET.fromstring(out.read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "759 of 1,024 bytes used, 265 free: 74 % full" in "".join(root.itertext())
    done = call("report", usmp, "--svg", "flash", "--out", tmp_path / "flash.svg")
    assert done.code == 2
    assert 'error[U215]: there is no map of pool "flash"' in done.err
    assert not (tmp_path / "flash.svg").exists()


@pytest.mark.slow
def test_the_same_bytes_each_time(page: str, tmp_path: Path) -> None:
    usmp = manifest(tmp_path, tables("doorbell", LIMITED, TWO))
    done = call_apart("report", usmp, cwd=tmp_path, env={"PYTHONHASHSEED": "7", "LC_ALL": "C"})
    assert done.code == 0, done.err
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


FAULTS = [
    (lambda plan: plan["steps"].clear(), "is alive in steps that are not there"),
    (lambda plan: plan["pools"].pop(0), "is in a pool that is not there"),
    (lambda plan: next(b for b in plan["buffers"] if "offsets" in b)["offsets"].pop(), "have no place, or no interval"),
    (lambda plan: plan.pop("buffers"), "buffers"),
]


@pytest.mark.parametrize(("spoil", "message"), FAULTS)
def test_a_damaged_plan_is_refused_and_nothing_written(
    tmp_path: Path, spoil: Callable[[Any], object], message: str
) -> None:
    usmp = manifest(tmp_path, tables("doorbell", LIMITED, TWO))
    plan = json.loads(call("plan", usmp, "--json").out)
    spoil(plan)
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    done = call("report", tmp_path / "plan.json", "--out", tmp_path / "report.html")
    assert done.code == 1
    assert "error[U223]: this is not a plan" in done.err
    assert message in done.err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.long
def test_five_thousand_buffers_are_drawn_in_a_page_that_browsers_open(tmp_path: Path) -> None:
    usmp = manifest(tmp_path, tables("doorbell", LIMITED, TWO))
    plan = json.loads(call("plan", usmp, "--json").out)
    enter, *_, leave = plan["steps"]
    operator = {"model": "digits", "kind": "operator", "row": None}
    middle = [{**operator, "operator": i, "text": f"digits: CONV_2D {i}"} for i in range(4_998)]
    steps = plan["steps"] = [enter, *middle, leave]
    one = next(each for each in plan["buffers"] if "offset" in each and each["kind"] == "input")
    plan["buffers"] = [
        {
            **one,
            "name": f"digits.{i}",
            "offset": i % 700,
            "size": 1 + i % 59,
            "intervals": [[i, min(len(steps), i + 9)]],
        }
        for i in range(len(steps))
    ]
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    page = report(tmp_path, tmp_path / "plan.json")
    shapes = [each for each in tree(page).iter("path") if "shape" in each.get("class", "").split()]
    assert any("buffers too small to draw apart" in "".join(each.itertext()) for each in shapes)
    assert sum(each.get("d", "").count("M") for each in shapes) == len(steps)
    assert len(page) < 6_000_000
