"""The C of the counting plugin: clean under every compiler at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.counting import SOURCE


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_plugin_compiles_without_warnings(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    warnings = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
    command = [compiler, "-std=c11", "-O2", "-fPIC", *warnings, "-c", str(SOURCE), "-o", str(tmp_path / "plugin.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
