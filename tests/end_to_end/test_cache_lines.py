"""Nothing shares a cache line with what DMA touches: in plan.json, in the headers, and in the C that is compiled."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.cli import call, manifest, succeed
from tests.support.processes import output, run
from tests.support.tools import need, needs_gcc
from tests.support.tree import ROOT, text_file
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.output import writer

MODELS = ("branchy", "detector", "digits", "expert", "kitchen_a", "odd_even")
CASCADE = {name: (ROOT / f"examples/cascade/{name}.tflite").as_posix() for name in ("detector", "expert")}
FEEDS = '[[connections]]\nfrom = "detector.found"\nto = "expert.found"\n'
ACCELERATOR = """
[targets.npu]
kernels = "extern"
copies = "extern"
"""
PLACED = """
[[models.digits.place]]
operators = "*CONV_2D"
target = "npu"
"""
PORTS = {"input", "output", "connection"}
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]


@st.composite
def manifests(draw: st.DrawFn) -> str:
    """Several pools, some of them cached, some with a limit, and models of which one may use an accelerator."""
    npu = draw(st.booleans())
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, unique=True))
    feeds = set(models[:2]) != set(CASCADE) <= set(models) and draw(st.booleans())
    text = f"concurrent = {json.dumps([models[:2]])}\n" if len(models) > 1 and draw(st.booleans()) else ""
    text += '[project]\nname = "p"\n' + (ACCELERATOR if npu else "")
    pools = [f"pool{number}" for number in range(draw(st.integers(1, 3)))]
    for number, pool in enumerate(pools):
        text += f'[pools.{pool}]\naccess = "rw"\n'
        if number + 1 < len(pools):
            text += f"size = {draw(st.integers(100, 4000))}\n"
        if draw(st.integers(0, 3)):
            text += f'attributes = ["dma", "cacheable"]\ncache_line = {draw(st.sampled_from([8, 32, 64, 128]))}\n'
        if npu and number and number + 1 < len(pools) and draw(st.booleans()):
            text += 'targets = ["cpu"]\n'
    for name in models:
        words = draw(st.sampled_from(["", 'inputs = "reserved"', 'outputs = "reserved"', 'io = "application"']))
        words = "" if feeds and name in CASCADE and "io" in words else words
        text += f'[models.{name}]\npath = "{CASCADE.get(name, f"DATA/{name}.tflite")}"\n{words}\n'
        text += PLACED if npu and name == "digits" else ""
    return text + (FEEDS if feeds else "")


Pairs: TypeAlias = set[tuple[str, str]]
"""Names of buffers that may hold something at the same time."""


def generated(path: Path) -> tuple[dict[str, Any], Pairs]:
    """Plan once, and write all files beside the manifest, to `out`; return plan.json, and what conflicts."""
    files = DiskFiles()
    plan = pipeline.plan(pipeline.read(path.as_posix(), files), files)
    writer.write(pipeline.emit(pipeline.lay_out(plan)), path.parent / "out")
    problem = plan.analysis.problem
    names = [buffer.name for buffer in problem.buffers]
    pairs = {(names[i], names[j]) for i, others in enumerate(problem.conflicts) for j in others}
    return json.loads((path.parent / "out" / "plan.json").read_text("utf-8")), pairs


def each_buffer(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the buffers of plan.json, each row of a tensor by itself."""
    for buffer in plan["buffers"]:
        if "offset" in buffer:
            yield buffer
            continue
        pools = buffer["pool"] if isinstance(buffer["pool"], list) else [buffer["pool"]] * len(buffer["offsets"])
        for row, (pool, offset) in enumerate(zip(pools, buffer["offsets"], strict=True)):
            place = {"pool": pool, "offset": offset, "size": buffer["row_size"]}
            yield buffer | place | {"name": f"{buffer['name']}[{row}]"}


def lines_of(buffer: dict[str, Any], line: int) -> range:
    return range(buffer["offset"] // line, -(-(buffer["offset"] + buffer["size"]) // line))


def check(plan: dict[str, Any], together: Pairs) -> int:
    """Look at every line of every pool that has any; return how many buffers must not share theirs."""
    count = 0
    for pool in plan["pools"]:
        line = pool["cache_line"]
        inside = [b for b in each_buffer(plan) if b["pool"] == pool["name"] and b["size"]] if line else []
        assert not line or pool["alignment"] % line == 0
        assert all(b["cache_line"] for b in inside if b["kind"] in PORTS)
        for buffer in (b for b in inside if b["cache_line"]):
            count += 1
            own = lines_of(buffer, line)
            assert buffer["offset"] == own.start * line
            assert own.stop * line <= pool["size"]
            for other in inside:
                if (buffer["name"], other["name"]) in together:
                    there = lines_of(other, line)
                    assert own.stop <= there.start or there.stop <= own.start, (buffer["name"], other["name"])
    return count


def macros(folder: Path, model: str) -> set[int]:
    header = (folder / f"{model}.h").read_text("utf-8")
    return {int(size) for size in re.findall(r"#define \w+_CACHE_BYTES (\d+)", header)}


@pytest.mark.long
@settings(
    max_examples=int(os.environ.get("USMP_CASES", "120")) // 30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=manifests())
def test_no_line_is_shared(tmp_path: Path, text: str) -> None:
    """In plan.json; the macros are the lines of inputs and outputs, and the compiler finds the plan true."""
    need("gcc")
    plan_json, together = generated(manifest(tmp_path, text))
    check(plan_json, together)
    lines = {pool["name"]: pool["cache_line"] for pool in plan_json["pools"]}
    for model in plan_json["models"]:
        users = [(b, {b["model"], *b["shared_with"]}) for b in each_buffer(plan_json) if b["kind"] in PORTS]
        ports = [b for b, models in users if model["name"] in models]
        own = {len(lines_of(b, line)) * line for b in ports if (line := lines[b["pool"]])}
        assert macros(tmp_path / "out", model["name"]) == own
        subprocess.run(["gcc", *FLAGS, "-fsyntax-only", tmp_path / "out" / f"{model['name']}.c"], check=True)


CACHED = """
[project]
name = "p"

[pools.tcm]
access = "rw"
size = 600

[pools.sram]
access = "rw"
attributes = ["dma", "cacheable"]
cache_line = 32

[models.digits]
path = "DATA/digits.tflite"
workspace_pools = ["sram"]

[models.branchy]
path = "DATA/branchy.tflite"
"""


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest, which is planned once."""
    return manifest(tmp_path_factory.mktemp("cached"), CACHED)


@pytest.mark.long
def test_the_headers_say_which_bytes_are_meant(cached: Path) -> None:
    assert check(*generated(cached)) >= 2
    header = (cached.parent / "out" / "digits.h").read_text("utf-8")
    sizes = dict(re.findall(r"#define (DIGITS_\w+)_SIZE (\d+)", header))
    cached = dict(re.findall(r"#define (DIGITS_\w+)_CACHE_BYTES (\d+)", header))
    ports = [name for name in sizes if not name.endswith("_POOL")]
    assert {name: int(size) for name, size in cached.items()} == {n: -(-int(sizes[n]) // 32) * 32 for n in ports}
    text = " ".join(header.replace("*", " ").split())
    assert "invalidate before it starts" in text
    assert "clean after the run, before it starts" in text


def test_connections_have_lines_of_their_own(tmp_path: Path) -> None:
    tables = "".join(f'[models.{name}]\npath = "{path}"\n' for name, path in CASCADE.items())
    path = manifest(tmp_path, CACHED.split("[models.")[0].replace("size = 600", "size = 64") + tables + FEEDS)
    plan_json, together = generated(path)
    assert check(plan_json, together)
    [buffer] = [b for b in plan_json["buffers"] if b["kind"] == "connection"]
    assert (buffer["pool"], buffer["cache_line"]) == ("sram", 32)
    bytes_ = -(-buffer["size"] // 32) * 32
    for model in CASCADE:
        header = (tmp_path / "out" / f"{model}.h").read_text("utf-8")
        assert f"#define {model.upper()}_FOUND_CACHE_BYTES {bytes_}\n" in header


@pytest.mark.long
def test_explain_tells_of_the_lines(cached: Path) -> None:
    [name] = [b["name"] for b in generated(cached)[0]["buffers"] if b["kind"] == "input" and b["model"] == "digits"]
    assert "aligned to 32, with cache lines of 32 bytes to itself, for DMA" in call("explain", name, cached).out


def test_inputs_and_outputs_of_programs_have_lines_too(tmp_path: Path) -> None:
    program = (ROOT / "examples" / "program" / "vision.program.json").as_posix()
    cached = CACHED.split("[models.")[0].replace("size = 600", "size = 64")
    path = manifest(tmp_path, f'{cached}[models.vision]\npath = "{program}"\n')
    plan_json, together = generated(path)
    assert check(plan_json, together)
    assert {b["kind"] for b in plan_json["buffers"] if b["cache_line"]} == {"input", "output"}
    assert "_CACHE_BYTES" in (tmp_path / "out" / "vision.h").read_text("utf-8")


PROGRAM = text_file("cache_lines_program.c")


@pytest.mark.slow
@needs_gcc
def test_the_ranges_are_whole_lines_of_the_pool_in_c(cached: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call("generate", cached, "--out", out).code == 0
    struct = r"struct digits_{}s {{\n\s*(?:const )?\w+ \*(\w+);"
    header = (out / "digits.h").read_text("utf-8")
    text = PROGRAM
    for side in ("input", "output"):
        match = re.search(struct.format(side), header)
        assert match
        text = text.replace(f".{side.upper()}", f".{match[1]}").replace(
            f"DIGITS_{side.upper()}_", f"DIGITS_{match[1].upper()}_"
        )
    (out / "check.c").write_text(text, encoding="utf-8")
    sources = sorted(str(source) for source in out.glob("*.c"))
    output(["gcc", *FLAGS, f"-I{out}", *sources, "-o", out / "check", "-lm"])
    assert subprocess.run([out / "check"], check=False).returncode == 0


@pytest.mark.long
def test_a_plan_that_shares_a_line_does_not_compile(tmp_path: Path) -> None:
    """The compiler checks lines, too: move what is above a cached buffer down, into its last line."""
    out, layers = tmp_path / "out", manifest(tmp_path, CACHED + "[plan]\nrows = false\n")
    assert call("generate", layers, "--out", out).code == 0
    source = (out / "digits.c").read_text("utf-8")
    match = re.search(r"USMP_CHECK\(\((\w+)_OFFSET \+ \1_BYTES \+ 31\) / 32 \* 32 <= (\w+)_OFFSET", source)
    assert match, "nothing lies above a cached buffer"
    offset = {name: int(at) for name, at in re.findall(r"(DIGITS_\w+)_OFFSET = (\d+)", source)}
    size = {name: int(at) for name, at in re.findall(r"(DIGITS_\w+)_BYTES = (\d+)", source)}
    below, above = match[1], match[2]
    end = offset[below] + size[below]
    assert end % 32, "the lines are full anyway"
    moved = re.sub(rf"{above}_OFFSET = \d+", f"{above}_OFFSET = {-(-end // 4) * 4}", source)
    (out / "digits.c").write_text(moved, encoding="utf-8")
    done = run(["gcc", *FLAGS, f"-I{out}", "-c", out / "digits.c", "-o", out / "x.o"])
    assert done.code != 0


@pytest.mark.slow
def test_every_tensor_is_exact_with_lines_kept_apart(cached: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", cached, "--sanitize", "--runs", 10)
    assert done.out.count("all equal to those of TensorFlow Lite Micro") == 2
