"""Programs of this machine, of generated C and a main of the test's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

NO_SECTIONS = "-DUSMP_SECTION(name)="


def built(generated: Path, folder: Path, main: str, compiler: str = "cc", *flags: str) -> Path:
    """Compile all generated C in `generated`, and `main`, to a program in `folder`."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = folder / "main.c"
    source.write_text(main, encoding="utf-8")
    program = folder / "program"
    files = [*sorted(generated.glob("*.c")), source]
    command = [compiler, "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", NO_SECTIONS, f"-I{generated}", *flags]
    done = subprocess.run([*command, *files, "-o", program, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
