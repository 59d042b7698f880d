"""The C of the counting plugin: clean under every compiler at hand."""

from pathlib import Path

import pytest

from tests.support.counting import SOURCE
from tests.support.processes import output
from tests.support.tools import need


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_plugin_compiles_without_warnings(tmp_path: Path, compiler: str) -> None:
    need(compiler)
    warnings = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
    output([compiler, "-std=c11", "-O2", "-fPIC", *warnings, "-c", SOURCE, "-o", tmp_path / "plugin.o"])
