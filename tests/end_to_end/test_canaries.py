"""With USMP_CANARIES: a byte written before or after a pool is reported, with the pool's name."""

from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, PASSED, RO, RW, call, manifest, tables
from tests.support.host_c import COMPILERS, built, compile_folder
from tests.support.processes import output
from tests.support.tree import text_file
from usmp_build.naming import pool_object

MODELS = {"digits": DIGITS, "odd_even": ODD_EVEN}
TIGHT, WIDE = f"{RW}size = 420\n", f"{RW}alignment = 64\n"
PLAN = tables("two", {"dtcm": TIGHT, "sram": WIDE, "flash": RO}, MODELS)
MAIN = text_file("canaries.c")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canaries")
    assert call("generate", manifest(folder, PLAN), "--out", folder / "out").code == 0
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [["-DUSMP_CANARIES=1"], ["-DUSMP_CANARIES=1", "-fsanitize=undefined"]])
def test_a_byte_beside_a_pool_is_reported(generated: Path, tmp_path: Path, flags: list[str]) -> None:
    lines = output([built(generated, tmp_path, MAIN, "gcc", *flags)]).splitlines()
    assert lines == ["0 0 - 0", "-", "-", "before pool sram", "before pool sram", "after pool sram", "after pool sram"]


def test_without_the_define_nothing_is_left(generated: Path, tmp_path: Path) -> None:
    quiet = MAIN.replace("    write_at(-1);\n    write_at(-64);\n    write_at(size);\n    write_at(size + 15);\n", "")
    program = built(generated, tmp_path, quiet, "gcc")
    assert output([program]).splitlines() == ["0 0 - 0", "-", "-"]
    assert "canar" not in output(["nm", program])


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
def test_it_compiles_without_a_warning(generated: Path, compiler: str, standard: str) -> None:
    compile_folder(generated, compiler, standard, "-DUSMP_CANARIES=1", mentioning="two_guard.h")


def test_the_header_says_which_pools_have_none(generated: Path, tmp_path: Path) -> None:
    header = (generated / "two.h").read_text()
    assert (
        " *  dtcm              none: its limit of 420 bytes leaves no room\n *  sram              64 and 16\n */"
        in header
    )
    owned = tables("two", {"sram": RW + PASSED, "flash": RO}, MODELS)
    assert call("generate", manifest(tmp_path, owned), "--out", tmp_path / "out").code == 0
    header = (tmp_path / "out" / "two.h").read_text()
    assert " *  sram              none: the array is yours\n" in header
    assert "canaries(" not in header


@pytest.mark.slow
def test_a_limit_is_kept_to_the_byte(generated: Path, tmp_path: Path) -> None:
    """One that leaves exactly the room for both canaries is enough."""
    size = int((generated / "two.h").read_text().partition("#define TWO_SRAM_SIZE ")[2].split()[0])
    for room, there in ((32, True), (31, False)):
        text = tables("two", {"dtcm": TIGHT, "sram": f"{RW}size = {size + room}\n", "flash": RO}, MODELS)
        assert call("generate", manifest(tmp_path, text), "--out", tmp_path / "out").code == 0
        header = (tmp_path / "out" / "two_guard.h").read_text()
        assert (f"struct {pool_object('two', 'sram')}_between" in header) == there
