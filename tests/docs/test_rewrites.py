"""docs/rewrites.md: what it shows of the digits' model is what the tool says, and so are the bytes of nets."""

import re
from pathlib import Path

import pytest

from tests.support.cli import manifest, one_model, planned
from tests.support.nets import NETS, three_of_four
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

PAGE = " ".join((ROOT / "docs" / "rewrites.md").read_text("utf-8").split())


@runs("docs/rewrites.md#what-they-remove")
def test_what_rewrites_remove(page: Page, shell: Shell) -> None:
    manifest(shell.folder, one_model("digits"))
    shell.run(page.take("console"))


def bytes_of(folder: Path, model: bytes, words: str = "", plan: str = "") -> str:
    """Return the workspace of a model with these words in its table and `plan` after it, as the page writes it."""
    (folder / "m.tflite").write_bytes(model)
    path = manifest(folder, one_model("m", words, path="m.tflite") + plan)
    achieved: int = planned(path)["workspace"]["achieved"]
    return f"{achieved:,}"


def test_what_four_channels_take(tmp_path: Path) -> None:
    taken = [bytes_of(tmp_path, three_of_four(), f'goal = "{goal}"') for goal in ("ram", "balanced")]
    assert re.findall(r"`three_of_four`.*?takes ([\d,]+) bytes.*?and ([\d,]+\d) with", PAGE) == [tuple(taken)]


@pytest.mark.parametrize("name", ["cells", "two_ends", "cross_stage", "unet"])
def test_what_nets_take_in_place_of_copies(name: str, tmp_path: Path) -> None:
    layers = "[plan]\nrows = false\n"
    takes = [
        bytes_of(tmp_path, NETS[name](), words, plan)
        for words, plan in (("", layers), ("rewrites = { parts = false }", layers), ("", ""))
    ]
    shown = re.findall(rf"\(`{name}`\)[^|]*\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", PAGE)
    assert shown == [tuple(takes)]
