"""Programs of this machine, of generated C and a main of the test's."""

from __future__ import annotations

from pathlib import Path

from tests.support.processes import output
from tests.support.tools import need

STRICT = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
"""What all C must pass that others compile with their own flags."""
NO_SECTIONS = "-DUSMP_SECTION(name)="


def built(generated: Path, folder: Path, main: str, compiler: str = "cc", *flags: str) -> Path:
    """Compile all generated C in `generated`, and `main`, to a program in `folder`."""
    need(compiler)
    source = folder / "main.c"
    source.write_text(main, encoding="utf-8")
    program = folder / "program"
    files = [*sorted(generated.glob("*.c")), source]
    command = [compiler, "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", NO_SECTIONS, f"-I{generated}", *flags]
    output([*command, *files, "-o", program, "-lm"])
    return program
