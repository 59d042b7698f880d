"""Resolves the connections of the request to tensors, and checks that an output can be an input in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.frozen import frozen
from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Model, Tensor, TensorRef, tensor_at
from usmp_build.ir.ports import Names, aliases, port_names, show_type
from usmp_build.ir.scopes import Scopes
from usmp_build.passes.rows.ports import row_ports
from usmp_build.request import ConnectionRequest, InputOutput, Inputs, ModelRequest, Outputs, Request

_COPY = "leave the connection out, and let the application copy"


def connect(request: Request, models: tuple[Model, ...], scopes: Scopes) -> tuple[Connection, ...]:
    """Resolve the names of all connections, and check that both ends can be one buffer.

    Inputs and outputs are never in memory of pages, so there are no rows to agree on.  Raises ManifestError, placed at
    the connection, when they cannot be one buffer.
    """
    connections: list[Connection] = []
    pools: dict[TensorRef, tuple[int, ...]] = {}
    for link in request.connections:
        connection = _Sides(request, models, link).resolved()
        for other in (other for other in connections if other.consumer == connection.consumer):
            message = f'"{other.producer_name}" and "{connection.producer_name}" both feed "{other.consumer_name}"'
            help_ = "leave one of them out, and let the application copy what it wants"
            raise ManifestError(Diagnostic("P343", message, link.consumer_span, help_))
        _refuse_unlike(link, connection, models)
        remaining = pools.get(connection.producer, scopes.pools[connection.producer])
        pools[connection.producer] = common_pools((remaining, scopes.pools[connection.consumer]))
        if not pools[connection.producer]:
            raise ManifestError(_no_pool(request, link, connection, remaining, scopes.pools[connection.consumer]))
        connections.append(connection)
    return tuple(
        replace(connection, is_consumed=_is_consumed(request, connection, connections)) for connection in connections
    )


def _is_consumed(request: Request, connection: Connection, connections: Sequence[Connection]) -> bool:
    """Tell whether the value is dead after a run of the consumer: no other model reads it, or retains it."""
    producer, consumer = (request.models[end.model] for end in (connection.producer, connection.consumer))
    consumers = {other.consumer.model for other in connections if other.producer == connection.producer}
    return len(consumers) == 1 and consumer.inputs is Inputs.CONSUMED and producer.outputs is Outputs.RUN


def common_pools(sides: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the pools that all sides may use, in order of preference of the first one, the producer."""
    first, *others = sides
    return tuple(pool for pool in first if all(pool in other for other in others))


@frozen
class _Sides:
    """The two models of a connection."""

    request: Request
    models: tuple[Model, ...]
    link: ConnectionRequest

    def resolved(self) -> Connection:
        """Find the two tensors.  Raises ManifestError for all faults but those of types and pools."""
        link = self.link
        self._refuse_models()
        producer, consumer = self.models[link.producer], self.models[link.consumer]
        _, outputs = self._names(link.producer)
        inputs, _ = self._names(link.consumer)
        written = list(zip(outputs, producer.main.outputs, strict=True))
        filled = list(zip(inputs, consumer.main.inputs, strict=True))
        written_name, output = self._find(link.producer, "output", link.output, written, link.producer_span)
        filled_name, input_ = self._find(link.consumer, "input", link.input, filled, link.consumer_span)
        computed = TensorRef(link.producer, 0, producer.main.roots.get(output, output))
        ends = (TensorRef(link.producer, 0, output), computed, TensorRef(link.consumer, 0, input_))
        self._refuse_rows(output, input_)
        connection = Connection(*ends, f"{producer.name}.{written_name}", f"{consumer.name}.{filled_name}")
        self._refuse_uncomputed(connection, tensor_at(self.models, computed))
        return connection

    def _names(self, model: int) -> tuple[Names, Names]:
        pools = tuple(pool.name for pool in self.request.pools)
        return port_names(self.models[model], self.request.models[model].names, pools)

    def _find(
        self, model: int, what: str, name: str, ports: Sequence[tuple[str, int]], span: Span | str
    ) -> tuple[str, int]:
        """Return the port called `name`, in C or in the model; `ports` are pairs of the name in C and the tensor."""
        for in_c, tensor in ports:
            if name == in_c:
                return in_c, tensor
        for in_c, tensor in ports:
            if name in aliases(self.models[model], tensor):
                return in_c, tensor
        message = f'model "{self.models[model].name}" has no {what} called {quoted(name)}'
        raise ManifestError(Diagnostic("P341", message, span, suggestion(name, [p for p, _ in ports], f"{what}s")))

    def _refuse_models(self) -> None:
        link = self.link
        producer, consumer = (self.request.models[index] for index in (link.producer, link.consumer))
        if link.producer == link.consumer:
            message = f'model "{producer.name}" feeds itself: its input would be overwritten while it is read'
            help_ = f"{_COPY} after each run, or keep the state in a variable of the model"
            raise ManifestError(Diagnostic("P344", message, link.consumer_span, help_))
        for model, span in ((producer, link.producer_span), (consumer, link.consumer_span)):
            if model.io is InputOutput.APPLICATION:
                message = f'model "{model.name}" has its inputs and outputs in arrays of the caller, where nothing of '
                message += "the plan can be connected"
                help_ = f'pass the same array to "{producer.name}" and "{consumer.name}", or write io = "pool"'
                raise ManifestError(Diagnostic("P345", message, span, help_))
        if self.request.are_concurrent(link.producer, link.consumer):
            raise ManifestError(self._concurrent(producer, consumer))

    def _refuse_rows(self, output: int, input_: int) -> None:
        """Raise ManifestError if an end leaves or arrives row by row, so that it never exists as a whole."""
        link = self.link
        ends = (
            (link.producer, output, "output", link.producer_span),
            (link.consumer, input_, "input", link.consumer_span),
        )
        for model, tensor, side, span in ends:
            if tensor in row_ports(self.request.models[model], self.models[model].main):
                name = self.models[model].name
                message = (
                    f'model "{name}" has {side}s = "rows": this {side} is never in memory as a whole, so it cannot '
                )
                message += "be connected"
                help_ = f'leave {side}s = "rows" out; or leave the connection out, and let the application pass rows on'
                raise ManifestError(Diagnostic("P349", message, span, help_))

    def _concurrent(self, producer: ModelRequest, consumer: ModelRequest) -> Diagnostic:
        message = f'model "{producer.name}" feeds "{consumer.name}", and `concurrent` lets both run at the same time: '
        message += "one would write what the other reads"
        help_ = f'take "{producer.name}" or "{consumer.name}" out of the group in `concurrent`; or {_COPY} while '
        help_ += "neither runs"
        return Diagnostic("P347", message, self.link.consumer_span, help_)

    def _refuse_uncomputed(self, connection: Connection, written: Tensor) -> None:
        main = self.models[connection.producer.model].main
        kinds = {
            "an input of the model": connection.producer.tensor in main.inputs,
            "a constant": written.is_constant,
            "a variable": written.is_variable,
        }
        for kind in (kind for kind, is_so in kinds.items() if is_so):
            message = f'"{connection.producer_name}" cannot feed "{connection.consumer_name}": it is {kind}, not what '
            message += "a run computes"
            raise ManifestError(Diagnostic("P346", message, self.link.producer_span, _COPY))


def _refuse_unlike(link: ConnectionRequest, connection: Connection, models: tuple[Model, ...]) -> None:
    """Raise ManifestError unless both ends interpret bytes in the same way; extents of 1 make no difference."""
    ends = (connection.output, connection.consumer)
    written, read = (tensor_at(models, ref) for ref in ends)
    shown = [show_type(written), show_type(read)]
    is_same = written.dtype == read.dtype and _extents(written) == _extents(read)
    if is_same and written.quantization != read.quantization:
        states = all(
            tensor.quantization or ref.tensor >= models[ref.model].main.parameters
            for tensor, ref in zip((written, read), ends, strict=True)
        )
        is_same = not states
        shown = [f"{text}, {_meaning(tensor)}" for text, tensor in zip(shown, (written, read), strict=True)]
    if not is_same:
        message = f'"{connection.producer_name}" ({shown[0]}) and "{connection.consumer_name}" ({shown[1]}) are not '
        message += "of one type"
        help_ = "leave the connection out, and let the application convert; or convert the models alike"
        raise ManifestError(Diagnostic("P342", message, link.consumer_span, help_))


def _extents(tensor: Tensor) -> tuple[int, ...]:
    return tuple(extent for extent in tensor.shape if extent != 1)


def _meaning(tensor: Tensor) -> str:
    quantization = tensor.quantization
    if quantization is None:
        return "not quantized"
    if quantization.per_channel:
        return f"quantized along axis {quantization.axis}"
    zero = quantization.zero_points[0] if quantization.zero_points else 0
    return f"real = {quantization.scales[0]!r} * (q - {zero})" if quantization.scales else "not quantized"


def _no_pool(
    request: Request, link: ConnectionRequest, connection: Connection, left: tuple[int, ...], right: tuple[int, ...]
) -> Diagnostic:
    def show(pools: tuple[int, ...]) -> str:
        return " or ".join(request.pools[pool].name for pool in pools)

    message = f'"{connection.producer_name}" and "{connection.consumer_name}" have no pool in common: one may be in '
    message += f"{show(left)}, the other in {show(right)}"
    help_ = f"let both models use one of these pools (workspace_pools, place); or {_COPY}"
    return Diagnostic("P348", message, link.consumer_span, help_)
