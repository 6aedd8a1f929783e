"""GraphQL over HTTP, server-sent events and WebSocket."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import orjson
from cross_web import AsyncHTTPRequestAdapter, HTTPException
from graphql import GraphQLError
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError, MissingQueryError
from strawberry.http import (
    GraphQLHTTPResponse,
    GraphQLRequestData,
    GraphQLRequestProtocol,
    process_result,
)
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.types import ExecutionResult

from stello_graph.errors import Forbidden, InvalidInput, LimitExceeded, StelloError, Unauthenticated
from stello_graph.graphql.context import Context
from stello_graph.graphql.errors import told
from stello_graph.graphql.schema import schema
from stello_graph.http.access import Access
from stello_graph.http.answers import JSONAnswer, internal, refusal
from stello_graph.http.event_stream import event_stream, prefers_stream
from stello_graph.http.pages import graphiql_page
from stello_graph.http.rates import Rates
from stello_graph.http.sockets import SocketAdapter, SocketContext, SocketHandler
from stello_graph.http.watched import WatchedResponse
from stello_graph.ids import new_id
from stello_graph.service import StelloGraph

__all__ = ["GraphQLView"]

logger = logging.getLogger(__name__)

_MANY: Final = "a subscription goes over a WebSocket, or by POST with Accept: text/event-stream"

# What a request is made of.
_PARTS: Final[dict[str, tuple[type, str]]] = {
    "query": (str, "a text"),
    "variables": (dict, "an object"),
    "operationName": (str, "a text"),
    "extensions": (dict, "an object"),
}


class _TooLarge(Exception):
    """More of a body came than is read."""


class GraphQLView(GraphQL[Context, None]):
    """The GraphQL endpoint as an ASGI app: POST, SSE, graphql-transport-ws, and GraphiQL for browsers."""

    graphql_transport_ws_handler_class = SocketHandler
    websocket_adapter_class = SocketAdapter

    def __init__(
        self,
        graph: StelloGraph,
        access: Access,
        rates: Rates,
        *,
        allowed_origins: tuple[str, ...],
        max_body_bytes: int,
    ) -> None:
        """Serves `graph` to those whom `access` admits, as often as `rates` allow."""
        super().__init__(
            schema,
            allow_queries_via_get=False,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            max_subscriptions_per_connection=graph.settings.max_subscriptions,
            connection_init_wait_timeout=timedelta(seconds=15),
            allowed_origins=allowed_origins,
        )
        self.stream_transport_classes_by_protocol = {
            GRAPHQL_SSE_PROTOCOL: event_stream(graph.settings.keepalive_seconds)
        }
        self.rates = rates
        self._graph = graph
        self._access = access
        self._max_body = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "websocket":
            await self._socket(WebSocket(scope, receive, send))
            return
        response = await self._answer(Request(scope, self._limited(scope, receive)))
        await response(scope, receive, send)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:
        """Who asks is known at once over HTTP, over WebSocket by connection_init."""
        if isinstance(request, WebSocket):
            return SocketContext(self._graph, request, self._access)
        return await self._context(request)

    async def on_ws_connect(self, context: Context) -> dict[str, object]:
        """Takes the key of connection_init's payload, and a place among the sockets of its Space."""
        assert isinstance(context, SocketContext)
        try:
            await context.authenticate()
        except (Unauthenticated, Forbidden):
            raise ConnectionRejectionError from None
        context.take_place()
        return {}

    def decode_json(self, data: str | bytes) -> object:
        """An object of strict JSON of bounded depth: all that a request or a message can be."""
        value = orjson.loads(data)
        if not isinstance(value, dict):
            raise orjson.JSONDecodeError("not an object", "", 0)
        return value

    def encode_json(self, data: object) -> str:
        """Text, since bytes would make binary frames of a WebSocket."""
        return orjson.dumps(data).decode()

    async def parse_http_body(self, request: AsyncHTTPRequestAdapter) -> GraphQLRequestData:
        """What is asked where a stream answers."""
        return self._asked(await request.get_body(), "sse")

    async def process_result(self, request: Request, result: ExecutionResult) -> GraphQLHTTPResponse:
        """Gives a code to the errors of a document that could not be parsed."""
        return _told(result)

    async def create_streaming_response(
        self,
        request: Request | WebSocket,
        stream: Callable[[], AsyncIterator[str]],
        sub_response: Response,
        headers: Mapping[str, str],
    ) -> Response:
        """A stream that ends once its caller is not let in any more, or the server stops."""
        response = await super().create_streaming_response(request, stream, sub_response, headers)
        viewer = await self._access.viewer(request)
        return WatchedResponse(
            response, lambda: self._access.until_refused(viewer, request), self._graph.stopping.wait
        )

    async def _answer(self, request: Request) -> Response:
        try:
            await self._access.admit(request)
            if request.method not in ("GET", "POST") or (
                request.method == "GET" and "text/html" not in request.headers.get("accept", "")
            ):
                return refusal(InvalidInput("queries go by POST; GET is GraphiQL for browsers"), 405)
            if request.method == "GET":
                return await graphiql_page(request)
            if not _is_json(request):
                return refusal(InvalidInput("the body must be application/json"), 415)
            if prefers_stream(request.headers.get("accept", "")):
                return await self.run(request)
            return await self._single(request)
        except StelloError as error:
            return refusal(error)
        except HTTPException as error:
            return refusal(InvalidInput(error.reason), error.status_code)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except _TooLarge:
            return refusal(LimitExceeded(f"a body has at most {self._max_body} bytes"), 413)
        except GraphQLError as error:
            return refusal(InvalidInput(error.message), 400)
        except Exception:
            id = new_id()
            logger.exception("unexpected error %s", id)
            return internal(id)

    async def _context(self, request: Request) -> Context:
        viewer = await self._access.viewer(request)
        await self.rates.take(viewer)
        return Context(self._graph, viewer)

    async def _single(self, request: Request) -> Response:
        """One answer, without what Strawberry's view looks for besides: uploads, batches, increments."""
        context = await self._context(request)
        asked = self._asked(await request.body(), "http")
        try:
            result = await self.schema.execute(
                asked.query,
                variable_values=asked.variables,
                context_value=context,
                operation_name=asked.operation_name,
                operation_extensions=asked.extensions,
            )
        except MissingQueryError:
            raise InvalidInput("No GraphQL query found in the request") from None
        except CannotGetOperationTypeError as error:
            raise InvalidInput(error.as_http_error_reason()) from None
        except InvalidOperationTypeError:
            raise InvalidInput(_MANY) from None
        told = _told(result)
        if result.errors:
            self._handle_errors(result.errors, told)
        return JSONAnswer(told)

    def _asked(self, body: bytes, protocol: GraphQLRequestProtocol) -> GraphQLRequestData:
        data: Any = self.parse_json(body)
        for name, (kind, what) in _PARTS.items():
            if not isinstance(data.get(name), kind | None):
                raise InvalidInput(f"the operation's {name} is {what}, or null, or left out")
        return GraphQLRequestData(
            query=data.get("query"),
            variables=data.get("variables"),
            operation_name=data.get("operationName"),
            extensions=data.get("extensions"),
            protocol=protocol,
        )

    async def _socket(self, socket: WebSocket) -> None:
        try:
            await self._access.admit(HTTPConnection(socket.scope))
        except StelloError as error:
            await socket.close(1008, error.message[:100])
            return
        await self.run(socket)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Reads at most `max_body_bytes`, whatever the Content-Length says."""
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_body:
                raise _TooLarge
            return message

        return limited


def _told(result: ExecutionResult) -> GraphQLHTTPResponse:
    """A result with the codes of its errors, those of a document that could not be parsed too."""
    if result.errors:
        result.errors = [told(error) for error in result.errors]
    return process_result(result)


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
