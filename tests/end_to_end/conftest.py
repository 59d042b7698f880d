"""What end-to-end tests share: a plan, where one of them calls several verbs on the same manifest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.planned import planning_once


@pytest.fixture(autouse=True)
def plans(request: pytest.FixtureRequest) -> Iterator[None]:
    """Plan each request of a test once, unless the test exchanges parts of the tool."""
    if "monkeypatch" in request.fixturenames:
        yield
    else:
        with planning_once():
            yield
