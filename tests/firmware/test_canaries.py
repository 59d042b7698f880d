"""Canaries on a board: linker, check of the image and memory protection allow for them, and they see a single byte."""

from pathlib import Path

from tests.support.firmware import Board, build, on, run
from tests.support.tree import text_file

MAIN = text_file("firmware_canaries.c")


@on("m3")
def test_a_byte_beside_a_pool_is_reported(board: Board, tmp_path: Path, find: str) -> None:
    main = tmp_path / "canaries.c"
    main.write_text(MAIN, encoding="utf-8")
    program = build(board, tmp_path / "build", main=main, definitions=["USMP_CANARIES=1"], find=find)
    assert run(board, program, tmp_path).out.splitlines() == ["nothing", "before pool sram", "after pool sram"]
