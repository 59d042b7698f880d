"""The table of bounds is complete and in use: each has a unit, each is read by a search."""

import ast
import re

import pytest

from tests.support.tree import ROOT
from usmp_build import effort

NAMES = [name for name in vars(effort) if name.isupper()]


@pytest.mark.parametrize("name", NAMES)
def test_a_bound_is_used(name: str) -> None:
    users = (path.read_text("utf-8") for path in (ROOT / "usmp_build").rglob("*.py"))
    assert any(re.search(rf"\beffort\.{name}\b", text) for text in users)


def test_each_bound_is_documented() -> None:
    body = ast.parse((ROOT / "usmp_build" / "effort.py").read_text("utf-8")).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            assert isinstance(following, ast.Expr), ast.unparse(statement)
            text = ast.literal_eval(following.value)
            assert re.match(r"[A-Z].*\.$", text, re.DOTALL), text
