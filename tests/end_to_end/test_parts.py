"""Concatenations and splits that do not run: every tensor is still TensorFlow Lite Micro's, and no plan is larger."""

from functools import reduce
from pathlib import Path

import pytest

from tests.support import parts
from tests.support.cli import RO, RW, call, manifest, one_model, says, succeed, tables
from tests.support.net import Net
from tests.support.nets import NETS, swapped
from tests.support.tools import few, needs_c
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.reference import Reference
from usmp_build.search import concat_aliasing
from usmp_build.search.replanner import Replanner

LAYERS = "[plan]\nrows = false\n"
"""Row by row, copies may take less than parts."""


def written(folder: Path, text: str, extra: str = "") -> Path:
    """Write a model and its manifest."""
    (folder / "m.tflite").write_bytes(parts.tflite(text))
    return manifest(folder, one_model("m", extra, path=(folder / "m.tflite").as_posix()) + LAYERS)


EARLY = f"""
    %0 "x" int8[1,16,1,1] {parts.LIKE}
    %1 "early" int8[1,16,1,1] {parts.LIKE}
    %2 "paddings" int32[4,2] = [0,0,400,584,0,0,0,0]
    %3 "large" int8[1,1000,1,1] {parts.LIKE}
    %4 "larger" int8[1,1000,1,1] {parts.LIKE}
    %5 "late" int8[1,500,1,1] {parts.LIKE}
    %6 "joined" int8[1,516,1,1] {parts.LIKE}
    inputs %0
    outputs %6
    %1 = ADD(%0, %0)
    %3 = PAD(%1, %2)
    %4 = MUL(%3, %3)
    %5 = MAX_POOL_2D(%4) stride_h=2
    %6 = CONCATENATION(%1, %5) axis=1
"""

SLICED = f"""
    %0 "x" int8[1,4,4,4] {parts.LIKE}
    %1 "a" int8[1,4,4,4] {parts.LIKE}
    %2 "begin" int32[4] = [0,0,0,1]
    %3 "sizes" int32[4] = [-1,-1,-1,1]
    %4 "one" int8[1,4,4,1] {parts.LIKE}
    %5 "paddings" int32[4,2] = [0,0,30,30,30,30,0,0]
    %6 "padded" int8[1,64,64,4] {parts.LIKE}
    %7 "y" int8[1,4,4,4] {parts.LIKE}
    %8 "z" int8[1,4,4,1] {parts.LIKE}
    inputs %0
    outputs %7, %8
    %1 = ADD(%0, %0)
    %4 = SLICE(%1, %2, %3)
    %6 = PAD(%1, %5)
    %7 = MAX_POOL_2D(%6) padding=VALID filter_h=16 filter_w=16 stride_h=16 stride_w=16
    %8 = MAX_POOL_2D(%4) filter_h=2 filter_w=1
"""
"""All of what is sliced stays alive for one channel of it."""

TWICE = f"""
    %0 "x" int8[1,4400,1,1] {parts.LIKE}
    %1 "fewer" int8[1,22,1,1] {parts.LIKE}
    %2 "first" int8[1,22,1,1] {parts.LIKE}
    %3 "paddings" int32[4,2] = [0,0,1989,1989,0,0,0,0]
    %4 "large" int8[1,4000,1,1] {parts.LIKE}
    %5 "larger" int8[1,4000,1,1] {parts.LIKE}
    %6 "late" int8[1,2000,1,1] {parts.LIKE}
    %7 "joined" int8[1,2022,1,1] {parts.LIKE}
    %8 "between" int8[1,6,1,1] {parts.LIKE}
    %9 "more" int32[4,2] = [0,0,MORE,0,0,0,0,0]
    %10 "later" int8[1,LATER,1,1] {parts.LIKE}
    %11 "again" int8[1,AGAIN,1,1] {parts.LIKE}
    inputs %0
    outputs %11
    %1 = MAX_POOL_2D(%0) stride_h=200
    %2 = ADD(%1, %1)
    %4 = PAD(%2, %3)
    %5 = MUL(%4, %4)
    %6 = MAX_POOL_2D(%5) stride_h=2
    %7 = CONCATENATION(%2, %6) axis=1
    %8 = MAX_POOL_2D(%7) stride_h=400
    %10 = PAD(%8, %9)
    %11 = CONCATENATION(%2, %10) axis=1
"""
"""One tensor is in two wholes.  In the first one it would be alive too early; and the second one may have it if that
copies."""


def _twice(later: int) -> str:
    """Return the same with so many bytes behind it in the second whole."""
    sizes = {"MORE": later - 6, "LATER": later, "AGAIN": 22 + later}
    return reduce(lambda text, word: text.replace(word, str(sizes[word])), sizes, TWICE)


NO_PARTS = "rewrites = { parts = false }"

BOTH = (
    EARLY.replace(
        "    inputs %0\n    outputs %6",
        f"""
    %7 "sums" int8[1,516,1,1] {parts.LIKE}
    %8 "products" int8[1,516,1,1] {parts.LIKE}
    %9 "both" int8[1,1032,1,1] {parts.LIKE}
    inputs %0
    outputs %9""",
    )
    + """
    %7 = ADD(%6, %6)
    %8 = MUL(%7, %7)
    %9 = CONCATENATION(%7, %8) axis=1
"""
)
"""A second concatenation behind it, whose second part is computed from the first."""


def _planned(folder: Path, text: str, words: str = "") -> pipeline.Planned:
    files = DiskFiles(folder)
    return pipeline.plan(pipeline.read(written(folder, text, words).name, files), files)


def _shared(analysis: Analysis) -> list[int]:
    return [ref.operator for ref in concat_aliasing.operators_with_parts(analysis.models)]


@pytest.mark.slow
@needs_c
@pytest.mark.drawn("io", "name")
@pytest.mark.parametrize("io", few(["pool", "application"], 1))
@pytest.mark.parametrize("name", few(parts.ALL, 6))
def test_every_tensor_is_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, io: str) -> None:
    """With all parts that there may be, whatever memory they need."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    monkeypatch.setattr(concat_aliasing, "is_no_worse", lambda *_: True)
    text = parts.ALL[name]
    words = f'io = "{io}"\nrewrites = {{ dead = false }}'
    done = succeed("selftest", written(tmp_path, text, words), "--sanitize", "--runs", "20")
    computed = sum(line.split("=")[0].count("%") for line in text.splitlines() if "(%" in line)
    assert done.out.startswith(f"m: {computed} tensors, 20 runs, all equal to those of TensorFlow Lite Micro")


def test_c_names_parts_by_where_they_begin(tmp_path: Path) -> None:
    succeed("generate", written(tmp_path, parts.ROWS), "--out", tmp_path / "out")
    code = "".join(path.read_text() for path in sorted((tmp_path / "out").rglob("*.c")))
    assert "m_max_pool_2d_1(t3, t3 + 192)" in code
    assert "concatenation" not in code


@pytest.mark.slow
def test_a_plan_is_never_larger_for_parts(tmp_path: Path) -> None:
    """The first part is small and early, the second one late: all of the whole would be alive in between."""
    planned = _planned(tmp_path, EARLY)
    assert _shared(planned.analysis) == []
    assert planned.summary.pools[0].size == 1016
    assert _shared(Replanner.of(planned.request, planned.imported).analyze()) == [4]


def test_a_fast_pool_may_be_filled_further_where_all_take_no_more(tmp_path: Path) -> None:
    """With copies they take 16 and 60 bytes, and more bytes are moved in the slow one."""
    net = Net(0)
    columns = net.split(net.input(4, 3, 4), 3, axis=2)
    rows = net.split(columns[1], 2, axis=1)
    (tmp_path / "m.tflite").write_bytes(net.file(net.depthwise(rows[1], (1, 1), stride=2), columns[2]))
    pools = {"fast": f"{RW}size = 20\n", "slow": RW, "flash": RO}
    model = f'path = "{(tmp_path / "m.tflite").as_posix()}"\n'
    path = manifest(tmp_path, tables("p", pools, {"m": model}) + LAYERS)
    files = DiskFiles(tmp_path)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    assert _shared(planned.analysis) == [1]
    assert [pool.size for pool in planned.summary.pools][:2] == [20, 56]


@pytest.mark.parametrize("words", ["rows = false", "overlap = false"])
def test_a_refusal_speaks_of_the_plan_with_parts(tmp_path: Path, words: str) -> None:
    (tmp_path / "m.tflite").write_bytes(NETS["two_ends"]())
    model = f'path = "{(tmp_path / "m.tflite").as_posix()}"\n'

    def limited(size: int) -> Path:
        text = tables("p", {"ram": f"{RW}size = {size}\n", "flash": RO}, {"m": model})
        return manifest(tmp_path, f"{text}[plan]\n{words}\n")

    files = DiskFiles(tmp_path)
    needed = pipeline.plan(pipeline.read(limited(9999).name, files), files).summary.pools[0].size
    says(call("plan", limited(needed - 2)), 3, 'enlarge "ram" by 2 bytes')


@pytest.mark.slow
def test_each_operator_is_shared_or_copied_for_itself(tmp_path: Path) -> None:
    planned = _planned(tmp_path, BOTH)
    assert _shared(planned.analysis) == [7]
    assert _shared(Replanner.of(planned.request, planned.imported).analyze()) == [4, 7]
    assert planned.summary.pools[0].size == 1032


@pytest.mark.long
@pytest.mark.drawn("later")
@pytest.mark.parametrize("later", [10, 800])
def test_where_an_operator_copies_another_one_may_have_parts(later: int, tmp_path: Path) -> None:
    """And if that is worse, it copies, too."""
    planned = _planned(tmp_path, _twice(later))
    assert _shared(Replanner.of(planned.request, planned.imported).analyze()) == [5]
    assert _shared(planned.analysis) == ([8] if later == 10 else [])
    assert planned.summary.pools[0].size == _planned(tmp_path, _twice(later), NO_PARTS).summary.pools[0].size == 4400


def test_what_cannot_be_copied_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the library had no kernel for SLICE."""
    honest = Reference.kernel

    def without(reference: Reference, operator: Operator, graph: Subgraph) -> Kernel | NoKernel:
        return NoKernel("it is left out") if operator.kind == "SLICE" else honest(reference, operator, graph)

    monkeypatch.setattr(Reference, "kernel", without)
    words = 'order = "file"\n'
    planned = _planned(tmp_path, SLICED, words)
    assert _shared(planned.analysis) == [1]
    assert planned.summary.pools[0].size > _planned(tmp_path, SLICED, words + NO_PARTS).summary.pools[0].size
    assert call("generate", written(tmp_path, SLICED, words), "--out", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("words", "shared", "size"),
    [('goal = "ram"', [3, 4], 635), ('goal = "balanced"', [4], 957), (NO_PARTS, [], 957)],
)
def test_the_goal_decides_whether_a_convolution_reads_channels(
    tmp_path: Path, words: str, shared: list[int], size: int
) -> None:
    """The second part of the concatenation is read by a window of 3 x 3, those of the split one pixel at a time."""
    planned = _planned(tmp_path, parts.convolutions("int8"), words)
    assert _shared(planned.analysis) == shared
    assert planned.summary.pools[0].size == size


@pytest.mark.slow
@needs_c
def test_balanced_plans_are_exact_too(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    succeed("selftest", written(tmp_path, parts.convolutions("int8"), 'goal = "balanced"'), "--sanitize")


def sizes(folder: Path, model: bytes, *words: str) -> list[int]:
    """Return the bytes of plans of a model with these words in its manifest."""
    (folder / "m.tflite").write_bytes(model)
    files = DiskFiles(folder)
    paths = (manifest(folder, one_model("m", each, path=(folder / "m.tflite").as_posix()) + LAYERS) for each in words)
    return [pipeline.plan(pipeline.read(path.name, files), files).summary.pools[0].size for path in paths]


@pytest.mark.parametrize(
    ("name", "size", "copied"), [("cells", 14336, 17384), ("two_ends", 2766, 3448), ("cross_stage", 8804, 12060)]
)
def test_branches_write_into_their_concatenation(tmp_path: Path, name: str, size: int, copied: int) -> None:
    assert sizes(tmp_path, NETS[name](), "", NO_PARTS) == [size, copied]


@pytest.mark.long
def test_a_concatenation_that_grows_is_one(tmp_path: Path) -> None:
    """Each one begins with all inputs of the one before, so it reads the output of that."""
    off = "rewrites = { duplicates = false, parts = false }"
    assert sizes(tmp_path, NETS["dense_block"](), "", NO_PARTS, off) == [14476, 14476, 22488]


@pytest.mark.slow
def test_concatenations_that_get_parts_only_where_splits_copy_are_no_larger_either(tmp_path: Path) -> None:
    split, copied = sizes(tmp_path, swapped(), "", NO_PARTS)
    assert split <= copied


def test_a_model_that_fills_the_pool_copies_where_others_have_parts(tmp_path: Path) -> None:
    """With all parts both take less than with none, but one takes more than by itself."""
    for name in ("cells", "dense_block"):
        (tmp_path / f"{name}.tflite").write_bytes(NETS[name]())
    places = {name: f'path = "{name}.tflite"\n' for name in ("cells", "dense_block")}
    files = DiskFiles(tmp_path)
    path = manifest(tmp_path, tables("t", {"sram": RW, "flash": RO}, places) + LAYERS)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    assert planned.summary.pools[0].size == 14476
    assert {site.model for site in concat_aliasing.operators_with_parts(planned.analysis.models)} == {0, 1}


def test_the_manifest_switches_it_off(tmp_path: Path) -> None:
    for words, parted in (("", [1, 4]), (NO_PARTS, [])):
        planned = _planned(tmp_path, parts.SPLIT, words)
        assert _shared(planned.analysis) == parted
        savings = {saving.rewrite: saving.operators for saving in planned.analysis.rewrites[0].savings}
        assert savings.get("parts", 0) == len(parted)


def test_the_hook_gets_channels_pixel_by_pixel(tmp_path: Path) -> None:
    succeed("generate", written(tmp_path, parts.CHANNELS), "--out", tmp_path / "out")
    code = "".join(path.read_text() for path in sorted((tmp_path / "out").rglob("m.c")))
    assert 'USMP_TRACE_PIXELS("m", 1, 2, t4 + 3, 3, 7, 180);' in code


def test_inspect_shows_where_parts_begin_and_models_that_can_be_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, parts.ROWS)
    assert "%3 %1 %2+192" in call("inspect", "storage", path).out
    shown = call("inspect", "model", path, "--data").out
    assert "CONCATENATION" in shown
    assert "JOIN" not in shown


def test_explain_says_which_channels_a_part_is(tmp_path: Path) -> None:
    told = call("explain", "m.c", written(tmp_path, parts.CHANNELS)).out.splitlines()
    assert "  part    bytes [6; 7) and so on every 7 bytes: m.c" in told


def test_explain_finds_a_part_in_its_whole(tmp_path: Path) -> None:
    path = written(tmp_path, parts.ROWS)
    for name in ("m.b", "m.joined"):
        told = call("explain", name, path).out.splitlines()
        assert told[0].startswith("m.joined: intermediate")
        assert told[-2:] == ["  part    bytes [0; 192): m.a", "  part    bytes [192; 288): m.b"]
