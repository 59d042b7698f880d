"""What plans say of cost: in real units, with its bound, and what larger pools would save."""

import json
from itertools import chain, product, starmap
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import call, manifest, planned, succeed
from tests.support.tools import few
from usmp_build import pipeline
from usmp_build.files import DiskFiles

DTCM = """[pools.dtcm]
access = "rw"
size = {}
clock_frequency_hz = 480_000_000
read_bandwidth_bytes_per_cycle = 8

"""
SRAM = """[pools.sram]
access = "rw"
clock_frequency_hz = 240_000_000
read_bandwidth_bytes_per_cycle = 8
read_latency_cycles = 4

"""
DIGITS = '[models.digits]\npath = "DATA/digits.tflite"\n'
PROJECT = '[project]\nname = "p"\n'


def layer_by_layer(folder: Path, text: str) -> dict[str, Any]:
    """Plan layer by layer; `[plan]` is the last table of `text`, or missing."""
    plan = "rows = false\n" if "[plan]" in text else "[plan]\nrows = false\n"
    return planned(manifest(folder, PROJECT + text + plan))


def table(folder: Path, text: str) -> str:
    done = succeed("plan", manifest(folder, PROJECT + text))
    return done.out


def test_time_is_what_the_formula_says(tmp_path: Path) -> None:
    plan = layer_by_layer(tmp_path, DTCM.format('"64 KiB"') + DIGITS)
    cost = plan["cost"]
    application = sum(b["size"] for b in plan["buffers"] if b["kind"] in {"input", "output"})
    [traffic] = [row for row in plan["models"][0]["traffic"] if row["pool"] == "dtcm"]
    seconds = (traffic["read"] + traffic["written"] + application) / 8 / 480e6
    assert (cost["unit"], cost["total"]) == ("nanoseconds", int(seconds * 1e9))
    assert cost["total"] == cost["bound"]
    assert plan["alternatives"]["larger_pools"] is None


def test_the_costs_of_all_places_can_be_seen(tmp_path: Path) -> None:
    path = manifest(tmp_path, PROJECT + DTCM.format(700) + SRAM + DIGITS + "[plan]\nrows = false\n")
    lines = [line.split() for line in call("inspect", "costs", path).out.replace(",", "").splitlines()]
    assert lines[0] == ["buffer", "pool", "nanoseconds"]
    costs = {(buffer, pool): float(cost) for buffer, pool, cost in lines[1:]}
    plan = layer_by_layer(tmp_path, DTCM.format(700) + SRAM + DIGITS)
    total = sum(costs[buffer["name"], buffer["pool"]] for buffer in plan["buffers"])
    assert abs(total - plan["cost"]["total"]) < len(lines)  # a tenth of each is rounded
    assert json.loads(call("inspect", "costs", path, "--json").out)["unit"] == "SECONDS"


def test_a_faster_pool_is_used_first_whatever_the_order(tmp_path: Path) -> None:
    one = layer_by_layer(tmp_path, DTCM.format(700) + SRAM + DIGITS)
    other = layer_by_layer(tmp_path, SRAM + DTCM.format(700) + DIGITS)
    assert one["cost"] == other["cost"]
    assert {b["pool"] for b in other["buffers"] if b["kind"] != "constant"} == {"dtcm", "sram"}


def test_the_larger_pool_that_is_suggested_is_enough(tmp_path: Path) -> None:
    small = layer_by_layer(tmp_path, DTCM.format(700) + SRAM + DIGITS)
    [larger] = small["alternatives"]["larger_pools"]["pools"]
    assert (larger["pool"], larger["size"] - larger["more"]) == ("dtcm", 700)
    large = layer_by_layer(tmp_path, DTCM.format(larger["size"]) + SRAM + DIGITS)
    assert large["alternatives"]["larger_pools"] is None
    saved = small["cost"]["total"] - large["cost"]["total"]
    assert abs(saved - small["alternatives"]["larger_pools"]["saved"]) <= 1  # each is rounded down
    almost = layer_by_layer(tmp_path, DTCM.format(larger["size"] - 1) + SRAM + DIGITS)
    assert almost["alternatives"]["larger_pools"]["pools"] == [{"pool": "dtcm", "size": larger["size"], "more": 1}]
    message = table(tmp_path, DTCM.format(larger["size"] - 1) + SRAM + DIGITS + "[plan]\nrows = false\n")
    assert (
        f"in larger pools, with {larger['size']:,} bytes of dtcm (1 more), "
        "every buffer is where it costs least, by auto: saves " in message
    )


@pytest.mark.slow
@pytest.mark.parametrize("asked", few(["auto", "greedy_by_size", "greedy_by_conflicts", "hill_climb"], 1))
@pytest.mark.parametrize("name", ["kws", "vww"])
def test_the_algorithm_that_is_named_needs_no_larger_pool(
    real_models: Path, tmp_path: Path, name: str, asked: str
) -> None:
    """With nothing left to choose: in a larger pool other directions might be chosen."""
    models = f'{DIGITS}inputs = "reserved"\n[models.{name}]\npath = "{(real_models / name).as_posix()}.tflite"\n'

    def moved(algorithm: str, size: int) -> dict[str, Any] | None:
        chosen = f'[plan]\nalgorithm = "{algorithm}"\noverlap = false\n'
        plan = layer_by_layer(tmp_path, DTCM.format(size) + SRAM + models + chosen)
        larger_pools: dict[str, Any] | None = plan["alternatives"]["larger_pools"]
        return larger_pools

    small = moved(asked, 8000)
    assert small is not None
    [larger] = small["pools"]
    assert moved(small["algorithm"], larger["size"]) is None
    assert (moved(asked, larger["size"]) is None) == (small["algorithm"] == asked)


@pytest.mark.long
def test_without_speeds_the_order_of_pools_counts(tmp_path: Path) -> None:
    text = f'[pools.a]\naccess = "rw"\nsize = 700\n[pools.b]\naccess = "rw"\n{DIGITS}'
    plan = layer_by_layer(tmp_path, text)
    cost = plan["cost"]
    in_b = [b for b in plan["buffers"] if b["pool"] == "b"]
    ports = sum(b["size"] for b in in_b if b["kind"] in {"input", "output"})
    assert (cost["unit"], cost["total"]) == ("bytes times rank", sum(b["read"] + b["written"] for b in in_b) + ports)
    assert "bytes times rank for one run of every model" in table(tmp_path, text)


@pytest.mark.slow
def test_pools_without_a_speed_are_named(tmp_path: Path) -> None:
    text = DTCM.format(700) + f'[pools.ext]\naccess = "rw"\n{DIGITS}'
    plan = layer_by_layer(tmp_path, text)
    assert plan["cost"]["by_rank"] == ["ext"]
    assert "note: the bandwidth of ext is not known: " in table(tmp_path, text)


def test_a_gap_is_told_as_a_share(tmp_path: Path) -> None:
    text = DTCM.format(700) + SRAM + DIGITS + '[plan]\nalgorithm = "greedy_by_size"\n'
    cost = layer_by_layer(tmp_path, text)["cost"]
    assert cost["bound"] < cost["total"]
    assert "% above the least possible" in table(tmp_path, text)


def test_the_table_has_what_runs_read_and_write(tmp_path: Path) -> None:
    text = DTCM.format('"64 KiB"') + DIGITS
    head, row = table(tmp_path, text).splitlines()[:2]
    [traffic] = [row for row in layer_by_layer(tmp_path, text)["models"][0]["traffic"] if row["pool"] == "dtcm"]
    assert head.split()[-3:] == ["read", "written", "region"]
    assert row.split()[-3:] == [f"{traffic['read']:,}", f"{traffic['written']:,}", "-"]


@pytest.mark.parametrize("size", range(100, 1700, 200))
def test_no_choice_of_buffers_for_the_fast_pool_costs_less(tmp_path: Path, size: int) -> None:
    """All choices are tried; those count of which no step has more bytes alive than the pool: a plan needs no less."""
    path = manifest(tmp_path, PROJECT + DTCM.format(size) + SRAM + DIGITS + "[plan]\noverlap = false\n")
    request = pipeline.read(path.name, DiskFiles(tmp_path))
    planned = pipeline.plan(request, DiskFiles(tmp_path))
    buffers = [buffer for buffer in planned.analysis.problem.buffers if len(buffer.pools) == 2]
    steps = {step for buffer in buffers for step in chain.from_iterable(starmap(range, buffer.intervals))}
    alive = {s: [any(a <= s < b for a, b in buffer.intervals) for buffer in buffers] for s in steps}
    least = min(
        sum(buffer.costs[0 if chosen else 1] for buffer, chosen in zip(buffers, fast, strict=True))
        for fast in product([True, False], repeat=len(buffers))
        if all(
            sum(b.size for b, *both in zip(buffers, fast, alive[s], strict=True) if all(both)) <= size for s in steps
        )
    )
    pairs = zip(planned.analysis.problem.buffers, planned.plan.allocations, strict=True)
    assert sum(b.cost_in(place.pool) for b, place in pairs if len(b.pools) == 2) == least


@pytest.mark.parametrize("size", [900, 1100, 1300])
def test_where_buffers_overlap_more_of_them_are_fast(tmp_path: Path, size: int) -> None:
    text = DTCM.format(size) + SRAM + DIGITS
    overlapping, apart = (layer_by_layer(tmp_path, text + more) for more in ("", "[plan]\noverlap = false\n"))
    assert overlapping["cost"]["total"] < apart["cost"]["total"]


@pytest.mark.parametrize("name", ["kws", "vww", "ic"])
@pytest.mark.parametrize("share", [25, 50, 75])
def test_real_models_are_placed_at_the_least_cost(real_models: Path, tmp_path: Path, name: str, share: int) -> None:
    """With part of what the model needs as fast memory, the default algorithm proves that nothing costs less."""
    needed = {"kws": 8_384, "vww": 36_868, "ic": 33_308}[name]
    model = f'[models.{name}]\npath = "{(real_models / name).as_posix()}.tflite"\n'
    pools = DTCM.format(needed * share // 100) + SRAM
    cost = layer_by_layer(tmp_path, pools + model)["cost"]
    assert cost["total"] == cost["bound"], cost
