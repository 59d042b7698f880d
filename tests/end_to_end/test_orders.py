"""Order and direction of operators, from outside: what they save, where they are told, and who keeps the file's."""

import re
from pathlib import Path

import pytest

from tests.support import nets
from tests.support.cli import RAM_AND_FLASH, RO, RW, call, call_apart, manifest, planned, says, succeed, tables
from tests.support.net import Net
from tests.support.small_models import FORK
from tests.support.tree import text_file


def fork(folder: Path, size: str = "", words: str = "") -> Path:
    (folder / "fork.model.txt").write_text(FORK, encoding="utf-8")
    return manifest(
        folder, tables("p", {"ram": RW + size, "flash": RO}, {}) + f'[models.fork]\npath = "fork.model.txt"\n{words}'
    )


def used(path: Path) -> int:
    done = succeed("plan", path)
    row = re.search(r"^ram +rw +([\d,]+)", done.out, re.MULTILINE)
    assert row
    return int(row[1].replace(",", ""))


ALIVE = text_file("orders_alive.model.txt")
"""The last one to read x goes first where that ends the life of x, and nowhere else: 111 bytes, or 160."""


def test_what_a_word_costs_is_told_with_the_order_that_is_best_without_it(tmp_path: Path) -> None:
    (tmp_path / "alive.model.txt").write_text(ALIVE, encoding="utf-8")
    text = RAM_AND_FLASH + '[models.alive]\npath = "alive.model.txt"\n'
    assert used(manifest(tmp_path, text)) == 111
    path = manifest(tmp_path, f'{text}inputs = "preserved"\n')
    assert used(path) == 160
    assert 'alive: inputs = "preserved" costs 49 bytes of workspace' in call("plan", path).out


KEPT = """
model "kept"
subgraph 0 "main"
  %0 "x" int8[10]
  %1 "a" int8[100]
  %2 "b" int8[10]
  %3 "y" int8[60]
  inputs %0
  outputs %3
  %1 = UNIQUE(%0)
  %2 = UNIQUE(%1)
  %3 = UNIQUE(%2)
"""


def test_a_reserved_output_is_free_until_it_is_written_again(tmp_path: Path) -> None:
    """It is kept while inputs are filled, and no longer: nobody needs 170 bytes."""
    (tmp_path / "kept.model.txt").write_text(KEPT, encoding="utf-8")
    table = '[models.kept]\npath = "kept.model.txt"\noutputs = "reserved"\n'
    workspace = planned(manifest(tmp_path, RAM_AND_FLASH + table))["workspace"]
    assert (workspace["any_schedule"], workspace["achieved"]) == (110, 110)


def test_a_reserved_output_shares_nothing_with_an_input_that_is_filled_beside_it(tmp_path: Path) -> None:
    """The convolution goes last, where one half of the image is dead: it could not share bytes with the other."""
    net = Net(0)
    image = net.input(4, 8, 4)
    scores = net.dense(net.dense(net.split(image, 2, axis=2)[1], 8), 1)
    (tmp_path / "m.tflite").write_bytes(net.file(net.conv(image, 7, (3, 3)), scores))
    table = '[models.m]\npath = "m.tflite"\noutputs = "reserved"\n'
    workspace = planned(manifest(tmp_path, RAM_AND_FLASH + table))["workspace"]
    assert workspace["any_schedule"] == workspace["achieved"] == workspace["floor"] == 353


def test_bounds_for_any_order_include_orders_that_the_manifest_rules_out(tmp_path: Path) -> None:
    path = fork(tmp_path, words='order = "file"\n')
    workspace = planned(path)["workspace"]
    assert (workspace["any_schedule"], workspace["achieved"]) == (111, 210)
    assert "another order may be" in call("plan", path).out


def test_one_branch_ends_before_the_other_begins(tmp_path: Path) -> None:
    path = fork(tmp_path)
    assert used(path) == 111
    record = planned(path)
    assert record["models"][0]["order"] == [0, 2, 1, 3, 4]
    assert record["alternatives"]["models"][0]["workspace"] == 111
    shown = call("inspect", "schedule", path).out
    assert re.findall(r"UNIQUE (\d)", shown) == ["0", "2", "1", "3", "4"]


def test_a_model_may_keep_the_order_of_its_file(tmp_path: Path) -> None:
    path = fork(tmp_path, words='order = "file"')
    assert used(path) == 210
    models = planned(path)["models"]
    assert models[0]["order"] == []


def branches(count: int, length: int) -> str:
    """Branches of some length that meet at the end, each operator of the file beside those of the other branches."""
    size = 7
    values = ['  %0 "x" int8[10]']
    operators, ends = [], []
    for number in range(1, count * length + 1):
        size = (size * 1_103 + 12_345) % 851
        at, branch = divmod(number - 1, count)
        values.append(f'  %{number} "t{number}" int8[{8 + branch if at == length - 1 else 50 + size}]')
        operators.append(f"  %{number} = UNIQUE(%{number - count if at else 0})")
        ends += [f"%{number}"] if at == length - 1 else []
    result = count * length + 1
    values += [f'  %{result} "y" int8[1]', "  inputs %0", f"  outputs %{result}"]
    return "\n".join(
        ['model "fork"', 'subgraph 0 "main"', *values, *operators, f"  %{result} = UNIQUE({', '.join(ends)})"]
    )


@pytest.mark.slow
def test_where_not_all_orders_can_be_looked_at_one_branch_ends_before_the_next_begins(tmp_path: Path) -> None:
    path = fork(tmp_path)
    (tmp_path / "fork.model.txt").write_text(branches(16, 4) + "\n", encoding="utf-8")
    record = planned(path)
    workspace, alternatives = record["workspace"], record["alternatives"]
    assert (alternatives["max_live"], workspace["achieved"], workspace["any_schedule"]) == (6_447, 1_250, 1_224)
    assert "every pool is at its bound, so no plan of this schedule needs less\n" in call("plan", path).out


BY_APPLICATION = '[targets.cpu]\nkernels = "extern"\n'


@pytest.mark.parametrize(("targets", "order"), [("", "02134"), (BY_APPLICATION, "01234")])
def test_functions_of_the_application_keep_the_order_of_the_file(targets: str, order: str, tmp_path: Path) -> None:
    """They may remember something."""
    path = fork(tmp_path)
    path.write_text(path.read_text("utf-8") + targets, encoding="utf-8")
    assert "".join(re.findall(r"UNIQUE (\d)", call("inspect", "schedule", path).out)) == order


@pytest.mark.parametrize(
    ("kind", "order"),
    [("UNIQUE", "23014"), ("SIGN", "23014")]
    + [(kind, "01234") for kind in ("RANDOM_UNIFORM", "CUSTOM", "HASHTABLE_FIND", "BUILTIN_999")],
)
def test_what_may_remember_something_keeps_its_place(kind: str, order: str, tmp_path: Path) -> None:
    """The second branch should run first, for it leaves less behind; but not if its results depend on that."""
    text = FORK.replace('"b" int8[1]', '"b" int8[50]').replace("= UNIQUE", "= {0}")
    branches = re.sub(r"(  %2 = .*\n)(  %3 = .*\n)", r"\2\1", text).format(kind)
    (tmp_path / "fork.model.txt").write_text(branches, encoding="utf-8")
    path = manifest(tmp_path, RAM_AND_FLASH + '[models.fork]\npath = "fork.model.txt"\n')
    assert "".join(re.findall(rf"{kind} (\d)", call("inspect", "schedule", path).out)) == order


def test_what_does_not_fit_does_not_fit_in_the_best_order(tmp_path: Path) -> None:
    assert call("plan", fork(tmp_path, size="size = 111\n")).code == 0
    says(call("plan", fork(tmp_path, size="size = 110\n")), 3, "is 1 byte too small")
    assert call("plan", fork(tmp_path, size="size = 111\n", words='order = "file"')).code == 3


@pytest.mark.slow
@pytest.mark.drawn("net")
@pytest.mark.parametrize("net", ["cells", "inverted", "unet", "shuffled"])
def test_never_worse_than_the_order_of_the_file(net: str, tmp_path: Path) -> None:
    """Every choice beats or equals the file's, and the plan is the same in another process."""
    (tmp_path / "net.tflite").write_bytes(nets.NETS[net]())
    text = RAM_AND_FLASH + '[models.net]\npath = "net.tflite"\n'
    free = used(manifest(tmp_path, text))
    verb = ("plan", "--json", tmp_path / "usmp.toml")
    assert call(*verb).out == call_apart(*verb).out
    in_file = used(manifest(tmp_path, text + 'order = "file"\n'))
    assert free < in_file if net == "shuffled" else free <= in_file


def test_branches_that_the_file_has_side_by_side_run_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(nets.shuffled())
    text = RAM_AND_FLASH + '[plan]\nrows = false\n[models.net]\npath = "net.tflite"\n'
    assert used(manifest(tmp_path, text)) == 5_632
    assert used(manifest(tmp_path, text + 'order = "file"\n')) == 13_568


def test_c_says_which_operators_run_backward(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(nets.inverted())
    path = manifest(tmp_path, RAM_AND_FLASH + '[plan]\nrows = false\n[models.net]\npath = "net.tflite"\n')
    models = planned(path)["models"]
    backward = models[0]["backward"]
    assert backward
    shown = call("inspect", "schedule", path).out
    assert [int(n) for n in re.findall(r"[A-Z0-9_]+ (\d+)  .*, backward$", shown, re.MULTILINE)] == backward
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    code = (tmp_path / "out" / "net.c").read_text(encoding="utf-8")
    assert [int(n) for n in re.findall(r"^/\* \w+ (\d+), backward$", code, re.MULTILINE)] == backward


TWO_POOLS = tables("p", {"ram": f"{RW}size = 80\n", "flash": RO, "slow": RW}, {})
WIDER = FORK.replace('"y" int8[1]', '"y" int8[1]\n  %6 "z" int8[60]').replace("outputs %5", "outputs %6")
CHAIN = """
model "chain"
subgraph 0 "main"
  %0 "x" int8[100]
  %1 "a" int8[200]
  %2 "b" int8[150]
  %3 "y" int8[50]
  inputs %0
  outputs %3
  %1 = UNIQUE(%0)
  %2 = UNIQUE(%1)
  %3 = UNIQUE(%2)
"""


@pytest.mark.parametrize(
    ("text", "order", "known"),
    [
        (CHAIN, "", "no order and no directions make a better plan"),
        (f"{WIDER}  %6 = UNIQUE(%5)", "", "no order and no directions make a better plan"),
        (f"{WIDER}  %6 = UNIQUE(%5)", 'order = "file"', "no directions are better, another order may be"),
        (branches(6, 3), "", "no directions are better, another order may be"),
    ],
    ids=["chain", "fork", "file", "many"],
)
def test_with_several_pools_it_is_known_whether_another_order_may_make_a_better_plan(
    text: str, order: str, known: str, tmp_path: Path
) -> None:
    """The best plan fills the fast pool, so that both together take more than is alive at once."""
    (tmp_path / "m.model.txt").write_text(text.rstrip() + "\n", encoding="utf-8")
    path = manifest(tmp_path, f'{TWO_POOLS}[models.m]\npath = "m.model.txt"\n{order}\n')
    workspace = planned(path)["workspace"]
    assert workspace["any_schedule"] < workspace["achieved"]
    assert (workspace["proven"] == "every order") == ("another" not in known)
    assert known in call("plan", path).out
