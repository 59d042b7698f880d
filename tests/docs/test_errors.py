"""docs/errors/: each message that is shown is what the tool says of a file with that fault."""

import tflite

from tests.support.cli import DATA
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from usmp_build.importers.text import import_text

ONE_MODEL = '[project]\nname = "doorbell"\n[models.kws]\npath = "{}"\n'


def write(shell: Shell, name: str, text: str) -> None:
    (shell.folder / name).write_text(text, encoding="utf-8")


@runs("docs/errors/models.md")
def test_a_fault_of_a_model(page: Page, shell: Shell) -> None:
    data = bytearray((DATA / "digits.tflite").read_bytes())
    tflite.Model.GetRootAsModel(data, 0).Subgraphs(0).Operators(2).InputsAsNumpy()[1] = 99
    (shell.folder / "models").mkdir()
    (shell.folder / "models" / "kws.tflite").write_bytes(data)
    write(shell, "usmp.toml", ONE_MODEL.format("models/kws.tflite"))
    shell.run(page.take("console"))


@runs("docs/errors/text.md")
def test_a_fault_of_a_model_as_text(page: Page, shell: Shell) -> None:
    message, form = page.take("console"), page.take("model")
    assert import_text(form.text.encode(), "kws", "kws.model.txt").name == "kws"
    tensors = [f'  %{index} "t{index}" int8[1]' for index in range(4)]
    lines = ['model "kws"', 'subgraph 0 "main"', *tensors, "  inputs %0", "  outputs %3"]
    write(shell, "kws.model.txt", "\n".join([*lines, "  %3 = CONV_2D(%0, %1, %2) padd=VALID\n"]))
    write(shell, "usmp.toml", ONE_MODEL.format("kws.model.txt"))
    shell.run(message)


@runs("docs/errors/problems.md")
def test_a_fault_of_a_problem(page: Page, shell: Shell) -> None:
    write(shell, "problem.csv", "id,lower,upper,size\na,0,x,4\n")
    shell.run(page.take("console"))


PROGRAM = """\
{"main": "conv",
 "functions": {
  "conv": {
   "params": [{"name": "input", "dtype": "int8", "extents": [4]},
              {"name": "weights", "dtype": "int8", "extents": [4]}],
   "body": [
    {"op": "alloc", "var": "padding", "dtype": "int8", "extents": [4], "body": [{
     "op": "store",
     "buf": "pading",
     "reads": ["input"]}]}]}}}
"""


@runs("docs/errors/programs.md")
def test_a_fault_of_a_program(page: Page, shell: Shell) -> None:
    write(shell, "net.program.json", PROGRAM)
    write(shell, "usmp.toml", ONE_MODEL.format("net.program.json"))
    shell.run(page.take("console"))
