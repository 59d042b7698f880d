"""Buffers that share bytes while both are alive: what explain and plan.json say of them, and what C proves."""

import json
import re
import subprocess
from pathlib import Path

from tests.support.cli import call, manifest, one_model, planned
from tests.support.tools import needs_gcc

DIGITS = one_model("digits") + "[plan]\nrows = false\n"
"""Layer by layer; rows are shown in test_rows_shown.py."""


def test_explain_says_which_operator_allows_it(tmp_path: Path) -> None:
    path = manifest(tmp_path, DIGITS)
    shared = [(b, o) for b in planned(path)["buffers"] for o in b["overlaps"]]
    buffer, other = max(shared, key=lambda pair: pair[1]["bytes"])
    done = call("explain", buffer["name"], path)
    assert f"shares {other['bytes']:,} bytes with {other['buffer']} while both are alive:" in done.out
    assert f"{other['operator']} goes " in done.out
    assert f"goes {other['direction']} and has read these bytes before it writes them:" in done.out
    apart = [line for line in done.out.splitlines() if "alive at another time" in line]
    assert not any(other["buffer"] in line for line in apart)


def test_explain_says_how_close_both_may_come(tmp_path: Path) -> None:
    """From both sides, and as the C compiler checks it."""
    path = manifest(tmp_path, DIGITS)
    buffers = {b["name"]: b for b in planned(path)["buffers"]}
    limit = r" +\S+ (?:must|may) (.*?)(?:([\d,]+) bytes? )?(before|after) \S+, and starts "
    pattern = r"  shares [\d,]+ bytes with (\S+) while.*\n.*:\n" + limit
    seen = set()
    for name in buffers:
        text = call("explain", name, path).out
        for other, phrase, number, side in re.findall(pattern, text):
            least = int(number.replace(",", "") or 0)
            place, that = buffers[name]["offset"], buffers[other]["offset"]
            distance = that - place if side == "before" else place - that
            assert distance >= least if "at least" in phrase else distance <= least
            seen.add((name, other, side, phrase))
    pairs = {(name, o["buffer"]) for name, b in buffers.items() for o in b["overlaps"]}
    assert {(name, other) for name, other, _, _ in seen} == pairs
    assert {side for _, _, side, _ in seen} == {"before", "after"}


def test_explain_counts_those_that_are_alive_at_another_time(tmp_path: Path) -> None:
    path = manifest(tmp_path, DIGITS)
    lines = [call("explain", b["name"], path).out for b in planned(path)["buffers"]]
    shares = [
        re.findall(r"  shares bytes with (\d+) buffers?, (?:each )?alive at another time: (.*)", t) for t in lines
    ]
    assert all(len(each) <= 1 for each in shares)
    counts = [(int(number), names.split(", ")) for each in shares for number, names in each]
    assert any(number > 3 for number, _ in counts)
    assert all(len(names) == min(number, 4) and ("..." in names) == (number > 3) for number, names in counts)


def test_all_separations_can_be_inspected(tmp_path: Path) -> None:
    """The plan keeps them, and what it makes of them is among them."""
    path = manifest(tmp_path, DIGITS)
    head, *lines = call("inspect", "separations", path).out.splitlines()
    assert head.split() == ["below", "above", "bytes", "operator", "direction"]
    pattern = r"(\S+) +(\S+) +(-?[\d,]+) +digits: (\w+ \d+) +(forward|backward)"
    rows = [match.groups() for match in (re.fullmatch(pattern, line) for line in lines) if match]
    assert len(rows) == len(lines) > 4
    buffers = {b["name"]: b for b in planned(path)["buffers"]}
    used = {(o["operator"], o["direction"]) for b in buffers.values() for o in b["overlaps"]}
    assert used <= {(operator, direction) for *_, operator, direction in rows}
    for below, above, least, *_ in rows:
        gaps = [buffers[high]["offset"] - buffers[low]["offset"] for low, high in ((below, above), (above, below))]
        assert gaps[0] >= int(least.replace(",", "")) or gaps[1] > 0
    record = json.loads(call("inspect", "separations", path, "--json").out)["pairs"]
    assert [own["bytes"] for _, own in record] == [int(row[2].replace(",", "")) for row in rows]
    assert f"\n{len(rows)} separations: " in call("inspect", "problem", path).out
    path = manifest(tmp_path, DIGITS + "overlap = false\n")
    assert call("inspect", "separations", path).out.count("\n") == 1
    assert "separations" not in call("inspect", "problem", path).out


def test_plan_json_tells_overlaps_from_both_sides(tmp_path: Path) -> None:
    buffers = {b["name"]: b for b in planned(manifest(tmp_path, DIGITS))["buffers"]}
    overlaps = {(name, o["buffer"]): o["bytes"] for name, b in buffers.items() for o in b["overlaps"]}
    assert overlaps
    for (one, other), shared in overlaps.items():
        assert overlaps[other, one] == shared
        ends = [buffers[name]["offset"] + buffers[name]["size"] for name in (one, other)]
        assert shared == min(ends) - max(buffers[one]["offset"], buffers[other]["offset"])


def test_without_overlap_there_is_none(tmp_path: Path) -> None:
    path = manifest(tmp_path, DIGITS + "overlap = false\n")
    assert not any(b["overlaps"] for b in planned(path)["buffers"])


@needs_gcc
def test_the_c_compiler_proves_distances(tmp_path: Path) -> None:
    """Where buffers share bytes it checks how far one starts behind the other: one byte less does not compile."""
    assert call("generate", manifest(tmp_path, DIGITS), "--out", tmp_path / "out").code == 0
    source = tmp_path / "out" / "digits.c"
    text = source.read_text(encoding="utf-8")
    assert compiles(tmp_path / "out")
    checks = re.findall(r"USMP_CHECK\((\w+_OFFSET) ([+-]) (\d+) <= (\w+_OFFSET)", text)
    offsets = {name: int(value) for name, value in re.findall(r"(\w+_OFFSET) *= (\d+)", text)}
    tight = [c for c in checks if offsets[c[0]] + int(c[1] + c[2]) == offsets[c[3]]]
    assert tight
    low, sign, distance, high = tight[0]
    wrong = f"{low} {sign} {int(distance) + (1 if sign == '+' else -1)} <= {high}"
    source.write_text(text.replace(f"{low} {sign} {distance} <= {high}", wrong), encoding="utf-8")
    assert not compiles(tmp_path / "out")


def compiles(folder: Path) -> bool:
    command = ["gcc", "-std=c99", "-fsyntax-only", "-I.", "digits.c"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
