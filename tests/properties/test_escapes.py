"""Text from manifests is text again for who reads the build files: Make, Starlark, CMake; and nothing else."""

import ast
import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tools import need
from usmp_build.naming import cmake_string, hash_comment, make_value, starlark_string

ODD = st.text(st.sampled_from("ab \\#$(){}\"'`;@%,:=|&<>*?[]~!^\t\n\x00é\u2028"), max_size=12)


def plain(text: str) -> str:
    """What is left of any text: printable ASCII."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


@given(texts=st.lists(ODD, min_size=1, max_size=30))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_make_reads_what_was_meant(tmp_path: Path, texts: list[str]) -> None:
    need("make")
    lines = [f"# {hash_comment(text)}\nV{number} := {make_value(text)}" for number, text in enumerate(texts)]
    shown = [f"$(info <$(V{number})>)" for number in range(len(texts))]
    (tmp_path / "Makefile").write_text("\n".join([*lines, *shown, "all: ;", ""]), encoding="ascii")
    done = subprocess.run(["make", "-s"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"<{plain(text)}>" for text in texts]


@given(ODD)
def test_starlark_reads_what_was_meant(text: str) -> None:
    """Its strings are those of Python, as far as escapes of these go."""
    assert ast.literal_eval(f'"{starlark_string(text)}"') == plain(text)
    program = ast.parse(f'"""{hash_comment(text)}\n"""\n# {hash_comment(text)}\nX = 1\n')
    assert [type(each) for each in program.body] == [ast.Expr, ast.Assign]


@given(texts=st.lists(ODD, min_size=1, max_size=30))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cmake_reads_what_was_meant(tmp_path: Path, texts: list[str]) -> None:
    need("cmake")
    lines = [f'# {hash_comment(text)}\nset(list "{cmake_string(text)}")\nmessage("<${{list}}>")' for text in texts]
    (tmp_path / "script.cmake").write_text("\n".join([*lines, ""]), encoding="ascii")
    command = ["cmake", "-P", "script.cmake"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    escaped = [plain(text).replace(";", "\\;") for text in texts]  # for where it becomes an element of a list
    assert done.stderr.splitlines() == [f"<{text}>" for text in escaped]
