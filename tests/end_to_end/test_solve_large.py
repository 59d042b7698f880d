"""`usmp-build solve` and `verify` with very many buffers."""

import csv
import json
import random
from pathlib import Path

import pytest

from tests.support.cli import call, succeed

COUNT = 20_000


@pytest.mark.slow
def test_twenty_thousand_buffers(tmp_path: Path) -> None:
    path, out, places = tmp_path / "big.csv", tmp_path / "plan.json", tmp_path / "places.csv"
    numbers = random.Random(3)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "lower", "upper", "size", "alignment"))
        for i in range(COUNT):
            upper = i + 1 + int(numbers.lognormvariate(3.6, 1.0))
            rows.writerow((f"b{i}", i, upper, int(2 ** numbers.uniform(6, 20)), 64))
    done = succeed("solve", path, "--out", out)
    assert "verified plan by large, work " in done.out
    assert call("verify", out, path).code == 0
    plan = json.loads(out.read_text())
    pool = plan["pools"][0]
    assert pool["bound"] <= pool["peak"] < pool["bound"] + 64
    assert call("solve", path, "--out", places).code == 0
    assert call("verify", places, path, "--capacity", pool["peak"]).code == 0
    assert call("verify", places, path, "--capacity", pool["peak"] - 1).code == 4
    done = call("solve", path, "--capacity", pool["bound"] - 1)
    assert (done.code, done.out.split(":")[0]) == (3, "INFEASIBLE")
