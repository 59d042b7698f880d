"""What the memory protection of a running board is set to is what the plan says of its pools, and nothing else."""

import itertools
import json
from pathlib import Path

from tests.support import mpu
from tests.support.firmware import Board, build, on, run, symbols
from tests.support.mpu import Opened
from tests.support.tree import text_file

MAIN = text_file("firmware_memory_protection.c")
DECODE = {"m3": mpu.pmsav7, "m33": mpu.pmsav8}
GRANULES = {"m3": 64, "m33": 32}
"""Up to this many bytes before or after a pool are open, as these pools are placed."""


@on(*DECODE)
def test_registers_of_the_board_open_the_pools(board: Board, tmp_path: Path, find: str) -> None:
    main = tmp_path / "registers.c"
    main.write_text(MAIN, encoding="utf-8")
    program = build(board, tmp_path / "build", main=main, find=find)
    done = run(board, program, tmp_path)
    state, *lines = done.out.splitlines()
    assert (done.code, state) == (0, "on, without the default map")
    rows = [tuple(int(word, 16) for word in line.split()) for line in lines]
    opened = [piece for row in rows for piece in DECODE[board.name](*row)]

    places = symbols(board, program)
    plan = json.loads((tmp_path / "build" / "plan.usmp" / "plan.json").read_text("utf-8"))
    wanted = {pool["name"]: (f"__usmp_{pool['name']}", pool["access"]) for pool in plan["pools"]}
    wanted |= {"code": ("__code", "rox"), "RAM": ("__ram", "rw")}
    assert len(opened) == len(wanted)
    for name, (symbol, rights) in wanted.items():
        start, end = places[f"{symbol}_start"][0], places[f"{symbol}_end"][0]
        (piece,) = [each for each in opened if each.first <= start <= each.last]
        assert piece.rights == rights, name
        assert piece.last >= end - 1
        if name in ("dtcm", "sram"):
            assert start - piece.first < GRANULES[board.name]
            assert piece.last - (end - 1) < GRANULES[board.name]
    assert apart(opened)


def apart(pieces: list[Opened]) -> bool:
    """Whether no two ranges have an address in common."""
    ordered = sorted(pieces, key=lambda piece: piece.first)
    return all(before.last < after.first for before, after in itertools.pairwise(ordered))
