"""Rows in several pools: a fast memory too small for any tensor is used; verbs know which row is where."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.cli import RO, RW, call, equals_tflm, manifest, succeed, tables
from tests.support.row_nets import residual
from tests.support.tools import few, needs_c, needs_oracle
from tests.support.tree import ROOT
from usmp_build.errors import UsageError
from usmp_build.layout.plan_json import plan_json, read_plan

Document = dict[str, Any]


def written(folder: Path, dtcm: int, rows: bool = True, pool: str = "", data: bytes = b"") -> Path:
    """Write a manifest of a net with a small pool before a large one; `pool` stands in the tables of both."""
    (folder / "net.tflite").write_bytes(data or residual())
    pools = {"dtcm": f"{RW}size = {dtcm}\n{pool}", "sram": RW + pool, "flash": RO}
    text = tables("p", pools, {"net": 'path = "net.tflite"\n'}) + f"[plan]\nrows = {str(rows).lower()}\n"
    return manifest(folder, text, f"{dtcm}_{rows}.toml")


def planned(path: Path) -> Document:
    succeed("generate", path, "--out", path.parent / "generated")
    return recorded(path.parent / "generated")


def recorded(folder: Path) -> Document:
    """Read a generated plan.json."""
    text = (folder / "plan.json").read_text("utf-8")
    document: Document = json.loads(text)
    jsonschema.validate(document, json.loads((ROOT / "schemas" / "plan.schema.json").read_text("utf-8")))
    assert plan_json(read_plan(text.encode(), "plan.json", UsageError, "U204", "")) == text
    return document


def sizes(document: Document) -> dict[str, int]:
    return {pool["name"]: pool["size"] for pool in document["pools"] if pool["access"] == "rw"}


def spread(document: Document) -> Document:
    """Return a tensor with rows in both pools."""
    tensor: Document = next(b for b in document["buffers"] if "offsets" in b and not isinstance(b["pool"], str))
    assert {*tensor["pool"]} == {"dtcm", "sram"}
    assert len(tensor["pool"]) == len(tensor["offsets"])
    return tensor


@pytest.mark.slow
def test_all_is_in_fast_memory_that_no_tensor_fits_into(tmp_path: Path) -> None:
    """The largest tensor has 320 bytes, and there are 40 of input."""
    whole, rows = (planned(written(tmp_path, 300, rows)) for rows in (False, True))
    assert sizes(whole)["sram"] >= 320
    assert sizes(rows)["sram"] == 0
    assert rows["cost"]["total"] == 0 < whole["cost"]["total"]


@pytest.mark.long
def test_a_keyword_is_spotted_in_4_kib_of_dtcm(real_models: Path, tmp_path: Path) -> None:
    data = (real_models / "kws.tflite").read_bytes()
    assert sizes(planned(written(tmp_path, 4096, data=data)))["sram"] == 0


@needs_c
@needs_oracle
@pytest.mark.parametrize("owner", few(["generated", "application"], 1))
@pytest.mark.long
def test_rows_of_a_tensor_in_two_pools_are_exact(tmp_path: Path, owner: str) -> None:
    kept = is_exact(written(tmp_path, 120, pool=f'owner = "{owner}"\n'))
    table = spread(recorded(kept))["name"].replace("net.", "net_") + "_rows"
    code = (kept / "net.c").read_text("utf-8")
    assert "uint8_t *const bases[] = { " in code
    assert f"(output[{table}[y] % 2] + {table}[y] / 2" in code


@needs_c
@needs_oracle
@pytest.mark.long
def test_rows_in_three_pools(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(residual())
    pools = {"a": f"{RW}size = 60\n", "b": f"{RW}size = 60\n", "c": RW, "flash": RO}
    kept = is_exact(manifest(tmp_path, tables("p", pools, {"net": 'path = "net.tflite"\n'}) + "[plan]\nrows = true\n"))
    assert all(sizes(recorded(kept)).values())
    assert " % 4]" in (kept / "net.c").read_text("utf-8")


def is_exact(path: Path) -> Path:
    """Compare every row with that of TensorFlow Lite Micro, under sanitizers; return the folder of the generated C."""
    equals_tflm(path, "--runs", "2", "--sanitize", "--keep", path.parent / "kept")
    return path.parent / "kept"


@pytest.mark.long
def test_explain_and_diff_say_which_row_is_where(tmp_path: Path) -> None:
    path = written(tmp_path, 120)
    document = planned(path)
    tensor = spread(document)
    lines = call("explain", tensor["name"], path).out.splitlines()
    places = [f"{pool}+{offset}" for pool, offset in zip(tensor["pool"], tensor["offsets"], strict=True)]
    for pool in ("dtcm", "sram"):
        mine = [at for each, at in zip(tensor["pool"], tensor["offsets"], strict=True) if each == pool]
        extent = f"[{min(mine)}; {max(mine) + tensor['row_size']})"
        assert f"  place   pool {pool}, bytes {extent} of {sizes(document)[pool]}" in lines
    assert f"rows 0 to {len(places) - 1} at {' '.join(places)}" in "\n".join(lines)
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(document))
    tensor["pool"] = "sram"
    after.write_text(json.dumps(document))
    (line,) = call("diff", before, after).out.splitlines()[5:]
    assert line.startswith(f"~ {tensor['name']}  dtcm+")
    assert ", sram+" in line.partition(" -> ")[0]
    assert ", " not in line.partition(" -> ")[2]
