"""graphql-transport-ws, where nothing that a client sends is a fault of ours.

Strawberry trusts the form of messages, closes the whole socket at a syntax error, and puts texts of the
client into the reason of a close, which holds 123 bytes.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Any, Protocol, cast

from graphql import GraphQLError
from starlette.websockets import WebSocket, WebSocketState
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import (
    BaseGraphQLTransportWSHandler,
    Operation,
)
from strawberry.subscriptions.protocols.graphql_transport_ws.types import (
    ConnectionInitMessage,
    Message,
    SubscribeMessage,
)
from strawberry.types.execution import PreExecutionError

from stello_graph.errors import LimitExceeded, StelloError
from stello_graph.graphql.context import Context
from stello_graph.graphql.errors import told
from stello_graph.http.access import Access
from stello_graph.http.rates import Rates
from stello_graph.ids import new_id
from stello_graph.service import StelloGraph

__all__ = ["SocketAdapter", "SocketContext", "SocketHandler"]

logger = logging.getLogger(__name__)

_FORBIDDEN, _INTERNAL, _TRY_LATER = 4403, 1011, 1013
_REASON_BYTES = 123


class _Limited(Protocol):
    rates: Rates


class SocketAdapter(ASGIWebSocketAdapter):
    """Closes with a reason that fits into a frame; a client that has gone is told nothing more."""

    async def send_json(self, message: Mapping[str, object]) -> None:
        """See ASGIWebSocketAdapter. Whoever receives hears that the client has gone, and ends the socket."""
        if self.ws.application_state is not WebSocketState.DISCONNECTED:
            with contextlib.suppress(WebSocketDisconnected):
                await super().send_json(message)

    async def close(self, code: int, reason: str) -> None:
        """See ASGIWebSocketAdapter."""
        if self.ws.application_state is not WebSocketState.DISCONNECTED:
            await super().close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))


class SocketContext(Context):
    """The context of a socket: who asks is told by connection_init."""

    def __init__(self, graph: StelloGraph, socket: WebSocket, access: Access) -> None:
        super().__init__(graph, None)
        self._socket = socket
        self._access = access
        self._place: str | None = None

    async def authenticate(self) -> None:
        """Raises Unauthenticated or Forbidden where connection_init's payload does not let it in."""
        self.viewer = await self._access.viewer(self._socket, self.connection_params or {})

    def take_place(self) -> None:
        """Takes a place among the Space's sockets. Raises LimitExceeded."""
        if self._place is None and (space_id := self.viewer.space_id) is not None:
            self.graph.sockets.take(space_id)
            self._place = space_id

    def free_place(self) -> None:
        """Once the socket is over."""
        if self._place is not None:
            self.graph.sockets.free(self._place)
            self._place = None

    async def until_refused(self) -> None:
        """Returns once the socket would not be let in any more."""
        await self._access.until_refused(self.viewer, self._socket, self.connection_params or {})


class SocketHandler(BaseGraphQLTransportWSHandler[Context, None]):
    """Looks at each message before Strawberry does, and gives each error its code."""

    _watching: "asyncio.Task[None] | None" = None

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Closes with 4403 whom we do not let in, and later whom we do not let in any more."""
        try:
            await super().handle_connection_init(message)
        except StelloError as error:
            await self.websocket.close(_TRY_LATER, error.message)
        except Exception:
            id = new_id()
            logger.exception("unexpected error %s", id)
            await self.websocket.close(_INTERNAL, f"an error of the server; its log has more under {id}")
        if self.connection_acknowledged and self._watching is None:
            self._watching = asyncio.create_task(self._close_when_refused())

    async def shutdown(self) -> None:
        """Ends all that belongs to the socket."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        try:
            await super().shutdown()
        finally:
            cast(SocketContext, self.context).free_place()

    async def _close_when_refused(self) -> None:
        assert isinstance(self.context, SocketContext)
        try:
            await self.context.until_refused()
        except Exception:
            logger.exception("a socket is closed, since nobody can tell whether it may go on")
        for id in list(self.operations):
            await self.cleanup_operation(id)
        with contextlib.suppress(RuntimeError):
            await self.websocket.close(_FORBIDDEN, "Forbidden")

    async def handle_message(self, message: Message) -> None:
        """Closes with 4400 where the message is none of the protocol."""
        if not _is_well_formed(message):
            await self.handle_invalid_message("Failed to parse message")
            return
        await super().handle_message(message)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Refuses what is more than a socket may do at once, and more than its Space may ask in a second."""
        try:
            await self._check_limits(message)
        except StelloError as why:
            error = told(GraphQLError(why.message, original_error=why))
            await self.send_message({"id": message["id"], "type": "error", "payload": [error.formatted]})
        else:
            await super().handle_subscribe(message)

    async def _check_limits(self, message: SubscribeMessage) -> None:
        most = self.max_subscriptions_per_connection
        if not self.connection_acknowledged or message["id"] in self.operations:
            return
        if most is not None and len(self.operations) >= most:
            raise LimitExceeded(f"a socket has at most {most} operations at once")
        await cast(_Limited, self.view).rates.take(self.context.viewer)

    async def _handle_pre_execution_error(
        self, operation: Operation[Context, None], result: PreExecutionError
    ) -> None:
        """The operation's error, not the socket's."""
        await operation.send_initial_errors([told(_with_reason(error)) for error in result.errors or ()])


def _is_well_formed(message: Any) -> bool:
    match message:
        case {"type": "subscribe", "id": str(), "payload": {"query": str(), **more}}:
            return all(_is_object(more.get(name)) for name in ("variables", "extensions")) and isinstance(
                more.get("operationName"), str | None
            )
        case {"type": "complete", "id": str()}:
            return True
        case {"type": "connection_init" | "ping" | "pong", **more}:
            return _is_object(more.get("payload"))
    return False


def _is_object(value: object) -> bool:
    return value is None or isinstance(value, dict)


def _with_reason(error: GraphQLError) -> GraphQLError:
    cause = error.original_error
    if isinstance(cause, CannotGetOperationTypeError):
        return GraphQLError(cause.as_http_error_reason())
    return error
