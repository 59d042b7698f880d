"""Command lines of every verb that ends by itself, and Python that has nothing but what our wheel requires."""

import re
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.cli import DATA, LAYER_BY_LAYER, manifest
from tests.support.tree import ROOT

COMMANDS = """\
init digits.tflite --out new.toml
ops
plan
generate --out out
report out --out page.html
inspect traffic
explain digits.strokes_1/Relu
selftest --runs 2
diff out out
export tflm --out tflm
solve problem.csv --out plan.csv
verify plan.csv problem.csv
plugins
schema
outputs
doctor
"""
"""In a folder that `prepare` has filled; in this order.  Without `check`, which needs an image, `watch`, which does not
end, and `demo`, which README's first command runs."""

ONLY = """
import importlib.util, sys
from shlex import split

finders, allowed = list(sys.meta_path), {*sys.stdlib_module_names, *sys.argv[1].split(",")}

class Only:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in allowed or name.startswith("_sysconfigdata"):
            return next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)

sys.meta_path[:] = [Only()]
for refused in ("pytest", "yaml", "tflite_micro"):
    assert importlib.util.find_spec(refused) is None, refused
from usmp_build.cli import main

for line in sys.stdin.read().splitlines():
    try:
        code = main(split(line))
    except SystemExit as stop:
        code = stop.code
    assert not code, (line, code)
"""
"""Runs the command lines that it reads, in one process that finds only modules of these packages and of Python."""


def prepare(folder: Path) -> None:
    """Write what the commands read."""
    (folder / "digits.tflite").write_bytes((DATA / "digits.tflite").read_bytes())
    manifest(folder, LAYER_BY_LAYER)
    (folder / "problem.csv").write_text("id,lower,upper,size\na,0,2,8\nb,1,3,4\n", encoding="utf-8")


def required() -> list[str]:
    """Names of the files and folders of all packages that our wheel requires, of these packages' own ones, too."""
    text = (ROOT / "pyproject.toml").read_text("utf-8").partition("\ndependencies = [")[2].partition("\n]")[0]
    names, waiting = set[str](), re.findall(r'^ *"([^"]*)"', text, re.MULTILINE)
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name not in names and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            names.add(requirement.name)
            waiting += distribution(requirement.name).requires or []
    files = (file.parts[0] for name in names for file in distribution(name).files or ())
    return sorted({name for name in files if name not in {"..", "__pycache__"}})
