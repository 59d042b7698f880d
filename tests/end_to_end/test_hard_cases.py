"""Cases that are unusual but legal, or wrong in unusual ways: each broke something once, or could have."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import DATA, LAYER_BY_LAYER, call, manifest, one_model, says, succeed
from tests.support.tree import ROOT


def text_models(folder: Path, models: dict[str, str], head: str = '[project]\nname = "p"\n') -> Path:
    """A manifest of models in textual form."""
    for name, body in models.items():
        lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
        (folder / f"{name}.model.txt").write_text(f'model "{name}"\nsubgraph 0 "main"\n{lines}\n', encoding="utf-8")
    tables = "".join(f'[models.{name}]\npath = "{name}.model.txt"\n' for name in models)
    return manifest(folder, head + tables)


def runs(path: Path) -> None:
    succeed("selftest", path, "--sanitize", "--runs", "3")


def adds(*values: int) -> str:
    """A float model that adds constants, one after the other."""
    count = len(values)
    constants = [f'%{i + 1} "c{i}" float32[2] = [{value}, {value}]' for i, value in enumerate(values)]
    sums = [f'%{count + 1 + i} "s{i}" float32[2]' for i in range(count)]
    operators = [f"%{count + 1 + i} = ADD(%{count + i if i else 0}, %{i + 1})" for i in range(count)]
    return "\n".join(['%0 "x" float32[2]', *constants, *sums, "inputs %0", f"outputs %{2 * count}", *operators])


def test_constants_that_different_models_share_pairwise(tmp_path: Path) -> None:
    runs(text_models(tmp_path, {"a": adds(1, 2), "b": adds(1, 3), "c": adds(2, 3)}))


UNUSUAL = {
    "no_inputs": """
        %0 "a" float32[2] = [1, 2]
        %1 "b" float32[2] = [3, 4]
        %2 "y" float32[2]
        inputs
        outputs %2
        %2 = ADD(%0, %1)
    """,
    "passed_through": """
        %0 "unused" float32[2]
        %1 "through" float32[2]
        %2 "y" float32[2]
        inputs %0, %1
        outputs %1, %2
        %2 = RELU(%1)
    """,  # an input that nothing reads, and one that is an output
    "same_bytes": """
        %0 "x" float32[4]
        %1 "a" float32[4]
        %2 "b" float32[2,2]
        %3 "c" float32[4,1]
        inputs %0
        outputs %2, %3
        %1 = RELU(%0)
        %2 = RESHAPE(%1)
        %3 = RESHAPE(%2)
    """,
    "m": """
        %0 "x" float32[1]
        %1 "w" float32[1] = [1]
        %2 "w_padding" float32[1] = [2]
        %3 "M_X_SIZE" float32[1] = [3]
        %4 "a" float32[1]
        %5 "b" float32[1]
        %6 "c" float32[1]
        inputs %0
        outputs %6
        %4 = ADD(%0, %1)
        %5 = ADD(%4, %2)
        %6 = ADD(%5, %3)
    """,  # names like those of padding and of macros
    "empty": """
        %0 "x" float32[0]
        inputs %0
        outputs %0
    """,
}


def test_unusual_models_run(tmp_path: Path) -> None:
    runs(text_models(tmp_path, UNUSUAL))


@pytest.mark.parametrize("kind", ["LOGISTIC", "MEAN", "FLOOR"])
def test_subgraphs_that_nobody_calls(tmp_path: Path, kind: str) -> None:
    """Files with several signatures have them.  LOGISTIC would have a table, MEAN scratch, and FLOOR no kernel."""
    body = f"""
        %0 "x" int8[4] scale=0.1 zero=0
        %1 "y" int8[4] scale=0.1 zero=0
        inputs %0
        outputs %1
        %1 = RELU(%0)
        subgraph 1 "another signature"
        %0 "a" int8[2,4] scale=0.1 zero=0
        %1 "b" int8[{"1,4" if kind == "MEAN" else "2,4"}] scale=0.00390625 zero=-128
        %2 "axes" int32[1] = [0]
        inputs %0
        outputs %1
        %1 = {kind}({"%0, %2" if kind == "MEAN" else "%0"})
    """
    path = text_models(tmp_path, {"m": body})
    runs(path)
    assert "note:" not in call("plan", path).out


def test_constants_that_are_no_numbers(tmp_path: Path) -> None:
    body = """
        %0 "x" float32[3]
        %1 "odd" float32[3] = hex
        | 0000807f000080ff0000c07f
        %2 "y" float32[3]
        inputs %0
        outputs %2
        %2 = ADD(%0, %1)
    """
    path = text_models(tmp_path, {"m": body})
    runs(path)
    call("generate", path, "--out", tmp_path / "out")
    assert "INFINITY, -INFINITY" in (tmp_path / "out" / "p_pools.c").read_text()


def test_padding_that_has_the_name_of_a_constant(tmp_path: Path) -> None:
    body = """
        %0 "x" int8[1,3] scale=1 zero=0
        %1 "w" int8[1,3] scale=0.5 zero=0 = [1, 2, 3]
        %2 "w_padding" int8[1,3] scale=0.5 zero=0 = [4, 5, 6]
        %3 "a" int8[1,1] scale=1 zero=0
        %4 "b" int8[1,1] scale=1 zero=0
        inputs %0
        outputs %3, %4
        %3 = FULLY_CONNECTED(%0, %1, _)
        %4 = FULLY_CONNECTED(%0, %2, _)
    """
    path = text_models(tmp_path, {"m": body})
    runs(path)
    call("generate", path, "--out", tmp_path / "out")
    assert "uint8_t w_padding_2[1];" in (tmp_path / "out" / "m_constants.h").read_text()


def test_an_input_named_like_one_of_our_macros(tmp_path: Path) -> None:
    body = """
        %0 "x" float32[2]
        %1 "M_X_SIZE" float32[2]
        %2 "y" float32[2]
        inputs %0, %1
        outputs %2
        %2 = ADD(%0, %1)
    """
    says(call("generate", text_models(tmp_path, {"m": body}), "--out", tmp_path / "out"), 1, "error[P306]")


def test_a_section_has_one_name_everywhere(tmp_path: Path) -> None:
    pool = '[pools.ram]\naccess = "rw"\nsection = "{}"\n'
    assert call("plan", manifest(tmp_path, one_model("digits", pool.format(".my-ram")))).code == 1
    path = manifest(tmp_path, one_model("digits", pool.format(".my_ram.x")))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert '".my_ram.x"' in (tmp_path / "out" / "p.h").read_text()
    assert "KEEP(*(.my_ram.x))" in (tmp_path / "out" / "p.ld").read_text()


@pytest.mark.parametrize(("value", "code"), [('"many"', 1), ("1.5", 1), ("100_000_000_000_000", 3)])
def test_options_of_algorithms_have_types_and_search_ends(tmp_path: Path, value: str, code: int) -> None:
    text = f'[pools.ram]\naccess = "rw"\nsize = 100\n[plan]\noptions = {{ rounds = {value} }}\n'
    done = call("plan", manifest(tmp_path, one_model("digits", text)))
    assert done.code == code
    assert ("error[P406]" in done.err) == (code == 1)


def test_a_negative_bound_of_the_search_has_its_place(tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("digits", "[plan]\n[plan.options]\nrounds = -1\n"))
    says(call("plan", path), 1, f'{path}:7:1: error[P406]: algorithm "auto": "rounds" must be at least 0, not -1')


@pytest.mark.slow
def test_names_that_become_one_in_c(tmp_path: Path) -> None:
    pools = '[pools.b_c]\naccess = "rw"\n[pools.c]\naccess = "rw"\n'
    digits = f'path = "{DATA.as_posix()}/digits.tflite"\n'
    models = f'[models.a]\n{digits}workspace_pools = ["b_c"]\n[models.a_b]\n{digits}workspace_pools = ["c"]\n'
    done = call("generate", manifest(tmp_path, f'[project]\nname = "p"\n{pools}{models}'), "--out", tmp_path / "out")
    says(done, 1, "error[P306]", "A_B_C_WORKSPACE_POOL_SIZE")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["p_shared", "p_pools", "P"])
def test_models_whose_files_are_the_projects(tmp_path: Path, name: str) -> None:
    says(call("plan", manifest(tmp_path, one_model(name, path=f"{DATA.as_posix()}/digits.tflite"))), 1, "error[M110]")


def test_a_model_whose_files_are_another_models(tmp_path: Path) -> None:
    digits = f'path = "{DATA.as_posix()}/digits.tflite"\n'
    both = f'[project]\nname = "p"\n[models.x]\n{digits}[models.x_constants]\n{digits}'
    says(call("plan", manifest(tmp_path, both)), 1, "x_constants.h")


@pytest.mark.parametrize(
    ("options", "code"),
    [(["--seed", "-1"], 2), (["--runs", "x"], 2), (["--cc", "'"], 2), (["--cc", "  "], 2), (["--cc", "true"], 4)],
)
def test_odd_options_of_the_selftest(tmp_path: Path, options: list[str], code: int) -> None:
    done = call("selftest", manifest(tmp_path, one_model("digits")), *options)
    assert done.code == code
    assert done.err


@pytest.mark.parametrize("path", [".", "folder"])
def test_a_folder_is_no_model(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    done = call("plan", manifest(tmp_path, one_model("digits", path=f"{path}/x.tflite/..")))
    assert done.code == 1
    says(call("plan", tmp_path), 1, "it is a folder")


@pytest.mark.long
def test_runs_into_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    """What is left is the output of one of them, whole."""
    first = manifest(tmp_path, LAYER_BY_LAYER, "first.toml")
    second = manifest(tmp_path, LAYER_BY_LAYER.replace("512 B", "300 B"), "second.toml")
    expected = []
    for path in (first, second):
        call("generate", path, "--out", tmp_path / path.stem)
        expected.append({file.name: file.read_bytes() for file in (tmp_path / path.stem).iterdir()})
    together = [
        subprocess.Popen(
            [sys.executable, "-m", "usmp_build", "generate", path, "--out", tmp_path / "out"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        for path in (first, second) * 2
    ]
    assert [process.wait(timeout=120) for process in together] == [0, 0, 0, 0]
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} in expected
