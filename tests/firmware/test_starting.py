"""What `check` says of a board that does not start, or whose stack is in a pool, is what the emulated board does."""

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import DATA, ROOT, call
from tests.support.files import edit
from tests.support.tools import need
from tests.support.tree import text_file

QUICK_START = ROOT / "examples" / "quick_start"
MANIFEST = f"""[project]
name = "doorbell"
[pools.sram]
access = "rw"
region = "RAM"
[pools.flash]
access = "ro"
region = "FLASH"
[models.digits]
path = "{(DATA / "digits.tflite").as_posix()}"
"""
MAIN = text_file("firmware_starting.c")
INCLUDE = "    INCLUDE doorbell.ld\n"
BELOW = "    __stack_end = ORIGIN(RAM) + LENGTH(RAM);\n"
ABOVE = "SECTIONS\n{\n"
LINKS = {
    "below .bss": (BELOW, INCLUDE + BELOW, "", 0, "right"),
    "above the vectors": (ABOVE, ABOVE + INCLUDE, "S632", None, "Lockup: can't escalate 3 to HardFault"),
    "with the stack in a pool": (
        BELOW, f"{INCLUDE}    __stack_end = ADDR(.usmp.doorbell.sram) + 400;\n", "S633", None, ""
    ),
}  # fmt: skip
"""The pools in the linker script → what stands there before and then, what is found, what the board does and says."""


@pytest.mark.parametrize("where", LINKS)
def test_the_check_predicts_what_the_board_does(tmp_path: Path, where: str) -> None:
    need("arm-none-eabi-gcc", "qemu-system-arm")
    before, then, code, exit_code, message = LINKS[where]
    (tmp_path / "usmp.toml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    (tmp_path / "mps2.ld").write_bytes((QUICK_START / "mps2.ld").read_bytes())
    edit(tmp_path / "mps2.ld", before, then)
    generated = tmp_path / "generated"
    assert call("generate", tmp_path / "usmp.toml", "--isa", "dsp", "--out", generated).code == 0
    sources = [tmp_path / "main.c", QUICK_START / "board.c", *sorted(generated.glob("*.c"))]
    options = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-O2", f"-I{generated}", f"-I{QUICK_START}"]
    link = ["-nostartfiles", f"-L{generated}", f"-T{tmp_path / 'mps2.ld'}", "-o", tmp_path / "app.elf"]
    subprocess.run(["arm-none-eabi-gcc", *options, *sources, *link], check=True)

    checked = call("check", generated, "--elf", tmp_path / "app.elf")
    assert (f"error[{code}]" in checked.err, checked.code) == (bool(code), 4 if code else 0), checked.err
    board = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none"]
    host = ["-chardev", "stdio,id=host", "-semihosting-config", "enable=on,target=native,chardev=host"]
    command = [*board, *host, "-kernel", tmp_path / "app.elf"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        assert code == "S633"  # it never ends
        return
    assert message in ran.stdout + ran.stderr
    assert (ran.returncode == 0) == (exit_code == 0)
