"""`rows = true`: less memory, the same tensors, in every verb and with every owner of the memory."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import PASSED, RW, equals_tflm, manifest, one_model, planned, succeed, tables
from tests.support.host_c import COMPILERS, compile_folder
from tests.support.net import Net
from tests.support.row_nets import drawn, residual, signal, skip, tall_window
from tests.support.tools import few, needs_c, needs_oracle

pytestmark = pytest.mark.slow

WHOLE = "[plan]\nrows = false\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(residual())
    return path


def of(net: Path, extra: str = "", plan: str = "") -> Path:
    """Write a manifest for the net."""
    return manifest(net.parent, one_model("net", extra, net.as_posix()) + plan)


def workspace(path: Path) -> int:
    achieved = planned(path)["workspace"]["achieved"]
    assert isinstance(achieved, int)
    return achieved


def is_exact(path: Path, *options: str) -> None:
    equals_tflm(path, "--runs", "2", *options)


def test_rows_need_less(net: Path) -> None:
    assert workspace(of(net)) <= 3 * workspace(of(net, plan=WHOLE)) // 4


@needs_c
@needs_oracle
@pytest.mark.parametrize(
    ("make_net", "job"),
    [(skip, "TRANSPOSE_CONV 2, row 15"), (skip, "CONCATENATION 3, row 15"), (signal, "CONV_2D 2, row 47")],
)
def test_branches_and_signals_need_half(tmp_path: Path, make_net: Callable[[], bytes], job: str) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(make_net())
    assert workspace(of(net)) <= workspace(of(net, plan=WHOLE)) // 2
    assert job in succeed("inspect", "schedule", of(net)).out
    is_exact(of(net), "--sanitize")


@needs_c
@needs_oracle
@pytest.mark.parametrize(("turned", "scaled"), [(False, "scores"), (True, "queries"), (False, "heads")])
def test_tokens_have_scores_one_at_a_time(tmp_path: Path, turned: bool, scaled: str) -> None:
    """Four matrices of 12 tokens, and the scores of one head, take more."""
    net = Net(9)
    x = net.attention(net.conv(net.input(12, 1, 3), 8), 2, turned, scaled)
    path = tmp_path / "net.tflite"
    path.write_bytes(net.file(net.pool("AVERAGE_POOL_2D", x, (12, 1))))
    assert workspace(of(path)) < 4 * 12 * 8 + 12 * 12
    assert re.search(r"BATCH_MATMUL \d+, row 11", succeed("inspect", "schedule", of(path)).out)
    is_exact(of(path), "--sanitize")
    assert "no access contradicts that" in succeed("selftest", of(path), "--accesses").out


def test_a_balanced_signal_runs_layer_by_layer(tmp_path: Path) -> None:
    """A window by itself shares no weights with its neighbors, so it takes more instructions."""
    net = tmp_path / "net.tflite"
    net.write_bytes(signal())
    balanced = of(net, 'goal = "balanced"\n')
    assert ", row " not in succeed("inspect", "schedule", balanced).out


@pytest.mark.parametrize(("model", "plan"), [("", "[plan]\noverlap = false\n"), ('order = "file"', "")])
def test_without_overlap_or_free_order_layers_run_as_a_whole(net: Path, model: str, plan: str) -> None:
    done = succeed("inspect", "schedule", of(net, model, plan))
    assert "CONV_2D 0" in done.out
    assert ", row " not in done.out


@needs_c
@needs_oracle
def test_a_window_over_all_rows_adds_them_up(tmp_path: Path) -> None:
    """15 rows of 128 channels never exist together: there are 128 sums of 4 bytes instead."""
    net = tmp_path / "net.tflite"
    net.write_bytes(tall_window())
    assert workspace(of(net, plan=WHOLE)) == 3_620
    assert workspace(of(net)) <= 2_948
    is_exact(of(net), "--sanitize")


@needs_c
@needs_oracle
@pytest.mark.parametrize("owner", few(["arrays", "pool", "both"], 1))
def test_memory_of_the_application(net: Path, owner: str) -> None:
    extra = "" if owner == "pool" else 'io = "application"\n'
    pool = RW if owner == "arrays" else RW + PASSED
    text = tables("p", {"ram": pool}, {"net": f'path = "{net.as_posix()}"\n{extra}'})
    is_exact(manifest(net.parent, text), "--sanitize")


@needs_c
@needs_oracle
@pytest.mark.long
def test_two_models_in_one_pool(net: Path) -> None:
    """Both are cut, and each takes no more than by itself."""
    other = net.parent / "other.tflite"
    other.write_bytes(drawn(11))
    models = {path.stem: f'path = "{path.as_posix()}"\n' for path in (net, other)}
    both = manifest(net.parent, tables("p", {"ram": RW}, models), "both.toml")
    alone = [workspace(manifest(net.parent, one_model(path.stem, path=path.as_posix()))) for path in (net, other)]
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
@pytest.mark.parametrize("make_net", few([two_stretches, tall], 1))
def test_counters_of_rows(tmp_path: Path, make_net: Callable[[], bytes]) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(make_net())
    is_exact(of(net), "--sanitize", "--keep", str(tmp_path / "kept"))
    text = (tmp_path / "kept" / "net.c").read_text()
    expected = ["uint16_t jobs_done["] if make_net is tall else ["net_jobs_0[", "net_jobs_1[", "uint8_t jobs_done["]
    assert [each for each in expected if each not in text] == []


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "net.tflite").write_bytes(residual())
    succeed("generate", of(folder / "net.tflite"), "--out", folder / "generated")
    return folder / "generated"


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("hook", few(["-DUSMP_HOOK", "-DNDEBUG"], 1))
def test_it_compiles_without_a_warning(generated: Path, compiler: str, standard: str, hook: str) -> None:
    compile_folder(generated, compiler, standard, hook, mentioning="net_jobs")
