"""`rows = true`: less memory, the same tensors, in every verb and with every owner of the memory; faults are caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.cli import PASSED, RW, call, call_apart, manifest, one_model, tables
from tests.support.host_c import COMPILERS, compile_folder
from tests.support.net import Net
from tests.support.row_nets import drawn, residual
from tests.support.tools import few, needs_c, needs_oracle
from usmp_build import pipeline
from usmp_build.ir.schedule import steps
from usmp_build.layout import Jobs, Layout, ModelCode
from usmp_build.pipeline import Planned

ROWS = "[plan]\nrows = true\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(residual())
    return path


def of(net: Path, extra: str = "", rows: str = ROWS) -> Path:
    """Write a manifest for the net."""
    return manifest(net.parent, one_model("net", extra, net.as_posix()) + rows)


def workspace(path: Path) -> int:
    done = call("plan", path, "--json")
    assert done.code == 0, done.err
    achieved = json.loads(done.out)["workspace"]["achieved"]
    assert isinstance(achieved, int)
    return achieved


def is_exact(path: Path, *options: str) -> None:
    done = call("selftest", path, "--runs", "2", *options)
    assert done.code == 0, done.err
    assert "all equal to those of TensorFlow Lite Micro" in done.out


def test_rows_need_less(net: Path) -> None:
    whole = workspace(of(net, rows=""))
    assert workspace(of(net)) <= 3 * whole // 4
    assert workspace(of(net, rows="[plan]\nrows = false\n")) == whole


@pytest.mark.parametrize(("model", "plan"), [("", "overlap = false\n"), ('order = "file"', "")])
def test_without_overlap_or_free_order_layers_run_as_a_whole(net: Path, model: str, plan: str) -> None:
    done = call("inspect", "schedule", of(net, model, ROWS + plan))
    assert done.code == 0, done.err
    assert "CONV_2D 0" in done.out
    assert ", row " not in done.out


@needs_c
@needs_oracle
@pytest.mark.parametrize("name", ["kws", "ic", "vww"])
@pytest.mark.long
def test_real_models(real_models: Path, tmp_path: Path, name: str) -> None:
    path = manifest(tmp_path, one_model(name, path=(real_models / f"{name}.tflite").as_posix()) + ROWS)
    assert workspace(path) <= {"kws": 3_866, "ic": 9_500, "vww": 27_746}[name]
    is_exact(path, "--sanitize")


@needs_c
@needs_oracle
@pytest.mark.parametrize("owner", few(["arrays", "pool", "both"], 1))
def test_memory_of_the_application(net: Path, owner: str) -> None:
    extra = "" if owner == "pool" else 'io = "application"\n'
    pool = RW if owner == "arrays" else RW + PASSED
    text = tables("p", {"ram": pool}, {"net": f'path = "{net.as_posix()}"\n{extra}'}) + ROWS
    is_exact(manifest(net.parent, text), "--sanitize")


@needs_c
@needs_oracle
@pytest.mark.long
def test_two_models_in_one_pool(net: Path) -> None:
    """Both are cut, and each takes no more than by itself."""
    other = net.parent / "other.tflite"
    other.write_bytes(drawn(11))
    models = {path.stem: f'path = "{path.as_posix()}"\n' for path in (net, other)}
    both = manifest(net.parent, tables("p", {"ram": RW}, models) + ROWS, "both.toml")
    alone = [
        workspace(manifest(net.parent, one_model(path.stem, path=path.as_posix()) + ROWS)) for path in (net, other)
    ]
    assert workspace(both) == max(alone)
    is_exact(both, "--sanitize")


def two_stretches() -> bytes:
    """Layers by rows before and after a dense one."""
    net = Net(3)
    x = net.conv(net.conv(net.input(6, 3, 1), 6, (3, 3)), 6, (3, 3))
    x = net.conv(x, 1, stride=2)
    x = net.reshape(net.dense(net.reshape(x, 1, 6), 18), 1, 6, 3, 1)
    return net.file(net.pool("AVERAGE_POOL_2D", net.conv(net.conv(x, 6, (3, 3)), 6, (3, 3)), (6, 3)))


def tall() -> bytes:
    """More rows than a byte counts."""
    net = Net(4)
    x = net.conv(net.conv(net.input(300, 1, 1), 4, (3, 1)), 4, (3, 1), stride=2)
    return net.file(net.pool("AVERAGE_POOL_2D", x, (150, 1)))


@needs_c
@needs_oracle
@pytest.mark.parametrize("made", few([two_stretches, tall], 1))
def test_counters_of_rows(tmp_path: Path, made: Callable[[], bytes]) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(made())
    is_exact(of(net), "--sanitize", "--keep", str(tmp_path / "kept"))
    text = (tmp_path / "kept" / "net.c").read_text()
    expected = ["uint16_t jobs_done["] if made is tall else ["net_jobs_0[", "net_jobs_1[", "uint8_t jobs_done["]
    assert [each for each in expected if each not in text] == []


@pytest.mark.long
def test_the_same_files_with_other_hashes(net: Path) -> None:
    folders = [net.parent / seed for seed in "12"]
    for folder in folders:
        done = call_apart("generate", of(net), "--out", folder, env={"PYTHONHASHSEED": folder.name})
        assert done.code == 0, done.err
    one, other = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert one == other
    assert b"net_jobs[" in one["net.c"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "net.tflite").write_bytes(residual())
    done = call("generate", of(folder / "net.tflite"), "--out", folder / "generated")
    assert done.code == 0, done.err
    return folder / "generated"


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("hook", few(["-DUSMP_HOOK", "-DNDEBUG"], 1))
def test_it_compiles_without_a_warning(generated: Path, compiler: str, standard: str, hook: str) -> None:
    compile_folder(generated, compiler, standard, hook, mentioning="net_jobs")


Fault = Callable[[Planned, ModelCode], ModelCode]


def row_moved(_: Planned, code: ModelCode) -> ModelCode:
    """A row of the second table goes where the next one does."""
    table = code.row_offsets[1]
    at = next(i for i, pair in enumerate(pairwise(table.entries)) if len({*pair}) == 2)
    wrong = replace(table, entries=(*table.entries[:at], table.entries[at + 1], *table.entries[at + 1 :]))
    return replace(code, row_offsets=(code.row_offsets[0], wrong, *code.row_offsets[2:]))


def jobs_swapped(planned: Planned, code: ModelCode) -> ModelCode:
    """A job runs just before the one whose row it reads."""
    (jobs,) = (part for part in code.sequence if isinstance(part, Jobs))
    in_turn = [step for step in steps(planned.analysis.schedule.root) if step.job is not None]
    assert len(in_turn) == len(jobs.operators)
    at = next(i for i, step in enumerate(in_turn[:-1]) if {*step.writes} & {*in_turn[i + 1].reads})
    first, second = jobs.operators[at : at + 2]
    wrong = replace(jobs, operators=(*jobs.operators[:at], second, first, *jobs.operators[at + 2 :]))
    return replace(code, sequence=tuple(wrong if part is jobs else part for part in code.sequence))


def job_left_out(_: Planned, code: ModelCode) -> ModelCode:
    """The last row of an operator is never computed."""
    (jobs,) = (part for part in code.sequence if isinstance(part, Jobs))
    last = max(i for i, number in enumerate(jobs.operators) if number == 1)
    wrong = replace(jobs, operators=(*jobs.operators[:last], *jobs.operators[last + 1 :]))
    return replace(code, sequence=tuple(wrong if part is jobs else part for part in code.sequence))


@needs_c
@needs_oracle
@pytest.mark.parametrize("fault", [row_moved, jobs_swapped, job_left_out])
def test_planted_faults_are_caught(net: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    lay_out = pipeline.lay_out

    def faulty(planned: Planned) -> Layout:
        layout = lay_out(planned)
        ((row, code),) = layout.models
        return replace(layout, models=((row, fault(planned, code)),))

    monkeypatch.setattr(pipeline, "lay_out", faulty)
    done = call("selftest", of(net), "--runs", "2")
    assert done.code != 0, done.out
    assert "internal error" not in done.err
    assert "elements differ" in done.err or "reads bytes that were never written" in done.err, done.err
