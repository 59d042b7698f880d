"""What unit tests share."""

import pytest

from tests.support.kernels.driver import Runner, optimized
from tests.support.planned import Shared


@pytest.fixture(scope="session")
def runner(shared: Shared) -> Runner:
    """All kernels."""
    return Runner(optimized("-O2", shared))
