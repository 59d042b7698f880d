"""What end-to-end tests share: plans, where verbs are called one after the other on the same manifest."""

from collections.abc import Iterator

import pytest

from tests.support.planned import Plans


@pytest.fixture(scope="session")
def shared_plans() -> Plans:
    """Those of a process."""
    return Plans()


@pytest.fixture(autouse=True)
def plan_once(shared_plans: Plans, request: pytest.FixtureRequest) -> Iterator[None]:
    """Plan each request once, unless the test exchanges parts of the tool."""
    if "monkeypatch" in request.fixturenames:
        yield
    else:
        with shared_plans.taken():
            yield
