"""The emitted build files, as text; tests/build_systems builds with them."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, RO, RW, call, manifest, one_model, tables


@pytest.mark.parametrize(("model", "needed"), [("digits", False), ("float_net", True)])
def test_the_mathematical_library_is_linked_where_it_is_needed(tmp_path: Path, model: str, needed: bool) -> None:
    assert call("generate", manifest(tmp_path, one_model(model)), "--out", tmp_path).code == 0
    assert ("#include <math.h>" in (tmp_path / "p_kernels.c").read_text()) is needed
    for name in ("BUILD.bazel", "library.json", "usmp-targets.cmake", "usmp.mk"):
        assert ("-lm" in (tmp_path / name).read_text()) is needed, name
    assert ("find_library('m'" in (tmp_path / "meson.build").read_text()) is needed


def test_headers_of_a_model_are_those_of_its_library_alone(tmp_path: Path) -> None:
    """The plan's library includes them, but whoever depends on it alone does not see them."""
    text = tables("p", {"sram": RW, "flash": RO}, {"digits": DIGITS, "odd_even": ODD_EVEN})
    assert call("generate", manifest(tmp_path, text), "--out", tmp_path).code == 0
    libraries: dict[str, dict[str, Any]] = {}
    others = ("load", "package", "exports_files", "linker_fragments")
    words: dict[str, Any] = {name: lambda *_, **__: None for name in others}
    words |= {"package_name": lambda: "p", "cc_library": lambda **values: libraries.update({values["name"]: values})}
    exec((tmp_path / "BUILD.bazel").read_text(), words)
    headers = {name: {"digits.h", "digits_constants.h"} & {*library["hdrs"]} for name, library in libraries.items()}
    assert headers == {"p": set(), "digits": {"digits.h", "digits_constants.h"}, "odd_even": set()}
    assert {"digits.h", "digits_constants.h", "p_kernels.c", "p_pools.c"} < {*libraries["p"]["srcs"]}
    assert {*libraries["p"]["hdrs"]} == {file.name for file in tmp_path.glob("p*.h")} | {"usmp.h", "usmp_regions.h"}
