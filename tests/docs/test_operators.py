"""docs/operators.md is what is drawn and compared."""

import pytest

from tests.support import operators_page
from tests.support.tree import ROOT


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert page == operators_page.page(), "python -m tests.support.operators_page > docs/operators.md"


@pytest.mark.parametrize(("kind", "cells"), [("CONV_2D", "int8 | whole | -"), ("FILL", "int8 | by rows | -")])
def test_what_runs_as_a_whole_has_a_reason_and_nothing_else(kind: str, cells: str) -> None:
    with pytest.raises(AssertionError, match="at_once"):
        operators_page.explained(kind, cells)
