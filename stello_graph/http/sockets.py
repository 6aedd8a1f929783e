"""graphql-transport-ws, where nothing that a client sends is a fault of ours.

Strawberry trusts the form of messages, closes the whole socket at a syntax error, and puts texts of the
client into the reason of a close, which holds 123 bytes.
"""

from typing import Any

from graphql import GraphQLError
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import (
    BaseGraphQLTransportWSHandler,
    Operation,
)
from strawberry.subscriptions.protocols.graphql_transport_ws.types import Message, SubscribeMessage
from strawberry.types.execution import PreExecutionError

from stello_graph.errors import LimitExceeded
from stello_graph.graphql.context import Context
from stello_graph.graphql.errors import told

__all__ = ["SocketAdapter", "SocketHandler"]

_REASON_BYTES = 123


class SocketAdapter(ASGIWebSocketAdapter):
    """Closes with a reason that fits into a frame."""

    async def close(self, code: int, reason: str) -> None:
        """See ASGIWebSocketAdapter."""
        await super().close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))


class SocketHandler(BaseGraphQLTransportWSHandler[Context, None]):
    """Looks at each message before Strawberry does, and gives each error its code."""

    async def handle_message(self, message: Message) -> None:
        """Closes with 4400 where the message is none of the protocol."""
        if not _is_well_formed(message):
            await self.handle_invalid_message("Failed to parse message")
            return
        await super().handle_message(message)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Refuses what is more than a socket may do at once."""
        most = self.max_subscriptions_per_connection
        taken = message["id"] in self.operations
        if not self.connection_acknowledged or taken or most is None or len(self.operations) < most:
            await super().handle_subscribe(message)
            return
        why = LimitExceeded(f"a socket has at most {most} operations at once")
        error = told(GraphQLError(why.message, original_error=why))
        await self.send_message({"id": message["id"], "type": "error", "payload": [error.formatted]})

    async def _send_result_stream(self, operation: Operation[Context, None], result_source: Any) -> None:
        """The cache of parsed documents lets syntax errors through as exceptions; a client may be gone."""
        try:
            try:
                await super()._send_result_stream(operation, result_source)
            except GraphQLError as error:
                await operation.send_initial_errors([told(error)])
        except WebSocketDisconnected:
            operation.completed = True
            self.operations.pop(operation.id, None)

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
