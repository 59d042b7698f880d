"""Which models are so small that rows give them nothing."""

from dataclasses import replace

import pytest

from tests.support.road import request
from tests.support.row_nets import drawn
from usmp_build import plugins
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.replanner import Replanner

WHOLE = 291
"""The bytes that the drawn net needs layer by layer; row by row it needs a third of them."""


@pytest.mark.parametrize("other", [None, 1 << 20])
def test_a_pool_that_a_model_may_not_use_does_not_count(other: int | None) -> None:
    """Rows are tried although half of both pools is more than the first model needs as a whole."""
    asked = request("a", "b", limits=(WHOLE - 1, other))
    own = tuple(replace(each, workspace_pools=(pool,)) for pool, each in enumerate(asked.models))
    nets = tuple(plugins.importer("net.tflite", "")(drawn(1), "net", each.name) for each in own)
    replanner = Replanner.of(replace(asked, models=own), nets).at_first()
    assert choose(replanner.asking(replace(replanner.request, rows=False))).plan is None
    assert choose(replanner).plan is not None
