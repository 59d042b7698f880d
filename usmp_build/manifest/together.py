"""From the keys about several models to a `Request`: which may run at the same time, and which feed which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from usmp_build.manifest.model import Manifest
from usmp_build.manifest.overrides import Overrides
from usmp_build.request import ConnectionRequest


def concurrent(manifest: Manifest, overrides: Overrides, names: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Return the pairs of planned models, `names`, that may be alive at the same time: by manifest or overrides."""
    position = {name: index for index, name in enumerate(names)}
    groups = [[name for name in group if name in position] for group in manifest.concurrent]
    groups += [[model, other] for model, given in overrides.concurrent.items() for other in given.names]
    return frozenset(pair for group in groups for pair in combinations(sorted(position[name] for name in group), 2))


def connections(manifest: Manifest, names: Sequence[str]) -> Iterator[ConnectionRequest]:
    """Yield the connections between planned models; without one of the two there is nothing to connect."""
    position = {name: index for index, name in enumerate(names)}
    for number, connection in enumerate(manifest.connections):
        (producer, _, output), (consumer, _, input_) = (
            port.partition(".") for port in (connection.from_, connection.to)
        )
        if producer in position and consumer in position:
            yield ConnectionRequest(
                position[producer],
                output,
                position[consumer],
                input_,
                manifest.places.value("connections", number, "from"),
                manifest.places.value("connections", number, "to"),
            )
