"""The benchmark command of the planner: every table is filled, and written with a picture."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import draw
from tests.support.cli import DATA
from tests.support.tree import ROOT

PROBLEM = "id,lower,upper,size\na,0,2,30\nb,1,3,40\nc,2,4,30\nd,4,6,60\ne,0,6,10\n"


@pytest.mark.long
def test_every_table_is_filled(tmp_path: Path) -> None:
    (tmp_path / "T.80.csv").write_text(PROBLEM, encoding="utf-8")
    folder = tmp_path / "figures"
    arguments = [tmp_path / "T.80.csv", "--models", DATA / "odd_even.tflite", "--sizes", 300]
    options = ["--nodes", 300, "--seconds", 1, "--out", folder]
    command = [sys.executable, "-m", "benchmarks.solver", *map(str, [*arguments, *options])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert re.search(r"^\| T \| 5 \| 80 \| 80 \| [\d,]+ \|", text, re.MULTILINE)
    assert re.search(r"^\| variants \| 9 \| 9 \|", text, re.MULTILINE)
    assert re.search(r"^\| T \| auto \| 80 \| 0\.00 % \| OPTIMAL \|", text, re.MULTILINE)
    assert re.search(r"^\| odd_even \| \d+ \| [\d,]+ \| yes \|", text, re.MULTILINE)
    assert len(re.findall(r"^\| T \| [123] \| [\d,]+ \| [\d,]+ \| [01]\.\d+ \|", text, re.MULTILINE)) == 3
    assert len(re.findall(r"^\| 300 \| [123] \| [\d,]+ \|", text, re.MULTILINE)) == 3
    assert re.search(r"^\| auto \| 0\.00 % \|", text, re.MULTILINE)
    written = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert len(written) == 10
    assert draw.as_csv(text.partition("\n\n")[0]) == written["capacities.csv"]
    assert tmp_path.as_posix() not in "".join(written.values()).replace(folder.as_posix(), "")
    assert ElementTree.fromstring(written["growth.svg"]).tag.endswith("svg")
