"""The pages of figures are drawn from CSV files, and say by which command; `tests/end_to_end/` runs it, on less.

What needs no board is compared with what plans are now.
"""

import csv
import re
from pathlib import Path

import pytest

from benchmarks import draw
from benchmarks.subject import prepare
from tests.support.nets import NETS
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from usmp_build import pipeline


@runs(
    "docs/maintainers/benchmarks.md",
    "docs/maintainers/below-max-live.md",
    "docs/maintainers/planner-benchmarks.md",
)
def test_the_command_has_the_options_that_it_was_called_with(page: Page, shell: Shell) -> None:
    command = page.take("sh").text
    module = re.match(r"python -m (benchmarks\S*) ", command)
    assert module
    known = shell.output(f"python -m {module[1]} --help")
    assert set(re.findall(r" (--\w+)", command)) <= set(re.findall(r"(--\w+)", known))


def test_pages_are_drawn_from_their_figures() -> None:
    stale = [page.name for page, folder in draw.PAGES.items() if page.read_text("utf-8") != draw.draw(folder)]
    assert stale == [], "run: python -m benchmarks.draw"


def column(text: str, head: str) -> dict[str, str]:
    """Return the cells of a column of the first table of a text, by those of the first column."""
    table = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert table
    heads, _, *rows = (line.strip("| ").split("|") for line in table[0].splitlines())
    place = [cell.strip() for cell in heads].index(head)
    return {row[0].strip(): row[place].strip(" *") for row in rows}


def section(page: str, heading: str) -> str:
    return (ROOT / page).read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((ROOT / "benchmarks" / "data" / name).open(encoding="utf-8")))


def test_both_pages_count_the_same_instructions() -> None:
    ours = column(section("docs/maintainers/benchmarks.md", "One inference"), "M4")
    rows = rows_of("below-max-live/instructions.csv")
    now = {row["model"]: f"{int(row['now']):,}" for row in rows}
    assert ours == {name: now[name] for name in ours}


def test_the_page_names_the_nets_that_take_most_instructions_more() -> None:
    rows = rows_of("below-max-live/instructions.csv")
    most = sorted(rows, key=lambda row: float(row["more"].strip("+ %")))[-2:]
    text = section("docs/maintainers/below-max-live.md", "Instructions")
    assert all(f"(`{row['model']}`, {row['more'].strip('+')})" in text for row in most)


def test_the_page_says_how_layers_compare_with_those_of_cmsis_nn() -> None:
    rows = rows_of("benchmarks/beside.csv")
    ratios = [row["ratio"] for row in rows]
    text = " ".join((ROOT / "docs/maintainers/benchmarks.md").read_text("utf-8").split())
    assert f"for {len(rows)} models" in text
    assert f"ours take {min(ratios, key=float)} to {max(ratios, key=float)} times as many" in text


def test_the_page_counts_tvms_cases() -> None:
    rows = rows_of("usmp-cases/cases.csv")
    bytes_of = {head: [pooled(row[head]) for row in rows] for head in ("TVM's default", "TVM's best", "here")}
    here, best = bytes_of["here"], bytes_of["TVM's best"]
    unproven = [row for row in rows if row[""] not in ("", "there is none, proven")]
    counts = [
        sum("wrong" in row["TVM's default"] for row in rows),
        sum(theirs > ours for theirs, ours in zip(bytes_of["TVM's default"], here, strict=True)),
        sum(theirs > ours for theirs, ours in zip(best, here, strict=True)),
        sum(0 < theirs < ours for theirs, ours in zip(best, here, strict=True)),
        len(rows) - len(unproven),
    ]
    text = (ROOT / "docs/maintainers/usmp-cases.md").read_text("utf-8")
    assert f"| of {len(rows)} cases |" in text
    assert re.findall(r"(?m)^\| .* \| (\d+) \|$", text) == [str(count) for count in counts]


def pooled(cell: str) -> int:
    """The bytes of all pools; 0 without a right plan."""
    return sum(int(number(each)) for each in cell.split(" + ")) if re.fullmatch(r"[\d,+ ]+", cell) else 0


def number(cell: str) -> float:
    return float(cell.replace(",", ""))


def test_the_readme_quotes_the_pages() -> None:
    readme = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    workspace = section("docs/maintainers/below-max-live.md", "Workspace")
    inference = section("docs/maintainers/benchmarks.md", "One inference")
    bytes_of = {"**usmp_build**": "achieved", "max-live, no overlap": "max-live", "TFLM's planner": "its plan"}
    counts = {"M instructions, Cortex-M4": "M4", "TFLM with CMSIS-NN": "M4, CMSIS-NN"}
    for model in ("kws", "vww", "ic"):
        for head, original in bytes_of.items():
            assert column(readme, head)[model] == column(workspace, original)[model]
        for head, original in counts.items():
            assert column(readme, head)[model] == f"{number(column(inference, original)[model]) / 1e6:.1f}"

    ours, theirs = column(readme, "**usmp_build**"), column(readme, "TFLM's planner")
    together = column(section("docs/maintainers/benchmarks.md", "Several models in one plan"), "workspace")
    assert ours["all three in one plan"] == together["ic + kws + vww"]
    for model, saved in column(readme, "saved").items():
        assert saved == f"{1 - number(ours[model]) / number(theirs[model]):.0%}".replace("%", " %")


def test_the_readme_says_how_much_slower_kernels_are() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    inference = section("docs/maintainers/benchmarks.md", "One inference")
    for head, words in (("M4, CMSIS-NN", "TensorFlow Lite Micro"), ("M4, TFLM reference", "its reference kernels")):
        ratios = [number(column(inference, "M4")[m]) / number(column(inference, head)[m]) for m in ("kws", "vww", "ic")]
        least, most = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
        times = least if least == most else f"{least} to {most}"
        assert re.search(rf"{times} times as many (instructions )?as {words}", readme)


def is_on_the_page(model: Path, folder: Path) -> None:
    """Compare the figures of `docs/maintainers/below-max-live.md` that are of plans with the model's plan."""
    text = (ROOT / "docs" / "maintainers" / "below-max-live.md").read_text("utf-8").partition("## Workspace")[2]
    (row,) = re.findall(rf"^\| {model.stem} \|(.*)\|$", text.partition("\n## ")[0], re.MULTILINE)
    *_, max_live, _, any_schedule, achieved, _, floor = (cell.strip() for cell in row.split("|"))
    planned = prepare(model, folder).planned
    ours = planned.summary.workspace
    figures = pipeline.compare(planned).max_live, ours.any_schedule, ours.achieved, ours.floor
    assert (max_live, any_schedule, achieved, floor) == tuple(f"{count:,}" for count in figures)


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", NETS)
def test_the_nets_take_what_the_page_says(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.tflite").write_bytes(NETS[name]())
    is_on_the_page(tmp_path / f"{name}.tflite", tmp_path)


@pytest.mark.parametrize("name", ["hello", "ic", "kws", "micro_speech", "vww"])
def test_the_models_take_what_the_page_says(name: str, real_models: Path, tmp_path: Path) -> None:
    is_on_the_page(real_models / f"{name}.tflite", tmp_path)
