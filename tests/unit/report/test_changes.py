"""Other manifests that a report speaks of: what they say."""

from dataclasses import replace

from tests.support.road import request
from usmp_build.request import ConnectionRequest


def test_without_a_model_the_others_keep_what_they_have_together() -> None:
    """Positions after the model move down by one."""
    asked = replace(
        request("a", "b", "c", "d"),
        concurrent=frozenset({(0, 1), (0, 2), (2, 3)}),
        connections=(ConnectionRequest(0, "y", 1, "x"), ConnectionRequest(2, "y", 3, "x")),
    )
    without = asked.without_model(1)
    assert [model.name for model in without.models] == ["a", "c", "d"]
    assert without.concurrent == {(0, 1), (1, 2)}
    assert without.connections == (ConnectionRequest(1, "y", 2, "x"),)
    first = asked.without_model(0)
    assert first.concurrent == {(1, 2)}
    assert first.connections == (ConnectionRequest(1, "y", 2, "x"),)
