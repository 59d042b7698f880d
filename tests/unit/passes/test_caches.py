"""Which buffers have cache lines of their own, and what that makes of the problem."""

from dataclasses import replace

from tests.support.road import firmware, model
from usmp_build.interfaces.analysis import Analysis
from usmp_build.request import Copying, PlaceRequest
from usmp_build.search.replanner import Replanner

CHAIN = """
    %0 "x" float32[1,10]
    %1 "a" float32[1,10]
    %2 "b" float32[1,10]
    %3 "y" float32[1,10]
    inputs %0
    outputs %3
    %1 = RELU(%0)
    %2 = TANH(%1)
    %3 = RELU(%2)
"""
ON_NPU = (PlaceRequest(operators="TANH", target=1),)


def analyzed(
    reach: dict[str, str],
    cached: dict[str, int],
    places: tuple[PlaceRequest, ...] = (),
    copies: Copying = Copying.MEMCPY,
) -> Analysis:
    """Pools in reach of targets, as `firmware` has it, and the cache lines of some."""
    asked = firmware(reach, places=places, copies=copies)
    pools = tuple(replace(pool, cache_line=cached.get(pool.name, 0)) for pool in asked.pools)
    return Replanner.of(replace(asked, pools=pools), (model(CHAIN),)).analyze()


def lines(analysis: Analysis) -> dict[str, int]:
    return {buffer.name: buffer.cache_line for buffer in analysis.storage.buffers if buffer.cache_line}


def test_without_caches_nothing_changes() -> None:
    assert not lines(analyzed({"ram": "cpu npu"}, {}, places=ON_NPU))


def test_inputs_and_outputs_have_lines_of_their_own() -> None:
    analysis = analyzed({"ram": "cpu npu"}, {"ram": 32})
    assert lines(analysis) == {"m.x": 32, "m.y": 32}
    by_name = {buffer.name: buffer for buffer in analysis.problem.buffers}
    assert [(by_name[name].size, by_name[name].alignment) for name in ("m.x", "m.a", "m.y")] == [
        (64, 32),
        (40, 4),
        (64, 32),
    ]
    assert {buffer.size for buffer in analysis.storage.buffers} == {40}


def test_another_target_has_its_operands_in_lines() -> None:
    assert lines(analyzed({"ram": "cpu npu"}, {"ram": 32}, places=ON_NPU)) == dict.fromkeys(
        ["m.x", "m.a", "m.b", "m.y"], 32
    )


def test_what_copies_of_the_application_touch_has_lines() -> None:
    analysis = analyzed({"ram": "cpu", "local": "npu"}, {"ram": 64}, ON_NPU, Copying.EXTERN)
    assert lines(analysis) == dict.fromkeys(["m.x", "m.a", "m.b.in_ram", "m.y"], 64)


def test_the_longest_line_of_all_candidates_counts() -> None:
    line_sizes = lines(analyzed({"one": "cpu npu", "two": "cpu npu"}, {"one": 16, "two": 64}))
    assert line_sizes == {"m.x": 64, "m.y": 64}
