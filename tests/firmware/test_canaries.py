"""Canaries on a board: linker, check of the image and memory protection allow for them, and they see a single byte."""

from __future__ import annotations

from pathlib import Path

from tests.support.firmware import Board, build, on, run

MAIN = """\
#include "digits.h"
#include "firmware.h"
#include "firmware_guard.h"
#include "host.h"
#include "odd_even.h"

static void report(void)
{
    const char *const overrun = firmware_check_canaries();

    host_print(overrun ? overrun : "nothing");
    host_print("\\n");
}

static void write_at(uintptr_t address)
{
    volatile uint8_t *const byte = (volatile uint8_t *)address;
    const uint8_t before = *byte;

    *byte ^= 0x80;
    report();
    *byte = before;
}

int main(void)
{
    firmware_set_canaries();
    if (digits_run() != USMP_OK || odd_even_run() != USMP_OK) {
        return 1;
    }
    report();
    write_at((uintptr_t)firmware_sram_pool - 1);
    write_at((uintptr_t)firmware_sram_pool + FIRMWARE_SRAM_SIZE);
    return 0;
}
"""


@on("m3")
def test_a_byte_beside_a_pool_is_reported(board: Board, tmp_path: Path, find: str) -> None:
    main = tmp_path / "canaries.c"
    main.write_text(MAIN, encoding="utf-8")
    program = build(board, tmp_path / "build", main=main, definitions=["USMP_CANARIES=1"], find=find)
    assert run(board, program, tmp_path).out.splitlines() == ["nothing", "before pool sram", "after pool sram"]
