"""Memory of pages: the generated code is clean and exact, and the compiler finds rows that share a page."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import rows
from tests.support.cli import DATA, call, equals_tflm, manifest, planned, says, succeed
from tests.support.directions import run_towards
from tests.support.host_c import COMPILERS, compile_folder
from tests.support.net import Net
from tests.support.tools import few
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.ir.schedule import Direction

pytestmark = pytest.mark.slow

PAGES = f"""
[project]
name = "paged"
[pools.sram]
access = "rw"
[pools.vtcm]
access = "rw"
dims = 2
page_bytes = 64
[pools.flash]
access = "ro"
[models.digits]
path = "{DATA.as_posix()}/digits.tflite"
[[models.digits.place]]
tensors = "*Squeeze1"
pools = ["vtcm"]
[[models.digits.place]]
tensors = "*shapes*Squeeze1"
axis_separators = [2]
[models.branchy]
path = "{DATA.as_posix()}/branchy.tflite"
io = "application"
[[models.branchy.place]]
operators = "CONV_2D"
pools = ["vtcm"]
[models.float_net]
path = "{DATA.as_posix()}/float_net.tflite"
[[models.float_net.place]]
operators = "*CONV_2D"
pools = ["vtcm"]
[plan]
layout_copies = true
"""


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return manifest(tmp_path_factory.mktemp("pages"), PAGES)


@pytest.fixture(scope="module")
def generated(paged: Path) -> Path:
    folder = paged.parent / "generated"
    succeed("generate", paged, "--out", folder)
    return folder


@pytest.mark.parametrize("direction", few([Direction.FORWARD, Direction.BACKWARD], 1))
@pytest.mark.long
def test_every_tensor_is_exact(paged: Path, direction: Direction, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    run_towards(direction, monkeypatch)
    done = succeed("selftest", paged, "--sanitize", "--runs", 5)
    assert done.out.count("all equal to those of TensorFlow Lite Micro") == 3


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("hook", few([(), ("-DUSMP_HOOK",)], 1), ids=["plain", "hook"])
@pytest.mark.long
def test_it_compiles_without_a_warning(generated: Path, compiler: str, standard: str, hook: tuple[str, ...]) -> None:
    compile_folder(generated, compiler, standard, *hook, mentioning="USMP_TRACE" if hook else "")


def test_rows_are_on_pages_of_the_plan(paged: Path, generated: Path) -> None:
    """edges and strokes are alive together: 32 pages of 64 bytes, each with a pointer."""
    shown = call("inspect", "axes", paged).out
    assert "digits.edges_1/Relu                 [1, 8, 8, 12]   [8, 96]   16 of 64 bytes" in shown
    assert "digits.shapes_1/Relu.in_rows_of_64  [1, 2, 2, 16]   [1, 64]   1 of 64 bytes" in shown
    text = (generated / "digits.c").read_text("utf-8")
    assert "static int8_t *const digits_t12_rows[] = { DIGITS_T12_ROWS(USMP_ROW, int8_t, DIGITS_PAGE_OF_) };" in text
    assert "digits_copy_" in text
    assert "(&p, input[y], output[y / 2] + y % 2 * 32);" in text


@pytest.mark.parametrize(
    ("tensor", "page", "name"),
    [
        (12, 1, "digits_t12_rows_1_0_are_apart"),
        (12, 500, "digits_t12_rows_1_are_inside"),
        (13, 0, "digits_t12_rows_1_0_and_digits_t13_rows"),
    ],
)
def test_the_compiler_finds_a_row_that_was_moved(
    generated: Path, tmp_path: Path, tensor: int, page: int, name: str
) -> None:
    """Into another row of its tensor, out of the pool, into a tensor that is alive meanwhile."""
    for file in generated.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    text = (tmp_path / "digits.c").read_text("utf-8")
    rows_of = re.compile(rf"(#define DIGITS_T{tensor}_ROWS\(X, a, b\) \\\n\s+X\(a, b, 1, )\d+")
    moved, count = rows_of.subn(rf"\g<1>{page}", text)
    assert count == 1
    (tmp_path / "digits.c").write_text(moved, "utf-8")
    with pytest.raises(AssertionError, match=name):
        compile_folder(tmp_path, "gcc", "-std=c11")


def test_pages_use_the_bound_where_pieces_cannot() -> None:
    files = DiskFiles(ROOT / "examples" / "pages")
    planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
    assert list(rows(planned)) == [("strips.vtcm", "9", "26", "9", "9", "10")]


@pytest.mark.long
@pytest.mark.drawn("page")
@pytest.mark.parametrize("page", [48, 1536, 100])
def test_pages_of_any_size(tmp_path: Path, page: int) -> None:
    """A pool begins at a multiple of the largest power of two in a page: no compiler knows more."""
    text = PAGES.replace("page_bytes = 64", f"page_bytes = {page}\nalignment = 4")
    path = manifest(tmp_path, text)
    plan = planned(path)
    vtcm = next(pool for pool in plan["pools"] if pool["name"] == "vtcm")
    assert vtcm["alignment"] == page & -page
    assert all(b["offset"] % page == 0 for b in plan["buffers"] if b["pool"] == "vtcm")
    succeed("selftest", path, "--runs", 2, "--sanitize")


def test_an_address_that_pages_do_not_like(tmp_path: Path) -> None:
    done = call("plan", manifest(tmp_path, PAGES.replace("page_bytes = 64", "page_bytes = 64\norigin = 0x20000010")))
    says(done, 1, 'error[P307]: pool "vtcm" is at 0x20000010, and its buffers need a multiple of 64')


def ending_in_convolutions(folder: Path, dims: int, separators: str) -> Path:
    """A net that begins and ends with CONV_2D, and one rule for both."""
    net = Net(3)
    first = net.conv(net.input(8, 8, 2), 6, (3, 3))
    last = net.conv(net.pool("MAX_POOL_2D", first, (2, 2)), 4)
    (folder / "m.tflite").write_bytes(net.file(last))
    text = f"""
[project]
name = "ends"
[pools.sram]
access = "rw"
[pools.vtcm]
access = "rw"
dims = {dims}
page_bytes = 64
[models.m]
path = "m.tflite"
[[models.m.place]]
operators = "CONV_2D"
pools = ["vtcm"]
axis_separators = {separators}
[[models.m.place]]
operators = "MAX_POOL_2D"
pools = ["vtcm"]
"""
    return manifest(folder, text)


@pytest.mark.parametrize(
    ("dims", "separators", "shapes"),
    [
        (2, "[2]", ["[8, 48]", "[4, 24]", "[4, 16]"]),
        (2, "[1]", ["[1, 384]", "[1, 96]", "[1, 64]"]),
        (3, "[1, 2]", ["[1, 8, 48]", "[1, 4, 24]", "[1, 4, 16]"]),
        (4, "[1, 1, 2]", ["[1, 1, 8, 48]", "[1, 1, 4, 24]", "[1, 1, 4, 16]"]),
    ],
)
@pytest.mark.long
def test_a_rule_for_all_convolutions_of_a_net_that_ends_in_one(
    tmp_path: Path, dims: int, separators: str, shapes: list[str]
) -> None:
    """What it ends in is computed in rows and copied to the output; MAX_POOL_2D keeps the axes."""
    path = ending_in_convolutions(tmp_path, dims, separators)
    shown = succeed("inspect", "axes", path)
    lines = shown.out.splitlines()[1:]
    assert [re.findall(r"\[.*?\]", line)[1] for line in lines] == shapes
    names = [line.split()[0] for line in lines]
    assert names[0].startswith("m.")
    assert lines[1].endswith(f"the axis separators of {names[0][2:]}")
    assert names[2].endswith(".in_vtcm")
    equals_tflm(path, "--sanitize", "--runs", 5)


def test_inspect_shows_what_is_planned_in_pages(tmp_path: Path) -> None:
    """Not the caller's array, nor parameters, which have the bytes of their arguments, nor memory on demand."""
    (tmp_path / "q.program.json").write_text(PROGRAM, "utf-8")
    text = '[project]\nname = "p"\n[pools.v]\naccess = "rw"\ndims = 2\npage_bytes = 16\n'
    path = manifest(tmp_path, f'{text}[models.q]\npath = "q.program.json"\nio = "application"\n')
    lines = call("inspect", "axes", path).out.splitlines()
    assert [line.split()[0] for line in lines] == ["tensor", "q.a", "q.s"]
    stored = call("inspect", "storage", path).out
    assert "q %0 is in the caller's array" in stored
    assert "q 1:%2 is left to the application's allocator" in stored


PROGRAM = """
{"main": "m", "functions": {
 "m": {"params": [{"name": "x", "dtype": "int8", "extents": [4]}, {"name": "y", "dtype": "int8", "extents": [4]}],
  "body": [{"op": "alloc", "var": "a", "dtype": "int8", "extents": [4, 8], "axis_separators": [1], "body": [
   {"op": "call", "fn": "f", "args": ["x", "a"]}, {"op": "call", "fn": "f", "args": ["a", "y"]}]}]},
 "f": {"params": [{"name": "i"}, {"name": "o"}],
  "body": [{"op": "alloc", "var": "z", "dtype": "int8", "extents": ["n", 2], "on_demand": true, "body": [
   {"op": "alloc", "var": "s", "dtype": "int8", "extents": [2, 8], "body": [
    {"op": "store", "buf": "s", "reads": ["i", "z"]}, {"op": "store", "buf": "o", "reads": ["s"]}]}]}]}}}
"""
