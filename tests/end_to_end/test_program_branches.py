"""Branches of programs: C runs one arm, and the arms share their memory."""

import json
import subprocess
from pathlib import Path

from tests.support.cli import call, manifest, succeed
from tests.support.host_c import STRICT, compile_folder
from tests.support.processes import output
from tests.support.programs_c import alloc, branch, function, invoke, parameter, program, store
from tests.support.tree import text_file

CHOOSING = text_file("program_branches_choosing.c")


def test_one_arm_of_a_branch_runs_and_the_arms_share_their_memory(tmp_path: Path) -> None:
    """Twice half of an even number, three times and one of an odd one; and half of what is left, if that is not 0."""
    work = function([parameter("x", "int32", 1), parameter("y", "int32", 1)], store("y", "x", whole=True))
    then = alloc("h", "int32", [1], invoke("half", "n", "h"), invoke("half", "h", "y"))
    other = alloc("m", "int32", [1], invoke("more", "n", "m"), invoke("more", "m", "y"))
    last = branch("y", [], [invoke("more", "n", "y")])
    nothing = branch("even", [], [])
    body = [branch("even", [then], [other]), last, nothing]
    ports = [parameter("n", "int32", 1), parameter("even", "bool", 1), parameter("y", "int32", 1)]
    path = program(tmp_path, function(ports, *body), half=work, more=work)
    program_file = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**program_file, "outputs": ["y"]}), encoding="utf-8")
    asked = manifest(tmp_path, '[project]\nname = "q"\n[models.p]\npath = "p.program.json"\nio = "application"\n')
    folder = tmp_path / "out"
    assert call("generate", asked, "--out", folder).code == 0
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    assert [pool["size"] for pool in plan["pools"] if pool["access"] == "rw"] == [4]
    code = (folder / "p.c").read_text("utf-8")
    assert [line.strip() for line in code.splitlines() if line.strip().startswith(("if (*in", "if (!*", "} else"))] == [
        "if (*inputs->even) {", "} else {", "if (!*outputs->y) {",
    ]  # fmt: skip
    (tmp_path / "main.c").write_text(CHOOSING)
    command = ["cc", "-std=c99", *STRICT.split(), "-O2", f"-I{folder}", *folder.glob("*.c"), tmp_path / "main.c"]
    subprocess.run([*command, "-o", tmp_path / "app"], check=True)
    printed = output([tmp_path / "app"])
    assert [*map(int, printed.split())] == [7, 31, 1, 49]


def test_a_condition_in_memory_of_pages(tmp_path: Path) -> None:
    """It is the first element of the first row."""
    rows = parameter("rows", "int16", 2, 4)
    fill = function([parameter("x"), rows], store("rows", "x", whole=True))
    move = function([parameter("x"), parameter("y")], store("y", "x", whole=True))
    then = branch("rows", [invoke("move", "x", "y")], [invoke("fill", "x", "rows"), invoke("move", "x", "y")])
    body = alloc("rows", "int16", [2, 4], invoke("fill", "x", "rows"), then)
    program(tmp_path, function([parameter("x", "int8", 4), parameter("y", "int8", 4)], body), fill=fill, move=move)
    pools = '[pools.pages]\naccess = "rw"\ndims = 2\npage_bytes = 16\n'
    models = '[models.p]\npath = "p.program.json"\nio = "application"\n'
    succeed("generate", manifest(tmp_path, f'[project]\nname = "q"\n{pools}{models}'), "--out", tmp_path / "out")
    assert "    if (**p_t2_rows) {\n        p_move(" in (tmp_path / "out" / "p.c").read_text("utf-8")
    compile_folder(tmp_path / "out", "gcc", "-std=c99")
