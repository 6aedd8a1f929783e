"""Answers outside GraphQL's execution: the same JSON body, with the status of the refusal."""

from typing import Any

import orjson
from starlette.responses import Response

from stello_graph.errors import ErrorCode, StelloError
from stello_graph.http.rates import RateExceeded

__all__ = ["JSONAnswer", "internal", "refusal"]

_STATUS = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.STORE_UNAVAILABLE: 503,
}


class JSONAnswer(Response):
    """A JSON body by orjson."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """See Response."""
        return orjson.dumps(content)


def refusal(error: StelloError, status: int | None = None) -> Response:
    """A request that was refused before it ran."""
    extensions = {"code": error.code, "retryable": error.retryable, **error.details}
    body = {"data": None, "errors": [{"message": error.message, "extensions": extensions}]}
    headers = {"WWW-Authenticate": "Bearer"} if error.code is ErrorCode.UNAUTHENTICATED else {}
    if isinstance(error, RateExceeded):
        status, headers = 429, {"Retry-After": str(error.retry_after)}
    return JSONAnswer(body, status_code=status or _STATUS.get(error.code, 400), headers=headers)


def internal(id: str, status: int = 200) -> Response:
    """A fault of ours: the log has more under `id`."""
    extensions = {"code": ErrorCode.INTERNAL, "retryable": False, "id": id}
    message = f"an error of the server; its log has more under {id}"
    body = {"data": None, "errors": [{"message": message, "extensions": extensions}]}
    return JSONAnswer(body, status_code=status)
