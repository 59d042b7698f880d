"""docs/operators.md is what is drawn and compared."""

from tests.support import operators_page
from tests.support.tree import ROOT


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert page == operators_page.page(), "python -m tests.support.operators_page > docs/operators.md"
