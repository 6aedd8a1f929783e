"""Errors as callers see them: with a code, and without what is none of their business."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import SchemaExtension
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError

from stello_graph.errors import ErrorCode, StelloError
from stello_graph.ids import new_id

__all__ = ["ErrorCodes", "told"]

# Of the caller, like what has nodes and no path: variables and arguments that are none.
_CALLERS = (
    type(None),
    GraphQLError,
    CannotGetOperationTypeError,
    InvalidOperationTypeError,
    MissingQueryError,
)
# How graphql-core ends what it says of too many tokens and of too deep a document.
_TOO_MUCH = "Parsing aborted."

logger = logging.getLogger(__name__)


class ErrorCodes(SchemaExtension):
    """Gives each error of a result its code; unknown ones are masked with an id that the log has."""

    def on_operation(self) -> Iterator[None]:
        """After the operation, for results that are not streamed."""
        self._streamed = False
        yield
        if not self._streamed:
            _tell(self.execution_context.result)

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Before each result of a stream."""
        self._streamed = True
        _tell(result)
        yield


def told(error: GraphQLError) -> GraphQLError:
    """The error as it may be told."""
    if error.extensions and "code" in error.extensions:
        return error
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, StelloError):
        extensions = {"code": cause.code, "retryable": cause.retryable, **cause.details}
        return _like(error, cause.message, extensions)
    if isinstance(error, GraphQLSyntaxError) and error.message.endswith(_TOO_MUCH):
        return _like(error, error.message, {"code": ErrorCode.LIMIT_EXCEEDED, "retryable": False})
    if isinstance(cause, _CALLERS) or (error.path is None and error.nodes):
        return _like(error, error.message, {"code": ErrorCode.INVALID_INPUT, "retryable": False})
    id = new_id()
    logger.error("unexpected error %s at %s", id, error.path, exc_info=cause)
    message = f"an error of the server; its log has more under {id}"
    return _like(error, message, {"code": ErrorCode.INTERNAL, "retryable": False, "id": id})


def _like(error: GraphQLError, message: str, extensions: dict[str, Any]) -> GraphQLError:
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions=extensions,
    )


def _tell(result: Any) -> None:
    errors: Sequence[GraphQLError] | None = getattr(result, "errors", None)
    if errors:
        result.errors = [told(error) for error in errors]
