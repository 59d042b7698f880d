"""`inputs = "rows"` and `outputs = "rows"`: pictures that are never in memory as a whole."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.cli import PASSED, RW, call, equals_tflm, manifest, one_model, planned, succeed, tables
from tests.support.host_c import COMPILERS, built, compile_folder
from tests.support.pictures import picture_and_more, picture_to_picture, picture_to_state, read_twice, signal_to_signal
from tests.support.processes import output, run
from tests.support.row_nets import JOINED, drawn
from tests.support.tools import few, needs_c, needs_oracle
from tests.support.tree import ROOT, text_file
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.layout.layout import Layout
from usmp_build.pipeline import Planned

IN, OUT, APPLICATION = 'inputs = "rows"\n', 'outputs = "rows"\n', 'io = "application"\n'
ROWS = "[plan]\nrows = true\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(picture_to_picture())
    return path


def of(net: Path, extra: str = IN, more: str = "") -> Path:
    """Write a manifest for the net."""
    return manifest(net.parent, one_model("net", extra, net.as_posix()) + ROWS + more)


def workspace(path: Path) -> int:
    files = DiskFiles(path.parent)
    return pipeline.plan(pipeline.read(path.name, files), files).summary.workspace.achieved


def is_exact(path: Path, *options: str) -> None:
    equals_tflm(path, "--runs", "3", "--sanitize", *options)


@pytest.mark.long
def test_what_is_never_whole_takes_less(net: Path) -> None:
    whole, fed, both = (workspace(of(net, ports)) for ports in ("", IN, IN + OUT))
    assert both < fed < whole


@pytest.mark.parametrize("limit", ["", "size = 1024\n"])
def test_a_limit_that_the_plan_keeps_makes_it_no_worse(tmp_path: Path, limit: str) -> None:
    """Here first fit takes more than the limit in any of its orders."""
    model = {"edges": f'path = "{(ROOT / "examples" / "rows" / "edges.tflite").as_posix()}"\n{IN}{OUT}'}
    assert workspace(manifest(tmp_path, tables("p", {"ram": RW + limit}, model))) <= 964


@pytest.mark.slow
@needs_c
@needs_oracle
@pytest.mark.drawn("ports")
@pytest.mark.parametrize("ports", few([IN, OUT, IN + OUT], 1))
@pytest.mark.parametrize("io", ["", APPLICATION], ids=["pool", "arrays"])
@pytest.mark.parametrize("owner", few(["", PASSED], 1), ids=["generated", "passed"])
def test_every_tensor_is_exact(net: Path, ports: str, io: str, owner: str) -> None:
    text = tables("p", {"ram": RW + owner}, {"net": f'path = "{net.as_posix()}"\n{ports}{io}'}) + ROWS
    is_exact(manifest(net.parent, text))


@needs_c
@needs_oracle
@pytest.mark.parametrize("make_net", few([read_twice, picture_and_more, picture_to_state], 1))
@pytest.mark.parametrize("io", few(["", APPLICATION], 1), ids=["pool", "arrays"])
@pytest.mark.long
def test_other_readers_other_inputs_and_state(tmp_path: Path, make_net: Callable[[], bytes], io: str) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(make_net())
    is_exact(of(net, IN + io))


@needs_c
@needs_oracle
def test_samples_of_a_signal_arrive_as_many_as_a_window_moves_on(tmp_path: Path) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(signal_to_signal())
    path = of(net, IN + OUT)
    (samples,) = [each for each in planned(path)["buffers"] if each["kind"] == "input"]
    assert samples["row_size"] == 4 * 3
    assert len(samples["offsets"]) - len(samples["moved"]) == 52 / 4
    is_exact(path)


@pytest.mark.slow
@needs_c
@needs_oracle
@pytest.mark.drawn("seed")
@pytest.mark.parametrize(
    "seed", few([*range(3), *range(4, 13), *range(JOINED, JOINED + 4)], 2)
)  # net 3 begins with a RESHAPE
def test_drawn_nets(tmp_path: Path, seed: int) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(drawn(seed))
    is_exact(of(net))


@needs_c
@needs_oracle
@pytest.mark.drawn("name", "most")
@pytest.mark.parametrize(
    ("name", "most"), [("kws", 3_560), ("ic", 9_152), ("vww", 10_272), ("more/person_detect", 10_080)]
)
@pytest.mark.long
def test_real_models(real_models: Path, tmp_path: Path, name: str, most: int) -> None:
    path = manifest(tmp_path, one_model("m", IN, path=(real_models / f"{name}.tflite").as_posix()) + ROWS)
    assert workspace(path) <= most
    is_exact(path)


MISUSE = text_file("rows_from_outside_misuse.c")


@pytest.mark.slow
@needs_c
@pytest.mark.parametrize("mode", ["-DUSMP_GUARD=1", "-DNDEBUG"])
def test_calls_in_the_wrong_order_have_a_status(net: Path, mode: str) -> None:
    """OK 0, NULL 1, BUSY 3, NOT_BEGUN 5, ROWS 6; only the guard knows of another run in the same pool."""
    out = net.parent / "out"
    assert call("generate", of(net), "--out", out).code == 0
    done = run([built(out, net.parent, MISUSE, "cc", mode)])
    second_run = 3 if "GUARD" in mode else 0
    assert done.code == 0
    assert done.out.split() == f"5 5 1 0 3 {second_run} 6 5 0 6 1 0 1 1 1 1".split()


MEANWHILE = text_file("rows_from_outside_meanwhile.c")


@pytest.mark.slow
@needs_c
@pytest.mark.parametrize(
    ("concurrent", "message"), [("", "0 3 0 3 6 0"), ('concurrent = [["net", "other"]]\n', "0 0 0 0 6 0")]
)
def test_a_model_runs_from_begin_to_end(net: Path, concurrent: str, message: str) -> None:
    models = {"net": f'path = "{net.as_posix()}"\n{IN}', "other": f'path = "{net.as_posix()}"\norder = "file"\n'}
    text = concurrent + tables("p", {"ram": RW}, models) + ROWS
    assert call("generate", manifest(net.parent, text), "--out", net.parent / "out").code == 0
    program = built(net.parent / "out", net.parent, MEANWHILE, "cc", "-DUSMP_GUARD=1")
    assert output([program]).strip() == message


INSTANCES = text_file("rows_from_outside_instances.c")


@pytest.mark.slow
@needs_c
def test_instances_take_turns_row_by_row(net: Path) -> None:
    """What each gets at the end is what it gets alone."""
    text = tables("p", {"ram": RW + PASSED}, {"net": f'path = "{net.as_posix()}"\n{IN}{OUT}'}) + ROWS
    out = net.parent / "out"
    assert call("generate", manifest(net.parent, text), "--out", out).code == 0
    both = subprocess.run([built(out, net.parent, INSTANCES, "cc")], capture_output=True, check=True).stdout
    swapped = INSTANCES.replace("i == 0", "i == 1")
    other = subprocess.run([built(out, net.parent, swapped, "cc")], capture_output=True, check=True).stdout
    half = len(both) // 2
    assert both[:half] == other[half:]
    assert both[half:] == other[:half]
    assert both[:half] != both[half:]


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("mode", few(["-DUSMP_HOOK", "-DNDEBUG"], 1))
@pytest.mark.parametrize("extra", [IN, IN + OUT + APPLICATION], ids=["pool", "arrays"])
@pytest.mark.long
def test_it_compiles_without_a_warning(net: Path, extra: str, compiler: str, standard: str, mode: str) -> None:
    assert call("generate", of(net, extra), "--out", net.parent / "out").code == 0
    compile_folder(net.parent / "out", compiler, standard, mode, mentioning="net_jobs")


def test_rows_for_dma_have_cache_lines(net: Path) -> None:
    pool = RW + 'attributes = ["dma", "cacheable"]\ncache_line = 32\n'
    text = tables("p", {"ram": pool}, {"net": f'path = "{net.as_posix()}"\n{IN}'}) + ROWS
    path = manifest(net.parent, text)
    buffers = planned(path)["buffers"]
    (rows,) = [each for each in buffers if each["kind"] == "input"]
    assert rows["cache_line"] == 32
    assert [offset % 32 for offset in rows["offsets"]] == [0] * 12
    assert call("generate", path, "--out", net.parent / "out").code == 0
    assert "#define NET_T0_CACHE_BYTES 32\n" in (net.parent / "out" / "net.h").read_text()


def test_the_plan_says_what_comes_and_goes_by_rows(net: Path) -> None:
    plan = planned(of(net, IN + OUT))
    (model,) = plan["models"]
    assert (model["inputs_by_rows"], model["outputs_by_rows"]) == (["t0"], model["outputs"])
    kinds = {each["kind"]: len(each["offsets"]) - len(each["moved"]) for each in plan["buffers"] if "offsets" in each}
    assert kinds == {"input": 12, "intermediate": 12, "output": 12}
    assert [step["row"] for step in plan["steps"] if step["kind"] == "arrival"] == [*range(12)]
    done = succeed("explain", "t0", of(net, IN))
    assert "12 of 12 bytes" in done.out


@pytest.mark.slow
@needs_c
@needs_oracle
def test_a_row_in_a_wrong_place_is_caught(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out = pipeline.lay_out

    def faulty(planned: Planned) -> Layout:
        layout = lay_out(planned)
        ((row, code),) = layout.models
        table, *others = code.row_offsets
        at = next(i for i, pair in enumerate(pairwise(table.offsets)) if len({*pair}) == 2)
        wrong = replace(table, offsets=(*table.offsets[:at], table.offsets[at + 1], *table.offsets[at + 1 :]))
        return replace(layout, models=((row, replace(code, row_offsets=(wrong, *others))),))

    monkeypatch.setattr(pipeline, "lay_out", faulty)
    done = call("selftest", of(net), "--runs", "2")
    assert done.code != 0, done.out
    assert "elements differ" in done.err or "reads bytes that were never written" in done.err, done.err


@pytest.mark.parametrize(
    ("name", "extra", "message"),
    [
        ("hello.tflite", IN, "cannot arrive row by row: FULLY_CONNECTED 0 does not run row by row"),
        ("kws.tflite", OUT, "cannot leave row by row: SOFTMAX 12 does not run row by row"),
    ],
)
def test_what_needs_all_of_it_is_refused(
    real_models: Path, tmp_path: Path, name: str, extra: str, message: str
) -> None:
    done = call("plan", manifest(tmp_path, one_model("m", extra, path=(real_models / name).as_posix()) + ROWS))
    assert done.code != 0
    assert "usmp.toml:5:" in done.err
    assert "error[P371]" in done.err
    assert message in done.err
    assert "help: " in done.err


def test_a_connection_has_no_rows(net: Path) -> None:
    path = net.as_posix()
    models = {"a": f'path = "{path}"\n', "b": f'path = "{path}"\n{IN}'}
    connection = '[[connections]]\nfrom = "a.t13"\nto = "b.t0"\n'
    done = call("plan", manifest(net.parent, tables("p", {"ram": RW}, models) + connection + ROWS))
    assert done.code != 0
    assert "error[P349]" in done.err


def test_several_candidate_pools_are_refused(net: Path) -> None:
    text = tables("p", {"a": RW, "b": RW}, {"net": f'path = "{net.as_posix()}"\n{IN}'}) + ROWS
    done = call("plan", manifest(net.parent, text))
    assert "error[P371]" in done.err
    assert "it may be in several pools" in done.err
